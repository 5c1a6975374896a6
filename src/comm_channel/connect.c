/* SPDX-License-Identifier: BSD-3-Clause */
/* Listen, connect and disconnect. */
#include <string.h>
#include <time.h>

#include "comch/client.h"
#include "comm_channel/ep.h"

/* ---- checks ---- */

static bool name_is_valid(const char *name)
{
	size_t len = strnlen(name, NAME_MAX_LEN);

	return len > 0 && len < NAME_MAX_LEN;
}

/* Returns SUCCESS if the endpoint is ready for a role. Locked. */
static doca_error_t check_ready(const struct doca_comm_channel_ep_t *ep, const char *name, bool as_service, const char *function)
{
	const struct doca_devinfo *devinfo = ep->dev != NULL ? doca_dev_as_devinfo(ep->dev) : NULL;
	doca_error_t supported;

	if (!name_is_valid(name)) {
		SF_LOG_ERR("%s: invalid service name: give 1 to %d characters", function, NAME_MAX_LEN - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (ep->role != EP_UNUSED) {
		SF_LOG_ERR("%s: the endpoint %s already", function, ep->role == EP_SERVICE ? "listens" : "connects");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (ep->dev == NULL || (as_service && ep->rep == NULL)) {
		SF_LOG_ERR("%s: the endpoint has no %s: set it first", function, ep->dev == NULL ? "device" : "representor");
		return DOCA_ERROR_BAD_STATE;
	}
	supported = as_service ? doca_comch_cap_server_is_supported(devinfo) : doca_comch_cap_client_is_supported(devinfo);
	if (supported != DOCA_SUCCESS) {
		SF_LOG_ERR("%s: %s", function,
			   as_service ? "a service runs on a DPU's device" : "a client runs on a host function");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return DOCA_SUCCESS;
}

/* The 2.2 API's code for an error of Comch's create or start. */
static doca_error_t error_translate(doca_error_t result)
{
	switch (result) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NO_MEMORY:
		return result;
	case DOCA_ERROR_ALREADY_EXIST:
		return DOCA_ERROR_CONNECTION_ABORTED;
	default:
		return DOCA_ERROR_INITIALIZATION;
	}
}

/* ---- service ---- */

static void client_came(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			uint8_t change_successful)
{
	struct doca_comm_channel_ep_t *ep;
	union doca_data user_data;

	(void)event;
	if (!change_successful)
		return;
	doca_ctx_get_user_data(doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(connection)), &user_data);
	ep = user_data.ptr;
	struct doca_comm_channel_addr_t *peer = comm_channel_peer_add(ep, PEER_CONNECTED);
	if (peer == NULL) {
		doca_comch_server_disconnect(ep->server, connection);
		return;
	}
	peer->connection = connection;
	doca_comch_connection_set_user_data(connection, (union doca_data){.ptr = peer});
	ep->service_changed = true;
}

static void client_left(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			uint8_t change_successful)
{
	struct doca_comm_channel_addr_t *peer = doca_comch_connection_get_user_data(connection).ptr;

	(void)event;
	(void)change_successful;
	if (peer == NULL)
		return;
	peer->state = PEER_GONE;
	peer->connection = NULL;
	peer->ep->service_changed = true;
}

static doca_error_t server_configure(struct doca_comm_channel_ep_t *ep)
{
	struct doca_ctx *ctx = doca_comch_server_as_ctx(ep->server);
	doca_error_t result = doca_pe_connect_ctx(ep->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = ep});
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_set_max_msg_size(ep->server, ep->max_msg_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_set_recv_queue_size(ep->server, ep->recv_queue_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_task_send_set_conf(ep->server, comm_channel_message_sent, comm_channel_message_sent,
							      ep->send_queue_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(ep->server, comm_channel_message_arrived);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(ep->server, client_came, client_left);
	return result == DOCA_SUCCESS ? doca_ctx_start(ctx) : result;
}

static doca_error_t listen_begin(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t result = comm_channel_ep_open(ep);

	if (result != DOCA_SUCCESS)
		return error_translate(result);
	result = doca_comch_server_create(ep->dev, ep->rep, name, &ep->server);
	if (result == DOCA_SUCCESS) {
		result = server_configure(ep);
		if (result != DOCA_SUCCESS)
			doca_comch_server_destroy(ep->server);
	}
	if (result != DOCA_SUCCESS) {
		ep->server = NULL;
		comm_channel_ep_close(ep);
		return error_translate(result);
	}
	ep->role = EP_SERVICE;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, name);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	result = check_ready(ep, name, true, __func__);
	if (result == DOCA_SUCCESS)
		result = listen_begin(ep, name);
	pthread_mutex_unlock(&ep->lock);
	return result;
}

/* ---- client ---- */

static doca_error_t client_configure(struct doca_comm_channel_ep_t *ep)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(ep->client);
	doca_error_t result = doca_pe_connect_ctx(ep->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = ep});
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_set_max_msg_size(ep->client, ep->max_msg_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_set_recv_queue_size(ep->client, ep->recv_queue_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_task_send_set_conf(ep->client, comm_channel_message_sent, comm_channel_message_sent,
							      ep->send_queue_size);
	if (result == DOCA_SUCCESS)
		result = doca_comch_client_event_msg_recv_register(ep->client, comm_channel_message_arrived);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

static doca_error_t client_open(struct doca_comm_channel_ep_t *ep, const char *name)
{
	doca_error_t result = comm_channel_ep_open(ep);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_client_create(ep->dev, name, &ep->client);
	if (result == DOCA_SUCCESS) {
		result = client_configure(ep);
		if (result != DOCA_SUCCESS)
			doca_comch_client_destroy(ep->client);
	}
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	ep->client = NULL;
	comm_channel_ep_close(ep);
	return result;
}

/* Finds out whether the service exists. If it does, it accepts as soon as its program progresses, so this waits briefly. */
static void connect_wait(struct doca_comm_channel_ep_t *ep)
{
	const struct timespec pause = {.tv_nsec = 50000};

	(void)sf_comch_client_wait(ep->client); /* a silent peer may answer later */
	for (int i = 0; i < CONNECT_WAIT_MS * 20 && ep->peers->state == PEER_CONNECTING; i++) {
		comm_channel_ep_progress(ep);
		if (ep->peers->state == PEER_CONNECTING)
			nanosleep(&pause, NULL);
	}
}

static doca_error_t connect_begin(struct doca_comm_channel_ep_t *ep, const char *name, struct doca_comm_channel_addr_t **peer)
{
	doca_error_t result = client_open(ep, name);

	if (result != DOCA_SUCCESS)
		return error_translate(result);
	ep->role = EP_CLIENT;
	if (comm_channel_peer_add(ep, PEER_CONNECTING) == NULL) {
		comm_channel_ep_end(ep);
		return DOCA_ERROR_NO_MEMORY;
	}
	connect_wait(ep);
	if (ep->peers->state == PEER_FAILED) {
		comm_channel_ep_end(ep);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	*peer = ep->peers;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, name != NULL ? peer_addr : NULL);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	result = check_ready(ep, name, false, __func__);
	if (result == DOCA_SUCCESS)
		result = connect_begin(ep, name, peer_addr);
	pthread_mutex_unlock(&ep->lock);
	return result;
}

/* ---- disconnect ---- */

/* Disconnects one client of a service. */
static void drop_client(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer)
{
	if (peer->state == PEER_CONNECTED) {
		doca_comch_connection_set_user_data(peer->connection, (union doca_data){.ptr = NULL});
		doca_comch_server_disconnect(ep->server, peer->connection);
	}
	while (peer->num_sending > 0) /* completions use the address; those of a dead peer arrive within a second */
		doca_pe_progress(ep->pe);
	comm_channel_peer_remove(peer);
	ep->service_changed = true;
}

doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, ep);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (peer_addr == NULL || !comm_channel_peer_is_of(peer_addr, ep)) {
		SF_LOG_ERR("%s: the address does not belong to this endpoint", __func__);
		result = DOCA_ERROR_NOT_CONNECTED;
	} else if (ep->role == EP_CLIENT) {
		comm_channel_ep_end(ep);
	} else {
		drop_client(ep, peer_addr);
		comm_channel_events_settle(ep);
	}
	pthread_mutex_unlock(&ep->lock);
	return result;
}
