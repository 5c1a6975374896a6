/* SPDX-License-Identifier: BSD-3-Clause */
/* What is set before an endpoint listens or connects. */
#include <assert.h>

#include "base/thread_safety.h"
#include "comm_channel/ep.h"
#include "core/dev.h"

/* Locks the endpoint for a setter. After INVALID_VALUE or BAD_STATE, logged, it is not locked, which clang cannot express. */
static NO_THREAD_SAFETY_ANALYSIS doca_error_t set_begin(struct doca_comm_channel_ep_t *ep, const void *argument,
							const char *function)
{
	doca_error_t result = comm_channel_ep_check(function, ep, argument);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (ep->role == EP_UNUSED)
		return DOCA_SUCCESS;
	pthread_mutex_unlock(&ep->lock);
	SF_LOG_ERR("%s: the endpoint listens or connects already: set it before doca_comm_channel_ep_listen or _connect",
		   function);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device)
{
	doca_error_t result = set_begin(ep, device, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	assert(sf_is_locked(&ep->lock));
	sf_dev_hold(device);
	if (ep->dev != NULL)
		sf_dev_release(ep->dev);
	ep->dev = device;
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep)
{
	doca_error_t result = set_begin(ep, device_rep, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	assert(sf_is_locked(&ep->lock));
	sf_dev_rep_hold(device_rep);
	if (ep->rep != NULL)
		sf_dev_rep_release(ep->rep);
	ep->rep = device_rep;
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}

static uint16_t power_of_two_up(uint16_t size)
{
	return size > 1 ? (uint16_t)(1u << (32 - __builtin_clz(size - 1u))) : 1;
}

static doca_error_t set_size(struct doca_comm_channel_ep_t *ep, uint16_t *place, uint16_t size, uint16_t size_max,
			     const char *function)
{
	doca_error_t result;

	if (ep != NULL && (size == 0 || size > size_max)) {
		SF_LOG_ERR("%s: %u is out of range: give 1 to %u", function, size, size_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = set_begin(ep, ep, function);
	if (result != DOCA_SUCCESS)
		return result;
	assert(sf_is_locked(&ep->lock));
	*place = size;
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size)
{
	return set_size(ep, ep != NULL ? &ep->max_msg_size : NULL, max_msg_size, MSG_SIZE_DEFAULT, __func__);
}

doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size)
{
	uint16_t size =
		send_queue_size <= SEND_QUEUE_MAX && send_queue_size > 0 ? power_of_two_up(send_queue_size) : send_queue_size;

	return set_size(ep, ep != NULL ? &ep->send_queue_size : NULL, size, SEND_QUEUE_MAX, __func__);
}

doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size)
{
	uint16_t size =
		recv_queue_size <= RECV_QUEUE_MAX && recv_queue_size > 0 ? power_of_two_up(recv_queue_size) : recv_queue_size;

	return set_size(ep, ep != NULL ? &ep->recv_queue_size : NULL, size, RECV_QUEUE_MAX, __func__);
}

/* ---- getters ---- */

/* INVALID_VALUE, logged, when ep, out or what is NULL. what is the value, NULL if it was never set. */
static doca_error_t check_get(struct doca_comm_channel_ep_t *ep, const void *out, const void *what, const char *function)
{
	doca_error_t result = comm_channel_ep_check(function, ep, out);

	if (result == DOCA_SUCCESS && what == NULL) {
		SF_LOG_ERR("%s: no value was set", function);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	return result;
}

doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device)
{
	doca_error_t result = check_get(ep, device, ep != NULL ? ep->dev : NULL, __func__);

	if (result == DOCA_SUCCESS)
		*device = ep->dev;
	return result;
}

doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep)
{
	doca_error_t result = check_get(ep, device_rep, ep != NULL ? ep->rep : NULL, __func__);

	if (result == DOCA_SUCCESS)
		*device_rep = ep->rep;
	return result;
}

doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, max_msg_size);

	if (result == DOCA_SUCCESS)
		*max_msg_size = ep->max_msg_size;
	return result;
}

doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, send_queue_size);

	if (result == DOCA_SUCCESS)
		*send_queue_size = ep->send_queue_size;
	return result;
}

doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, recv_queue_size);

	if (result == DOCA_SUCCESS)
		*recv_queue_size = ep->recv_queue_size;
	return result;
}
