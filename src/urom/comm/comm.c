/* SPDX-License-Identifier: BSD-3-Clause */
/* A comm: the UCP context and worker, its listener, and what arrives. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "urom/comm/comm_private.h"
#include "urom/comm/frame.h"

#define CLOSE_WAIT_NS UINT64_C(1000000000)

doca_error_t comm_error(ucs_status_t status)
{
	switch (status) {
	case UCS_OK:
		return DOCA_SUCCESS;
	case UCS_ERR_NO_MEMORY:
		return DOCA_ERROR_NO_MEMORY;
	case UCS_ERR_BUSY:
	case UCS_ERR_ALREADY_EXISTS:
		return DOCA_ERROR_ALREADY_EXIST;
	case UCS_ERR_NO_DEVICE:
		return DOCA_ERROR_NOT_FOUND;
	case UCS_ERR_CONNECTION_RESET:
	case UCS_ERR_NOT_CONNECTED:
		return DOCA_ERROR_CONNECTION_RESET;
	case UCS_ERR_REJECTED:
	case UCS_ERR_UNREACHABLE:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case UCS_ERR_TIMED_OUT:
	case UCS_ERR_ENDPOINT_TIMEOUT:
		return DOCA_ERROR_TIME_OUT;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

/* ---- open ---- */

/* A variable that the user set stays as it is. */
static void set_unless_given(ucp_config_t *config, const char *name, const char *variable, const char *value)
{
	if (value != NULL && secure_getenv(variable) == NULL)
		(void)ucp_config_modify(config, name, value);
}

static const char *said_or(const char *variable, const char *otherwise)
{
	const char *value = secure_getenv(variable);
	return value != NULL ? value : otherwise != NULL ? otherwise : "all";
}

static doca_error_t open_context(struct sf_comm *comm)
{
	const ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
		.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
		.name = "urom",
	};
	ucp_config_t *config;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);
	if (status == UCS_OK) {
		set_unless_given(config, "TLS", "UCX_TLS", "tcp");
		set_unless_given(config, "NET_DEVICES", "UCX_NET_DEVICES", comm->options.net_devices);
		set_unless_given(config, "RNDV_THRESH", "UCX_RNDV_THRESH", "inf"); /* messages are small, and bounded by body_max */
		/* A connection that is reset while UCX sends from our memory ends one send twice, over which UCX 1.13 ends the process. */
		set_unless_given(config, "ZCOPY_THRESH", "UCX_ZCOPY_THRESH", "inf");
		status = ucp_init(&params, config, &comm->context);
		ucp_config_release(config);
	}
	if (status != UCS_OK)
		SF_LOG_ERR("urom: UCX cannot be started: %s (UCX_NET_DEVICES, else the service file's last field or the devices of the address to listen on: %s; UCX_TLS: %s)",
			   ucs_status_string(status), said_or("UCX_NET_DEVICES", comm->options.net_devices), said_or("UCX_TLS", "tcp"));
	return comm_error(status);
}

static void take_frames(struct sf_comm *comm, struct comm_peer *peer, const uint8_t *at, size_t left)
{
	struct comm_frame frame;
	char more[64];
	peer->reading = true;
	while (left != 0 && peer->state == COMM_PEER_OPEN) {
		if (!comm_frame_read(&at, &left, &frame) || frame.head_len > SF_COMM_HEAD_MAX || frame.body_len > comm->options.body_max) {
			const char *end = sf_log_rate_next(&comm->malformed, more);
			if (end != NULL)
				SF_LOG_WARN("urom: %s sent a message that is malformed, or of more than %zu bytes: it is disconnected%s",
					    peer->base.address, comm->options.body_max, end);
			comm_peer_lose(peer, DOCA_ERROR_INVALID_VALUE);
			break;
		}
		comm->options.handler->message(comm->options.user, &peer->base, frame.head, frame.head_len, frame.body, frame.body_len);
	}
	comm_peer_read(peer);
}

static ucs_status_t take_message(void *arg, const void *head, size_t head_len, void *body, size_t body_len,
				 const ucp_am_recv_param_t *param)
{
	struct sf_comm *comm = (struct sf_comm *)arg;
	struct comm_peer *peer = NULL;
	(void)head;
	(void)head_len;
	if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0)
		peer = comm_peer_find(comm, param->reply_ep);
	if (peer == NULL || peer->state != COMM_PEER_OPEN)
		return UCS_OK;
	if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
		comm_peer_lose(peer, DOCA_ERROR_TOO_BIG);
	else
		take_frames(comm, peer, (const uint8_t *)body, body_len);
	return UCS_OK;
}

static doca_error_t open_worker(struct sf_comm *comm)
{
	const ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
		.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX,
	};
	const ucp_am_handler_param_t handler = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = COMM_AM_ID,
		.flags = UCP_AM_FLAG_WHOLE_MSG,
		.cb = take_message,
		.arg = comm,
	};
	ucs_status_t status = ucp_worker_create(comm->context, &params, &comm->worker);
	if (status == UCS_OK) {
		status = ucp_worker_set_am_recv_handler(comm->worker, &handler);
		if (status == UCS_OK)
			status = ucp_worker_get_efd(comm->worker, &comm->fd);
		if (status != UCS_OK)
			ucp_worker_destroy(comm->worker);
	}
	if (status != UCS_OK)
		SF_LOG_ERR("urom: no UCX worker: %s", ucs_status_string(status));
	return comm_error(status);
}

doca_error_t sf_comm_open(const struct sf_comm_options *options, struct sf_comm **out)
{
	struct sf_comm *comm = (struct sf_comm *)calloc(1, sizeof(*comm));
	if (comm == NULL) {
		SF_LOG_ERR("urom: no memory for a UCX worker");
		return DOCA_ERROR_NO_MEMORY;
	}
	comm->options = *options;
	TAILQ_INIT(&comm->open);
	TAILQ_INIT(&comm->lost);
	TAILQ_INIT(&comm->ending);
	TAILQ_INIT(&comm->closing);
	doca_error_t result = open_context(comm);
	comm->options.net_devices = NULL; /* the caller's, for this call */
	if (result == DOCA_SUCCESS) {
		result = open_worker(comm);
		if (result != DOCA_SUCCESS)
			ucp_cleanup(comm->context);
	}
	if (result != DOCA_SUCCESS) {
		free(comm);
		return result;
	}
	*out = comm;
	return DOCA_SUCCESS;
}

/* ---- close ---- */

static void drain(struct sf_comm *comm)
{
	uint64_t until = sf_now_ns() + CLOSE_WAIT_NS;
	while (!TAILQ_EMPTY(&comm->closing) && sf_now_ns() < until) {
		(void)ucp_worker_progress(comm->worker);
		(void)comm_peers_reap(comm);
	}
}

static void end_peers(struct sf_comm *comm)
{
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->open)) != NULL;)
		comm_peer_end(peer, true);
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->lost)) != NULL;)
		comm_peer_end(peer, false);
	drain(comm);
	comm_peers_force(comm);
	drain(comm);
}

static void free_sends(struct sf_comm *comm)
{
	for (struct comm_send *send; (send = SLIST_FIRST(&comm->free_sends)) != NULL;) {
		SLIST_REMOVE_HEAD(&comm->free_sends, next);
		free(send);
	}
}

void sf_comm_close(struct sf_comm *comm)
{
	if (comm->listener != NULL)
		ucp_listener_destroy(comm->listener);
	end_peers(comm);
	if (!TAILQ_EMPTY(&comm->closing)) { /* UCX aborts the process over endpoints that are still there */
		SF_LOG_WARN("urom: UCX does not let go of a connection to %s: its memory is not given back",
			    TAILQ_FIRST(&comm->closing)->base.address);
		return;
	}
	ucp_worker_destroy(comm->worker);
	ucp_cleanup(comm->context);
	free_sends(comm);
	free(comm);
}

/* ---- listen ---- */

static void take_request(ucp_conn_request_h request, void *arg)
{
	comm_peer_accept((struct sf_comm *)arg, request);
}

doca_error_t sf_comm_listen(struct sf_comm *comm, const struct sockaddr *address, socklen_t len, struct sockaddr_storage *bound)
{
	const ucp_listener_params_t params = {
		.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
		.sockaddr = {.addr = address, .addrlen = len},
		.conn_handler = {.cb = take_request, .arg = comm},
	};
	ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
	ucs_status_t status = ucp_listener_create(comm->worker, &params, &comm->listener);
	if (status == UCS_OK)
		status = ucp_listener_query(comm->listener, &attr);
	if (status != UCS_OK) {
		char name[SF_COMM_ADDRESS_MAX];
		comm_address_name(address, name);
		SF_LOG_ERR("urom: cannot listen on %s: %s; it takes an address of this machine and a port that nobody has", name,
			   ucs_status_string(status));
		return comm_error(status);
	}
	*bound = attr.sockaddr;
	return DOCA_SUCCESS;
}

/* ---- progress ---- */

bool sf_comm_poll(struct sf_comm *comm)
{
	sf_comm_cork(comm);
	comm->polling = true;
	bool any = ucp_worker_progress(comm->worker) != 0;
	if (__builtin_expect(!TAILQ_EMPTY(&comm->lost), 0))
		any |= comm_peers_tell_lost(comm);
	comm->polling = false;
	sf_comm_uncork(comm);
	if (__builtin_expect(!TAILQ_EMPTY(&comm->ending), 0))
		comm_peers_end(comm);
	if (__builtin_expect(!TAILQ_EMPTY(&comm->closing), 0))
		any |= comm_peers_reap(comm);
	return any;
}

int sf_comm_fd(const struct sf_comm *comm) { return comm->fd; }

bool sf_comm_arm(struct sf_comm *comm)
{
	return !TAILQ_EMPTY(&comm->lost) || ucp_worker_arm(comm->worker) != UCS_OK;
}
