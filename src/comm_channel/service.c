/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a service's clients. */
#include <stdlib.h>

#include "comm_channel/ep.h"

static doca_error_t snapshot_take(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t **snapshot;
	uint32_t num = 0;

	for (const struct doca_comm_channel_addr_t *peer = ep->peers; peer != NULL; peer = peer->next)
		num += peer->state == PEER_CONNECTED;
	snapshot = calloc(num + 1, sizeof(struct doca_comm_channel_addr_t *));
	if (snapshot == NULL) {
		SF_LOG_ERR("no memory for the addresses of %u clients", num);
		return DOCA_ERROR_DRIVER;
	}
	free(ep->snapshot);
	ep->snapshot = snapshot;
	ep->snapshot_len = 0;
	for (struct doca_comm_channel_addr_t *peer = ep->peers; peer != NULL; peer = peer->next) {
		if (peer->state == PEER_CONNECTED)
			ep->snapshot[ep->snapshot_len++] = peer;
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_service(const struct doca_comm_channel_ep_t *ep, const void *out, const char *function)
{
	doca_error_t result = comm_channel_ep_check(function, ep, out);

	if (result == DOCA_SUCCESS && ep->role != EP_SERVICE) {
		SF_LOG_ERR("%s: the endpoint is not a listening service", function);
		result = DOCA_ERROR_NOT_SUPPORTED;
	}
	return result;
}

doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result = check_service(ep, ep, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	comm_channel_events_take(&ep->service_event);
	comm_channel_ep_progress(ep);
	ep->service_changed = false;
	result = snapshot_take(ep);
	ep->service_armed = true;
	comm_channel_events_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return result;
}

doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len)
{
	doca_error_t result = check_service(ep, peer_addr_array != NULL ? peer_addr_array_len : NULL, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	*peer_addr_array = ep->snapshot;
	*peer_addr_array_len = ep->snapshot_len;
	return DOCA_SUCCESS;
}

/* Waiting clients are accepted before a snapshot is taken. */
doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *ep, uint32_t *pending_connections)
{
	doca_error_t result = check_service(ep, pending_connections, __func__);

	if (result == DOCA_SUCCESS)
		*pending_connections = 0;
	return result;
}
