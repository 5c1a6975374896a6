/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer: sending, and its end. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log_rate.h"
#include "urom/comm/comm_private.h"
#include "urom/comm/frame.h"

void comm_address_name(const struct sockaddr *address, char out[SF_COMM_ADDRESS_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;

		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(out, SF_COMM_ADDRESS_MAX, "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(out, SF_COMM_ADDRESS_MAX, "%s:%u", host, ntohs(in->sin_port));
	}
}

/* ---- sending ---- */

size_t sf_comm_backlog(const struct sf_comm_peer *base)
{
	return ((const struct comm_peer *)base)->backlog;
}

static bool has_room(const struct comm_peer *peer)
{
	size_t backlog_max = peer->comm->options.backlog_max;

	return peer->num_sends < SF_COMM_SENDS_MAX && (backlog_max == 0 || peer->backlog < backlog_max);
}

static struct comm_send *build_send(struct sf_comm *comm, size_t room)
{
	struct comm_send *send = room <= SF_COMM_BATCH ? SLIST_FIRST(&comm->free_sends) : NULL;

	if (send != NULL) {
		SLIST_REMOVE_HEAD(&comm->free_sends, free);
		assert(comm->num_free > 0);
		comm->num_free--;
		return send;
	}
	room = room > SF_COMM_BATCH ? room : SF_COMM_BATCH;
	send = (struct comm_send *)malloc(sizeof(*send) + room);
	if (send != NULL)
		send->room = room;
	return send;
}

static struct comm_send *take_send(struct comm_peer *peer, size_t room)
{
	struct comm_send *send = has_room(peer) ? build_send(peer->comm, room) : NULL;

	if (send == NULL)
		return NULL;
	send->used = send->sent = 0;
	peer->num_sends++;
	peer->backlog += send->room;
	return send;
}

void comm_send_free(struct comm_peer *peer, struct comm_send *send)
{
	struct sf_comm *comm = peer->comm;

	assert(peer->num_sends > 0);
	peer->num_sends--;
	assert(peer->backlog >= send->room);
	peer->backlog -= send->room;
	if (send->room != SF_COMM_BATCH || comm->num_free == SF_COMM_SENDS_MAX) {
		free(send);
		return;
	}
	assert(comm->num_free < SF_COMM_SENDS_MAX);
	SLIST_INSERT_HEAD(&comm->free_sends, send, free);
	comm->num_free++;
}

/* Sends the collected messages, or drops them. */
static void end_batch(struct comm_peer *peer, bool out)
{
	struct comm_send *batch = peer->batch;

	assert(batch != NULL);
	SLIST_REMOVE(&peer->comm->batches, peer, comm_peer, in_batches);
	peer->batch = NULL;
	bool may = peer->state == COMM_PEER_OPEN || peer->state == COMM_PEER_FLUSHING ||
		   (peer->state == COMM_PEER_ENDING && peer->flush);
	if (!out || !may) {
		comm_send_free(peer, batch);
		return;
	}
	bool idle = STAILQ_EMPTY(&peer->queue);
	STAILQ_INSERT_TAIL(&peer->queue, batch, next);
	if (idle) /* else the kernel accepts no more */
		comm_stream_write(peer);
}

void sf_comm_cork(struct sf_comm *comm)
{
	comm->corks++;
}

void sf_comm_uncork(struct sf_comm *comm)
{
	assert(comm->corks > 0);
	if (--comm->corks != 0)
		return;
	for (struct comm_peer *peer = SLIST_FIRST(&comm->batches), *next; peer != NULL; peer = next) {
		next = SLIST_NEXT(peer, in_batches);
		if (peer->num_sends <= SF_COMM_SENDS_HELD) /* otherwise a descriptor that is returned triggers a retry */
			end_batch(peer, true);
	}
}

void sf_comm_push(struct sf_comm *comm)
{
	struct comm_peer *peer;

	while ((peer = SLIST_FIRST(&comm->batches)) != NULL)
		end_batch(peer, true);
	TAILQ_FOREACH (peer, &comm->open, in_list) {
		if (!STAILQ_EMPTY(&peer->queue))
			comm_stream_write(peer);
	}
}

static doca_error_t frame_collect(struct comm_peer *peer, const struct comm_frame *frame)
{
	size_t size = comm_frame_size(frame->head_len, frame->body_len);

	if (peer->batch != NULL && peer->batch->used + size > peer->batch->room)
		end_batch(peer, true);
	if (peer->batch == NULL) {
		peer->batch = take_send(peer, size);
		if (peer->batch == NULL)
			return DOCA_ERROR_AGAIN;
		assert(peer->batch->used == 0);
		SLIST_INSERT_HEAD(&peer->comm->batches, peer, in_batches);
	}
	assert(peer->batch->used + size <= peer->batch->room);
	comm_frame_write(peer->batch->bytes + peer->batch->used, frame);
	peer->batch->used += size;
	return DOCA_SUCCESS;
}

doca_error_t sf_comm_send(struct sf_comm *comm, struct sf_comm_peer *base, const void *head, size_t head_len, const void *body,
			  size_t body_len)
{
	struct comm_peer *peer = (struct comm_peer *)base;

	if (peer->state != COMM_PEER_OPEN || peer->mute)
		return DOCA_ERROR_NOT_CONNECTED;
	if (head_len > SF_COMM_HEAD_MAX || body_len > comm->options.body_max) {
		SF_LOG_ERR("urom: a message of %zu bytes: at most %zu fit", body_len, comm->options.body_max);
		return DOCA_ERROR_TOO_BIG;
	}
	const struct comm_frame frame = {(const uint8_t *)head, (const uint8_t *)body, (uint32_t)head_len, (uint32_t)body_len};
	sf_comm_cork(comm);
	doca_error_t result = frame_collect(peer, &frame);
	if (result == DOCA_ERROR_AGAIN && comm->polling &&
	    !STAILQ_EMPTY(&peer->queue)) { /* no poll writes waiting messages in a callback */
		comm_stream_write(peer);
		result = frame_collect(peer, &frame);
	}
	sf_comm_uncork(comm);
	return result;
}

/* ---- the end ---- */

void comm_peer_lose(struct comm_peer *peer, doca_error_t why)
{
	if (peer->state != COMM_PEER_OPEN)
		return;
	peer->state = COMM_PEER_LOST;
	peer->why = why;
	(void)epoll_ctl(peer->comm->epoll_fd, EPOLL_CTL_DEL, peer->fd, NULL);
	TAILQ_REMOVE(&peer->comm->open, peer, in_list);
	TAILQ_INSERT_TAIL(&peer->comm->lost, peer, in_list);
}

static void free_peer(struct comm_peer *peer)
{
	if (peer->batch != NULL)
		end_batch(peer, false);
	for (struct comm_send *send; (send = STAILQ_FIRST(&peer->queue)) != NULL;) {
		STAILQ_REMOVE_HEAD(&peer->queue, next);
		comm_send_free(peer, send);
	}
	comm_stream_close(peer);
	free(peer->part);
	free(peer);
}

void comm_peer_close(struct comm_peer *peer)
{
	TAILQ_REMOVE(&peer->comm->closing, peer, in_list);
	assert(peer->comm->num_peers > 0);
	peer->comm->num_peers--;
	free_peer(peer);
}

/* The other end reads everything before it sees the end, unless our side has unread data, which is therefore read here. */
void comm_peer_flushed(struct comm_peer *peer)
{
	assert(peer->state == COMM_PEER_FLUSHING);
	peer->state = COMM_PEER_LINGERING;
	if (peer->tls != NULL)
		sf_tls_end(peer->tls);
	(void)shutdown(peer->fd, SHUT_WR);
}

static void end_now(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;

	assert(peer->state == COMM_PEER_ENDING);
	if (peer->is_guest) {
		free_peer(peer);
		return;
	}
	TAILQ_INSERT_TAIL(&comm->closing, peer, in_list);
	if (!peer->flush || peer->stage != COMM_READY || peer->mute) {
		comm_peer_close(peer);
		return;
	}
	peer->state = COMM_PEER_FLUSHING;
	peer->since = sf_now_ns();
	if (peer->batch != NULL)
		end_batch(peer, true);
	comm_stream_write(peer);
	comm_timer_update(comm);
}

void comm_peer_end(struct comm_peer *peer, bool flush)
{
	struct sf_comm *comm = peer->comm;

	peer->is_guest = peer->state == COMM_PEER_GUEST;
	peer->flush = flush && peer->state == COMM_PEER_OPEN;
	TAILQ_REMOVE(peer->is_guest ? &comm->guests : peer->state == COMM_PEER_OPEN ? &comm->open : &comm->lost, peer, in_list);
	assert(comm->num_guests >= peer->is_guest);
	comm->num_guests -= peer->is_guest;
	peer->state = COMM_PEER_ENDING;
	if (comm->polling)
		TAILQ_INSERT_TAIL(&comm->ending, peer, in_list);
	else
		end_now(peer);
}

void comm_peers_end(struct sf_comm *comm)
{
	for (struct comm_peer *peer; (peer = TAILQ_FIRST(&comm->ending)) != NULL;) {
		TAILQ_REMOVE(&comm->ending, peer, in_list);
		end_now(peer);
	}
}

void comm_peers_close(struct sf_comm *comm, uint64_t now, bool all)
{
	for (struct comm_peer *peer = TAILQ_FIRST(&comm->closing), *next; peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, in_list);
		bool closed = peer->state == COMM_PEER_LINGERING && !comm_stream_discard(peer);
		if (closed || all || now - peer->since >= COMM_END_NS)
			comm_peer_close(peer);
	}
}

bool comm_peers_report_lost(struct sf_comm *comm)
{
	struct comm_peer *peer = TAILQ_FIRST(&comm->lost);

	if (peer == NULL)
		return false;
	/* Messages that a callback adds wait for the next poll. */
	for (struct comm_peer *last = TAILQ_LAST(&comm->lost, comm_peers); peer != NULL;) {
		bool was_last = peer == last;

		comm->options.handler->lost(comm->options.user, &peer->base, peer->why);
		comm_peer_end(peer, false);
		peer = was_last ? NULL : TAILQ_FIRST(&comm->lost);
	}
	return true;
}

void sf_comm_disconnect(struct sf_comm *comm, struct sf_comm_peer *base)
{
	struct comm_peer *peer = (struct comm_peer *)base;

	(void)comm;
	comm_peer_end(peer, peer->state == COMM_PEER_OPEN);
}

void sf_comm_drop(struct sf_comm *comm, struct sf_comm_peer *base)
{
	(void)comm;
	comm_peer_end((struct comm_peer *)base, false);
}

/* ---- the other end ---- */

pid_t sf_comm_process(const struct sf_comm_peer *base)
{
	struct ucred other = {0};
	socklen_t len = sizeof(other);

	if (getsockopt(((const struct comm_peer *)base)->fd, SOL_SOCKET, SO_PEERCRED, &other, &len) != 0)
		return 0;
	return other.pid;
}

bool sf_comm_connected(const struct sf_comm_peer *base)
{
	return ((const struct comm_peer *)base)->stage != COMM_CONNECTING;
}

/* ---- the beginning ---- */

doca_error_t comm_peer_make(struct sf_comm *comm, int fd, enum comm_stage stage, struct comm_peer **out)
{
	struct comm_peer *peer = (struct comm_peer *)calloc(1, sizeof(*peer));

	if (peer == NULL) {
		SF_LOG_ERR_LIMITED("urom: no memory for a connection");
		close(fd);
		return DOCA_ERROR_NO_MEMORY;
	}
	struct epoll_event event = {.events = EPOLLIN | (stage == COMM_CONNECTING ? EPOLLOUT : 0), .data = {.ptr = peer}};
	peer->comm = comm;
	peer->fd = fd;
	peer->stage = stage;
	peer->events = event.events;
	STAILQ_INIT(&peer->queue);
	if (epoll_ctl(comm->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		SF_LOG_ERR_LIMITED("urom: a connection cannot be watched: %s", strerror(errno));
		free_peer(peer);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*out = peer;
	return DOCA_SUCCESS;
}

doca_error_t comm_peer_open(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;

	if (comm->num_peers == SF_COMM_PEERS_MAX) {
		SF_LOG_WARN_LIMITED("urom: the limit of %d connections is reached", SF_COMM_PEERS_MAX);
		free_peer(peer);
		return DOCA_ERROR_FULL;
	}
	assert(comm->num_peers < SF_COMM_PEERS_MAX);
	comm->num_peers++;
	peer->state = COMM_PEER_OPEN;
	TAILQ_INSERT_TAIL(&comm->open, peer, in_list);
	return DOCA_SUCCESS;
}
