/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <string.h>

#include "base/log_rate.h"
#include "comch/client.h"
#include "comm_channel/ep.h"

/* ---- callbacks of Comch ---- */

static struct doca_comm_channel_addr_t *peer_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

void comm_channel_message_arrived(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
				  struct doca_comch_connection *connection)
{
	struct doca_comm_channel_addr_t *peer = peer_of(connection);
	struct doca_comm_channel_ep_t *ep = peer != NULL ? peer->ep : NULL;
	uint32_t at;

	(void)event;
	if (ep == NULL || len > ep->max_msg_size) /* the sender was disconnected; Comch limits the size */
		return;
	if (ep->ring_num == ep->ring_size) {
		SF_LOG_ERR_LIMITED(
			"the receive queue holds %u messages and is full: the new message is dropped; set a larger receive queue",
			ep->ring_num);
		return;
	}
	at = (ep->ring_head + ep->ring_num++) % ep->ring_size;
	ep->entries[at] = (struct ring_entry){.from = peer, .len = len};
	if (len > 0)
		memcpy(ep->slots + (size_t)at * ep->max_msg_size, buffer, len);
}

void comm_channel_message_sent(struct doca_comch_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct doca_comm_channel_ep_t *ep = ctx_user_data.ptr;
	struct doca_comm_channel_addr_t *peer = task_user_data.ptr;

	assert(peer->num_sending > 0);
	peer->num_sending--;
	assert(ep->num_sending > 0);
	ep->num_sending--;
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* ---- sending ---- */

static doca_error_t check_send(const struct doca_comm_channel_ep_t *ep, const void *msg, size_t len, int flags,
			       const struct doca_comm_channel_addr_t *peer)
{
	if (peer == NULL || !comm_channel_peer_is_of(peer, ep)) {
		SF_LOG_ERR("doca_comm_channel_ep_sendto: the address does not belong to this endpoint");
		return DOCA_ERROR_NOT_CONNECTED;
	}
	if (flags != DOCA_CC_MSG_FLAG_NONE || len == 0 || len > ep->max_msg_size) {
		SF_LOG_ERR(
			"doca_comm_channel_ep_sendto: the message has %zu bytes and flags 0x%x: send 1 to %u bytes and pass 0 as "
			"flags",
			len, (unsigned int)flags, ep->max_msg_size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	(void)msg;
	return DOCA_SUCCESS;
}

static doca_error_t state_error(enum peer_state state)
{
	switch (state) {
	case PEER_CONNECTED:
		return DOCA_SUCCESS;
	case PEER_CONNECTING:
		return DOCA_ERROR_AGAIN;
	case PEER_FAILED:
		return DOCA_ERROR_NOT_CONNECTED;
	default:
		return DOCA_ERROR_CONNECTION_RESET;
	}
}

static doca_error_t task_make(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, const void *msg,
			      uint32_t len, struct doca_comch_task_send **task)
{
	doca_error_t result = ep->role == EP_SERVICE
				      ? doca_comch_server_task_send_alloc_init(ep->server, peer->connection, msg, len, task)
				      : doca_comch_client_task_send_alloc_init(ep->client, peer->connection, msg, len, task);

	if (result == DOCA_SUCCESS)
		doca_task_set_user_data(doca_comch_task_send_as_task(*task), (union doca_data){.ptr = peer});
	return result == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : result; /* all tasks are in flight: the queue is full */
}

static doca_error_t send_now(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, const void *msg,
			     size_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	if (ep->num_sending == ep->send_queue_size || peer->state == PEER_CONNECTING)
		comm_channel_ep_progress(ep);
	result = state_error(peer->state);
	if (result == DOCA_SUCCESS && ep->num_sending == ep->send_queue_size)
		result = DOCA_ERROR_AGAIN;
	if (result == DOCA_SUCCESS)
		result = task_make(ep, peer, msg, (uint32_t)len, &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_comch_task_send_submit_now(task);
	if (result == DOCA_SUCCESS) {
		ep->num_sending++;
		peer->num_sending++;
		return DOCA_SUCCESS;
	}
	doca_task_free(doca_comch_task_send_as_task(task));
	comm_channel_ep_progress(ep); /* detects a peer that exited */
	if (result == DOCA_ERROR_AGAIN && peer->state == PEER_CONNECTED)
		return DOCA_ERROR_AGAIN;
	return peer->state == PEER_CONNECTED ? result : state_error(peer->state);
}

doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *ep, const void *msg, size_t len, int flags,
					 struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, msg);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	result = check_send(ep, msg, len, flags, peer_addr);
	if (result == DOCA_SUCCESS) {
		result = send_now(ep, peer_addr, msg, len);
		ep->send_refused = result == DOCA_ERROR_AGAIN;
		if (ep->send_armed && ep->send_refused)
			comm_channel_events_set_send_timer(ep);
		else if (ep->send_armed && comm_channel_events_take(&ep->send_timer))
			ep->send_armed = false;
		comm_channel_events_settle(ep);
	}
	pthread_mutex_unlock(&ep->lock);
	return result;
}

/* ---- receiving ---- */

static void ring_pop(struct doca_comm_channel_ep_t *ep)
{
	assert(ep->ring_num > 0);
	ep->ring_head = (ep->ring_head + 1) % ep->ring_size;
	ep->ring_num--;
}

/* Drops messages of peers that were disconnected. */
static void ring_skip(struct doca_comm_channel_ep_t *ep)
{
	while (ep->ring_num > 0 && ep->entries[ep->ring_head].from == NULL)
		ring_pop(ep);
}

/* The result of a receive that finds no message. */
static doca_error_t recv_empty(const struct doca_comm_channel_ep_t *ep)
{
	if (ep->role == EP_SERVICE || ep->peers->state == PEER_CONNECTED)
		return DOCA_ERROR_AGAIN;
	return state_error(ep->peers->state);
}

static doca_error_t message_pop(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len, struct doca_comm_channel_addr_t **peer)
{
	const struct ring_entry *entry;

	ring_skip(ep);
	if (ep->ring_num == 0) {
		comm_channel_ep_progress(ep);
		ring_skip(ep);
	}
	if (ep->ring_num == 0)
		return recv_empty(ep);
	entry = &ep->entries[ep->ring_head];
	if (entry->len > *len) {
		SF_LOG_ERR_LIMITED("doca_comm_channel_ep_recvfrom: the next message has %u bytes, and the buffer has %zu: pass a "
				   "larger buffer",
				   entry->len, *len);
		*len = entry->len;
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(msg, ep->slots + (size_t)ep->ring_head * ep->max_msg_size, entry->len);
	*len = entry->len;
	*peer = entry->from;
	ring_pop(ep);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, msg != NULL && len != NULL ? peer_addr : NULL);

	if (result == DOCA_SUCCESS && flags != DOCA_CC_MSG_FLAG_NONE) {
		SF_LOG_ERR("%s: flags are 0x%x, but none are defined: pass 0", __func__, (unsigned int)flags);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (ep->role == EP_UNUSED) {
		SF_LOG_ERR("%s: the endpoint neither listens nor connects: call doca_comm_channel_ep_listen or _connect first",
			   __func__);
		result = DOCA_ERROR_NOT_CONNECTED;
	} else {
		result = message_pop(ep, msg, len, peer_addr);
		if (result == DOCA_SUCCESS)
			comm_channel_events_signal_recv(ep); /* the message that the program would have waited for */
		else if (!ep->recv_armed && ep->ring_num == 0)
			comm_channel_events_unsignal_recv(ep);
		comm_channel_events_settle(ep);
	}
	pthread_mutex_unlock(&ep->lock);
	return result;
}
