/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event channels. The receive and the service channel are epoll sets of the engine's handle, which becomes readable when it
 * is armed and an event is due, and of an eventfd, for events that another call on the endpoint has found meanwhile. The send
 * channel is a timer, because a full peer does not notify when it has room again.
 *
 * The API has no call that clears a channel. An armed channel stays armed across calls that find nothing. Once readable, it stays
 * so until a receive finds no message, a send is accepted, or it is armed again.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/thread_safety.h"
#include "comm_channel/ep.h"
#include "core/pe.h"

/* ---- open and close ---- */

static bool channel_open(int *channel, int *event, int handle)
{
	struct epoll_event on = {.events = EPOLLIN};

	*channel = epoll_create1(EPOLL_CLOEXEC);
	*event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return *channel >= 0 && *event >= 0 && epoll_ctl(*channel, EPOLL_CTL_ADD, *event, &on) == 0 &&
	       epoll_ctl(*channel, EPOLL_CTL_ADD, handle, &on) == 0;
}

doca_error_t comm_channel_events_open(struct doca_comm_channel_ep_t *ep)
{
	doca_notification_handle_t handle;
	doca_error_t result = doca_pe_get_notification_handle(ep->pe, &handle);

	if (result != DOCA_SUCCESS)
		return result;
	ep->send_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (ep->send_timer >= 0 && channel_open(&ep->recv_channel, &ep->recv_event, handle) &&
	    channel_open(&ep->service_channel, &ep->service_event, handle))
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot open the event channels: %s; raise the limit (ulimit -n)", strerror(errno));
	return DOCA_ERROR_INITIALIZATION;
}

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void comm_channel_events_close(struct doca_comm_channel_ep_t *ep)
{
	fd_close(&ep->recv_channel);
	fd_close(&ep->service_channel);
	fd_close(&ep->recv_event);
	fd_close(&ep->service_event);
	fd_close(&ep->send_timer);
	ep->send_armed = ep->recv_armed = ep->recv_signalled = ep->service_armed = false;
}

/* ---- signals ---- */

bool comm_channel_events_take(int *event_fd)
{
	uint64_t count;
	ssize_t len = read(*event_fd, &count, sizeof(count));

	if (len < 0 && errno != EAGAIN)
		SF_LOG_ERR("cannot clear an event channel: %s", strerror(errno));
	return len > 0;
}

void comm_channel_events_signal_recv(struct doca_comm_channel_ep_t *ep)
{
	if (!ep->recv_armed)
		return;
	ep->recv_armed = false;
	ep->recv_signalled = true;
	eventfd_write(ep->recv_event, 1);
}

void comm_channel_events_unsignal_recv(struct doca_comm_channel_ep_t *ep)
{
	if (ep->recv_signalled)
		comm_channel_events_take(&ep->recv_event);
	ep->recv_signalled = false;
}

void comm_channel_events_set_send_timer(struct doca_comm_channel_ep_t *ep)
{
	const struct itimerspec when = {.it_value.tv_nsec = ep->send_refused ? SEND_RETRY_NS : 1};

	timerfd_settime(ep->send_timer, 0, &when, NULL);
}

static bool has_news(const struct doca_comm_channel_ep_t *ep)
{
	return ep->ring_num > 0 ||
	       (ep->role == EP_CLIENT && ep->peers->state != PEER_CONNECTED && ep->peers->state != PEER_CONNECTING);
}

void comm_channel_events_settle(struct doca_comm_channel_ep_t *ep)
{
	if (has_news(ep))
		comm_channel_events_signal_recv(ep);
	if (ep->service_armed && ep->service_changed) {
		ep->service_armed = false;
		eventfd_write(ep->service_event, 1);
	}
	if ((ep->recv_armed || ep->service_armed) && !ep->pe->armed)
		doca_pe_request_notification(ep->pe);
}

/* ---- public ---- */

doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *ep, doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel)
{
	doca_error_t result =
		comm_channel_ep_check(__func__, ep, send_event_channel != NULL ? send_event_channel : recv_event_channel);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (ep->role == EP_UNUSED) {
		SF_LOG_ERR("%s: the endpoint has no event channels yet: call doca_comm_channel_ep_listen or _connect first",
			   __func__);
		result = DOCA_ERROR_BAD_STATE;
	} else {
		if (send_event_channel != NULL)
			*send_event_channel = ep->send_timer;
		if (recv_event_channel != NULL)
			*recv_event_channel = ep->recv_channel;
	}
	pthread_mutex_unlock(&ep->lock);
	return result;
}

doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *ep,
							    doca_event_channel_t *service_event_channel)
{
	doca_error_t result = comm_channel_ep_check(__func__, ep, service_event_channel);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (ep->role != EP_SERVICE) {
		SF_LOG_ERR("%s: the endpoint is not a service%s", __func__, ep->role == EP_UNUSED ? " yet" : "");
		result = ep->role == EP_UNUSED ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_NOT_SUPPORTED;
	} else {
		*service_event_channel = ep->service_channel;
		ep->service_armed = true;
		comm_channel_events_settle(ep);
	}
	pthread_mutex_unlock(&ep->lock);
	return result;
}

/* Locks an endpoint that has channels. After INVALID_VALUE, logged, it is not locked, which clang cannot express. */
static NO_THREAD_SAFETY_ANALYSIS doca_error_t arm_begin(struct doca_comm_channel_ep_t *ep, const char *function)
{
	doca_error_t result = comm_channel_ep_check(function, ep, ep);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&ep->lock);
	if (ep->role != EP_UNUSED)
		return DOCA_SUCCESS;
	pthread_mutex_unlock(&ep->lock);
	SF_LOG_ERR("%s: the endpoint neither listens nor connects: call doca_comm_channel_ep_listen or _connect first", function);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result = arm_begin(ep, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	assert(sf_is_locked(&ep->lock));
	ep->send_armed = true;
	comm_channel_events_set_send_timer(ep);
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *ep)
{
	doca_error_t result = arm_begin(ep, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	assert(sf_is_locked(&ep->lock));
	comm_channel_events_unsignal_recv(ep);
	ep->recv_armed = true;
	comm_channel_events_settle(ep);
	pthread_mutex_unlock(&ep->lock);
	return DOCA_SUCCESS;
}
