/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's side of an import: the agent executes the importer's requests. The program is not involved. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/shm/region.h"
#include "fabric/tcp/import.h"

struct served {
	struct sf_channel *channel;
	uint64_t region;
	uint32_t events; /* events that its socket is polled for */
	struct tcp_session session;
};

static void served_watch(struct served *served)
{
	struct epoll_event event = {.events = tcp_session_events(&served->session), .data.ptr = served->channel};

	if (event.events != served->events)
		epoll_ctl(sf_control_epoll(), EPOLL_CTL_MOD, served->session.stream.fd, &event);
	served->events = event.events;
}

static bool session_probe(struct tcp_session *session)
{
	const bool sent = sf_tcp_session_probe(session);

	served_watch((struct served *)((char *)session - offsetof(struct served, session)));
	return sent;
}

/* Nothing else is requested from the importer. */
static const struct tcp_session_ops session_ops = {.probe = session_probe};

static void channel_ended(struct sf_channel *channel)
{
	struct served *served = channel->owner;

	sf_tcp_session_end(&served->session, DOCA_ERROR_CONNECTION_ABORTED);
	sf_channel_close(channel);
	sf_shm_region_ring(served->region); /* it may have died between a change and the wake-up for it */
	free(served);
}

static void channel_readable(struct sf_channel *channel)
{
	struct served *served = channel->owner;
	struct tcp_session *session = &served->session;
	uint32_t changed;

	do {
		(void)sf_tcp_session_receive(session);
		changed = session->changed_num;
		for (uint32_t i = 0; i < changed; i++)
			sf_shm_region_ring(session->changed[i]);
		session->changed_num = 0;
	} while (changed == TCP_CHANGED_MAX);
	sf_tcp_session_send(session);
	if (session->stream.fd < 0)
		channel_ended(channel);
	else
		served_watch(served);
}

static doca_error_t import_serve(struct sf_stream stream, uint64_t region)
{
	struct served *served = calloc(1, sizeof(*served));

	if (served == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (sf_channel_open(stream.fd, served, &served->channel) != DOCA_SUCCESS) {
		free(served);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	served->channel->readable = channel_readable;
	served->channel->ended = channel_ended;
	served->region = region;
	sf_tcp_session_begin(&served->session, &session_ops, stream);
	served->session.is_lent = true;
	served_watch(served);
	return DOCA_SUCCESS;
}

static doca_error_t attach_check(const struct tcp_msg_attach *attach)
{
	const struct shm_region *region = sf_shm_region_find(attach->target.region);

	if (region == NULL || !region->exported)
		return DOCA_ERROR_NOT_FOUND;
	if (!sf_key_equal(&region->base.token, &attach->target.token))
		return DOCA_ERROR_NOT_PERMITTED;
	return region->base.addr == attach->target.addr && region->base.len == attach->len &&
			       region->base.rights == attach->rights
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_INVALID_VALUE;
}

bool sf_tcp_import_serve(struct sf_channel *channel, const struct sf_msg *first)
{
	const struct tcp_msg_attach *attach = (const struct tcp_msg_attach *)first;
	struct tcp_msg_attached answer = {.head = sf_msg_head(TCP_MSG_ATTACHED, sizeof(answer), 0)};
	struct sf_stream stream;
	doca_error_t error;

	if (first->kind != TCP_MSG_ATTACH || !channel->is_stream)
		return false;
	error = attach_check(attach);
	answer.head.value = error;
	if (error != DOCA_SUCCESS) {
		SF_LOG_WARN_LIMITED("rejected a peer's request for memory of this process: %s", doca_error_get_descr(error));
		sf_channel_send_optional(channel, &answer);
		sf_channel_close(channel);
		return true;
	}
	if (!sf_channel_send(channel, &answer, NULL, 0) || channel->out != NULL)
		return false;
	stream = sf_channel_leave(channel);
	if (import_serve(stream, attach->target.region) != DOCA_SUCCESS)
		sf_stream_close(&stream, false);
	return true;
}
