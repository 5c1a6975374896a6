/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers of an endpoint. */
#include <assert.h>
#include <stdlib.h>

#include "base/log_rate.h"
#include "comm_channel/ep.h"

struct doca_comm_channel_addr_t *comm_channel_peer_add(struct doca_comm_channel_ep_t *ep, enum peer_state state)
{
	struct doca_comm_channel_addr_t *peer = calloc(1, sizeof(*peer));

	if (peer == NULL) {
		SF_LOG_ERR_LIMITED("no memory for the address of a peer");
		return NULL;
	}
	peer->ep = ep;
	peer->state = state;
	peer->next = ep->peers;
	ep->peers = peer;
	return peer;
}

void comm_channel_peer_remove(struct doca_comm_channel_addr_t *peer)
{
	struct doca_comm_channel_ep_t *ep = peer->ep;
	struct doca_comm_channel_addr_t **at = &ep->peers;

	while (*at != peer) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = peer->next;
	for (uint32_t i = 0; i < ep->ring_num; i++) {
		struct ring_entry *entry = &ep->entries[(ep->ring_head + i) % ep->ring_size];

		if (entry->from == peer)
			entry->from = NULL;
	}
	free(peer);
}

bool comm_channel_peer_is_of(const struct doca_comm_channel_addr_t *peer, const struct doca_comm_channel_ep_t *ep)
{
	const struct doca_comm_channel_addr_t *it = ep->peers;

	while (it != NULL && it != peer)
		it = it->next;
	return it != NULL;
}

/* ---- public ---- */

doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, user_data);

	if (result == DOCA_SUCCESS)
		*user_data = peer_addr->user_data;
	return result;
}

doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, peer_addr);

	if (result == DOCA_SUCCESS)
		peer_addr->user_data = user_context;
	return result;
}

static void counters_take(struct doca_comm_channel_addr_t *peer)
{
	struct doca_comch_connection *connection = peer->connection;

	peer->counters.in_flight = peer->num_sending;
	if (connection == NULL || doca_comch_connection_update_info(connection) != DOCA_SUCCESS)
		return;
	doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_MESSAGES, &peer->counters.sent_messages);
	doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_SENT_BYTES, &peer->counters.sent_bytes);
	doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_RECV_MESSAGES, &peer->counters.recv_messages);
	doca_comch_connection_get_counter(connection, DOCA_COMCH_COUNTER_RECV_BYTES, &peer->counters.recv_bytes);
}

doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, peer_addr);
	struct doca_comm_channel_ep_t *ep;

	if (result != DOCA_SUCCESS)
		return result;
	ep = peer_addr->ep;
	pthread_mutex_lock(&ep->lock);
	comm_channel_ep_progress(ep);
	counters_take(peer_addr);
	if (peer_addr->state != PEER_CONNECTED)
		result = peer_addr->state == PEER_CONNECTING ? DOCA_ERROR_CONNECTION_INPROGRESS : DOCA_ERROR_CONNECTION_ABORTED;
	comm_channel_events_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return result;
}

doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *send_messages)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, send_messages);

	if (result == DOCA_SUCCESS)
		*send_messages = peer_addr->counters.sent_messages;
	return result;
}

doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, send_bytes);

	if (result == DOCA_SUCCESS)
		*send_bytes = peer_addr->counters.sent_bytes;
	return result;
}

doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *recv_messages)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, recv_messages);

	if (result == DOCA_SUCCESS)
		*recv_messages = peer_addr->counters.recv_messages;
	return result;
}

doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, recv_bytes);

	if (result == DOCA_SUCCESS)
		*recv_bytes = peer_addr->counters.recv_bytes;
	return result;
}

doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
								     uint64_t *send_in_flight_messages)
{
	doca_error_t result = comm_channel_ep_check(__func__, peer_addr, send_in_flight_messages);

	if (result == DOCA_SUCCESS)
		*send_in_flight_messages = peer_addr->counters.in_flight;
	return result;
}
