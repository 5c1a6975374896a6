/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "worker_allreduce.h"

#define AM_ID 0
#define CLOSE_WAIT_NS UINT64_C(1000000000)

/* ---- open ---- */

/* A variable that the user set stays as it is. */
static void set_unless_given(ucp_config_t *config, const char *name, const char *variable, const char *value)
{
	if (getenv(variable) == NULL)
		(void)ucp_config_modify(config, name, value);
}

static ucs_status_t open_context(struct network *network)
{
	const ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
		.features = UCP_FEATURE_AM,
		.name = "urom_allreduce",
	};
	ucp_config_t *config;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);
	if (status != UCS_OK)
		return status;
	set_unless_given(config, "TLS", "UCX_TLS", "tcp"); /* tells of a process's death at once */
	(void)ucp_config_modify(config, "RNDV_THRESH", "inf"); /* messages come whole; they are no larger than a command */
	status = ucp_init(&params, config, &network->context);
	ucp_config_release(config);
	return status;
}

static ucs_status_t take(void *arg, const void *head, size_t head_len, void *data, size_t len, const ucp_am_recv_param_t *param)
{
	struct message message;
	if (head_len != sizeof(message) || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
		return UCS_OK;
	memcpy(&message, head, sizeof(message));
	if (message.kind == MESSAGE_DATA || message.kind == MESSAGE_ABORT)
		pieces_take((struct allreduce *)arg, &message, data, len);
	return UCS_OK;
}

static ucs_status_t open_worker(struct allreduce *allreduce)
{
	struct network *network = &allreduce->network;
	const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SINGLE};
	const ucp_am_handler_param_t handler = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = AM_ID,
		.flags = UCP_AM_FLAG_WHOLE_MSG,
		.cb = take,
		.arg = allreduce,
	};
	ucs_status_t status = ucp_worker_create(network->context, &params, &network->worker);
	if (status != UCS_OK)
		return status;
	status = ucp_worker_set_am_recv_handler(network->worker, &handler);
	if (status == UCS_OK)
		status = ucp_worker_get_address(network->worker, &network->address, &network->address_len);
	if (status != UCS_OK)
		ucp_worker_destroy(network->worker);
	return status;
}

doca_error_t network_open(struct allreduce *allreduce)
{
	struct network *network = &allreduce->network;
	if (getrandom(&network->id, sizeof(network->id), 0) != sizeof(network->id))
		return DOCA_ERROR_OPERATING_SYSTEM;
	if (open_context(network) != UCS_OK)
		return DOCA_ERROR_DRIVER;
	if (open_worker(allreduce) == UCS_OK)
		return DOCA_SUCCESS;
	ucp_cleanup(network->context);
	return DOCA_ERROR_DRIVER;
}

/* ---- peers ---- */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void peer_failed(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
	struct peer *peer = (struct peer *)arg;
	(void)endpoint;
	(void)status;
	peer->dead = true;
	peer->allreduce->network.lost = true;
}

static struct peer *find_peer(const struct allreduce *allreduce, uint32_t rank)
{
	return rank < allreduce->network.num_peers ? allreduce->network.peers[rank] : NULL;
}

static struct peer *make_peer(struct allreduce *allreduce, uint32_t rank)
{
	struct network *network = &allreduce->network;
	if (rank >= network->num_peers) {
		uint32_t num = rank + 1 > 2 * network->num_peers ? rank + 1 : 2 * network->num_peers;
		struct peer **peers = (struct peer **)realloc(network->peers, num * sizeof(*peers));
		if (peers == NULL)
			return NULL;
		memset(peers + network->num_peers, 0, (num - network->num_peers) * sizeof(*peers));
		network->peers = peers;
		network->num_peers = num;
	}
	if (network->peers[rank] == NULL)
		network->peers[rank] = (struct peer *)calloc(1, sizeof(struct peer));
	if (network->peers[rank] != NULL)
		network->peers[rank]->allreduce = allreduce;
	return network->peers[rank];
}

/* Of a worker that another has replaced. */
static void drop_endpoint(struct peer *peer)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	void *request = peer->endpoint != NULL ? ucp_ep_close_nbx(peer->endpoint, &param) : NULL;
	peer->endpoint = NULL;
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

static void close_endpoint(struct network *network, struct peer *peer)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = peer->dead ? UCP_EP_CLOSE_FLAG_FORCE : 0,
	};
	if (peer->endpoint == NULL)
		return;
	uint64_t until = now_ns() + CLOSE_WAIT_NS;
	void *request = ucp_ep_close_nbx(peer->endpoint, &param);
	peer->endpoint = NULL;
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS && now_ns() < until)
		(void)ucp_worker_progress(network->worker);
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

/* The address in the domain; NULL: none. The directory that it lies in aligns nothing. */
static const uint8_t *look_up(struct allreduce *allreduce, uint32_t rank, struct allreduce_address *address)
{
	void *found;
	if (doca_urom_worker_domain_addr_lookup(allreduce->ctx, rank, &found) != DOCA_SUCCESS)
		return NULL;
	memcpy(address, found, sizeof(*address));
	return (const uint8_t *)found + offsetof(struct allreduce_address, ucp);
}

static doca_error_t open_endpoint(struct allreduce *allreduce, struct peer *peer, const uint8_t *address, uint32_t len)
{
	_Alignas(16) uint8_t aligned[ALLREDUCE_ADDRESS_MAX];
	const ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
		.address = (const ucp_address_t *)(const void *)aligned,
		.err_mode = UCP_ERR_HANDLING_MODE_PEER,
		.err_handler = {peer_failed, peer},
	};
	if (len > sizeof(aligned))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(aligned, address, len);
	return ucp_ep_create(allreduce->network.worker, &params, &peer->endpoint) == UCS_OK ? DOCA_SUCCESS : DOCA_ERROR_DRIVER;
}

doca_error_t network_connect(struct allreduce *allreduce, uint32_t rank)
{
	const struct message hello = {.kind = MESSAGE_HELLO};
	struct allreduce_address address;
	const uint8_t *packed = look_up(allreduce, rank, &address);
	struct peer *peer = make_peer(allreduce, rank);
	if (packed == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (peer == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (peer->id == address.id && peer->dead)
		return DOCA_ERROR_CONNECTION_ABORTED;
	if (peer->id == address.id && peer->endpoint != NULL)
		return DOCA_SUCCESS;
	drop_endpoint(peer);
	peer->id = address.id;
	peer->dead = false;
	doca_error_t result = open_endpoint(allreduce, peer, packed, address.len);
	/* The connection is made by a first message; only then is its end noticed. */
	return result == DOCA_SUCCESS ? network_send(allreduce, rank, &hello, NULL, 0, NULL) : result;
}

bool network_is_dead(const struct allreduce *allreduce, uint32_t rank)
{
	const struct peer *peer = find_peer(allreduce, rank);
	return peer != NULL && peer->dead;
}

bool network_is_self(struct allreduce *allreduce, uint32_t rank)
{
	struct allreduce_address address;
	return look_up(allreduce, rank, &address) != NULL && address.id == allreduce->network.id;
}

/* ---- sending ---- */

/* UCX reads the head as late as the data. */
struct send {
	SLIST_ENTRY(send) next;
	struct allreduce *allreduce;
	struct piece *piece;
	struct message message;
};

static struct send *take_send(struct allreduce *allreduce)
{
	struct send *send = SLIST_FIRST(&allreduce->network.free_sends);
	if (send != NULL)
		SLIST_REMOVE_HEAD(&allreduce->network.free_sends, next);
	else
		send = (struct send *)malloc(sizeof(*send));
	return send;
}

static void sent(void *request, ucs_status_t status, void *user)
{
	struct send *send = (struct send *)user;
	(void)status; /* a failed peer is told of by its error handler */
	ucp_request_free(request);
	if (send->piece != NULL)
		piece_sent(send->piece);
	SLIST_INSERT_HEAD(&send->allreduce->network.free_sends, send, next);
}

doca_error_t network_send(struct allreduce *allreduce, uint32_t rank, const struct message *message, const void *data, size_t len,
			  struct piece *piece)
{
	struct peer *peer = find_peer(allreduce, rank);
	if (peer == NULL || peer->endpoint == NULL || peer->dead)
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct send *send = take_send(allreduce);
	if (send == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*send = (struct send){.allreduce = allreduce, .piece = piece, .message = *message};
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.flags = UCP_AM_SEND_FLAG_EAGER,
		.cb = {.send = sent},
		.user_data = send,
	};
	ucs_status_ptr_t request = ucp_am_send_nbx(peer->endpoint, AM_ID, &send->message, sizeof(send->message), data, len, &param);
	if (!UCS_PTR_IS_PTR(request))
		SLIST_INSERT_HEAD(&allreduce->network.free_sends, send, next);
	if (UCS_PTR_IS_ERR(request)) {
		peer_failed(peer, peer->endpoint, UCS_PTR_STATUS(request));
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	if (UCS_PTR_IS_PTR(request) && piece != NULL)
		piece->sends++;
	return DOCA_SUCCESS;
}

/* ---- close ---- */

void network_close(struct allreduce *allreduce)
{
	struct network *network = &allreduce->network;
	for (uint32_t rank = 0; rank < network->num_peers; rank++) {
		if (network->peers[rank] != NULL)
			close_endpoint(network, network->peers[rank]); /* what was sent arrives */
	}
	ucp_worker_release_address(network->worker, network->address);
	ucp_worker_destroy(network->worker);
	ucp_cleanup(network->context);
	for (struct send *send; (send = SLIST_FIRST(&network->free_sends)) != NULL;) {
		SLIST_REMOVE_HEAD(&network->free_sends, next);
		free(send);
	}
	for (uint32_t rank = 0; rank < network->num_peers; rank++)
		free(network->peers[rank]);
	free(network->peers);
}
