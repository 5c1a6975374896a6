/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm_channel/ep.h"
#include "core/dev.h"

#include <stdlib.h>

doca_error_t comm_channel_ep_check(const char *function, const void *object, const void *argument)
{
	if (object != NULL && argument != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s is NULL", function, object == NULL ? "the endpoint or address" : "an argument");
	return DOCA_ERROR_INVALID_VALUE;
}

/* ---- life ---- */

doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, ep);
	struct doca_comm_channel_ep_t *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a Comm Channel endpoint");
		return DOCA_ERROR_NO_MEMORY;
	}
	pthread_mutex_init(&created->lock, NULL);
	created->max_msg_size = MSG_SIZE_DEFAULT;
	created->send_queue_size = QUEUE_SIZE_DEFAULT;
	created->recv_queue_size = QUEUE_SIZE_DEFAULT;
	created->send_timer = created->recv_channel = created->service_channel = -1;
	created->recv_event = created->service_event = -1;
	*ep = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *ep)
{
	if (ep == NULL) {
		SF_LOG_ERR("doca_comm_channel_ep_destroy: ep is NULL");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	pthread_mutex_lock(&ep->lock);
	if (ep->role != EP_UNUSED)
		comm_channel_ep_end(ep);
	pthread_mutex_unlock(&ep->lock);
	pthread_mutex_destroy(&ep->lock);
	if (ep->rep != NULL)
		sf_dev_rep_release(ep->rep);
	if (ep->dev != NULL)
		sf_dev_release(ep->dev);
	free(ep);
	return DOCA_SUCCESS;
}

/* ---- while it has a role ---- */

static doca_error_t ring_make(struct doca_comm_channel_ep_t *ep)
{
	ep->ring_size = (uint32_t)ep->recv_queue_size + RECV_SLACK;
	ep->ring_head = ep->ring_num = 0;
	ep->entries = calloc(ep->ring_size, sizeof(*ep->entries));
	ep->slots = malloc((size_t)ep->ring_size * ep->max_msg_size);
	if (ep->entries != NULL && ep->slots != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("no memory for %u messages of %u bytes: set a smaller receive queue", ep->ring_size, ep->max_msg_size);
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t comm_channel_ep_open(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result = ring_make(ep);

	if (result == DOCA_SUCCESS)
		result = doca_pe_create(&ep->pe);
	if (result == DOCA_SUCCESS)
		result = comm_channel_events_open(ep);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	comm_channel_ep_close(ep);
	return result;
}

void comm_channel_ep_close(struct doca_comm_channel_ep_t *ep)
{
	comm_channel_events_close(ep);
	if (ep->pe != NULL)
		doca_pe_destroy(ep->pe);
	ep->pe = NULL;
	free(ep->entries);
	free(ep->slots);
	free(ep->snapshot);
	ep->entries = NULL;
	ep->slots = NULL;
	ep->snapshot = NULL;
	ep->snapshot_len = 0;
	ep->num_sending = 0;
	ep->send_refused = ep->service_changed = false;
	ep->role = EP_UNUSED;
}

struct doca_ctx *comm_channel_ep_ctx(const struct doca_comm_channel_ep_t *ep)
{
	return ep->role == EP_SERVICE ? doca_comch_server_as_ctx(ep->server) : doca_comch_client_as_ctx(ep->client);
}

/* A client has one peer, whose state is its context's. */
static void client_look(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer = ep->peers;
	enum doca_ctx_states state;

	if (peer == NULL || doca_ctx_get_state(comm_channel_ep_ctx(ep), &state) != DOCA_SUCCESS)
		return;
	if (peer->state == PEER_CONNECTING && state == DOCA_CTX_STATE_RUNNING) {
		doca_comch_client_get_connection(ep->client, &peer->connection);
		doca_comch_connection_set_user_data(peer->connection, (union doca_data){.ptr = peer});
		peer->state = PEER_CONNECTED;
	} else if (peer->state == PEER_CONNECTING && state != DOCA_CTX_STATE_STARTING) {
		peer->state = PEER_FAILED;
	} else if (peer->state == PEER_CONNECTED && state != DOCA_CTX_STATE_RUNNING) {
		peer->state = PEER_GONE;
		peer->connection = NULL;
	}
}

void comm_channel_ep_progress(struct doca_comm_channel_ep_t *ep)
{
	if (ep->ring_num > ep->recv_queue_size)
		return;
	doca_pe_clear_notification(ep->pe, 0);
	doca_pe_progress(ep->pe);
	if (ep->role == EP_CLIENT)
		client_look(ep);
}

void comm_channel_ep_end(struct doca_comm_channel_ep_t *ep)
{
	struct doca_ctx *ctx = comm_channel_ep_ctx(ep);
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_stop(ctx);
	while (doca_ctx_get_state(ctx, &state) == DOCA_SUCCESS && state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(ep->pe);
	if (ep->role == EP_SERVICE)
		doca_comch_server_destroy(ep->server);
	else
		doca_comch_client_destroy(ep->client);
	ep->server = NULL;
	ep->client = NULL;
	while (ep->peers != NULL)
		comm_channel_peer_remove(ep->peers);
	comm_channel_ep_close(ep);
}
