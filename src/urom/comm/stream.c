/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a connection: connecting, reading and writing messages. */
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log_rate.h"
#include "urom/comm/comm_private.h"
#include "urom/comm/frame.h"

#define KEEPALIVE_IDLE_S 10 /* a lost machine is detected after 16 seconds; a dead process immediately */
#define KEEPALIVE_EVERY_S 2
#define KEEPALIVE_COUNT 3
#define PART_KEPT 65536 /* bytes of memory for parts of messages that a peer keeps */

/* ---- epoll ---- */

static uint32_t events_awaited(const struct comm_peer *peer)
{
	if (peer->stage == COMM_WAITING)
		return 0;
	bool out = peer->stage == COMM_CONNECTING || (peer->tls != NULL && sf_tls_wants_write(peer->tls)) ||
		   (peer->stage == COMM_READY && !STAILQ_EMPTY(&peer->queue) && !peer->mute);
	return EPOLLIN | (out ? EPOLLOUT : 0);
}

void comm_stream_watch(struct comm_peer *peer)
{
	struct epoll_event event = {.events = events_awaited(peer), .data = {.ptr = peer}};

	if (event.events == peer->events || peer->fd < 0)
		return;
	peer->events = event.events;
	(void)epoll_ctl(peer->comm->epoll_fd, EPOLL_CTL_MOD, peer->fd, &event);
}

/* Another process may have the socket too, passed on or inherited by a fork: then closing it does not end the events that epoll
 * reports. */
void comm_stream_close(struct comm_peer *peer)
{
	sf_tls_free(peer->tls);
	peer->tls = NULL;
	if (peer->fd >= 0) {
		(void)epoll_ctl(peer->comm->epoll_fd, EPOLL_CTL_DEL, peer->fd, NULL);
		close(peer->fd);
	}
	peer->fd = -1;
}

/* ---- write ---- */

static ssize_t write_some(struct comm_peer *peer, const uint8_t *data, size_t len)
{
	if (peer->tls != NULL)
		return sf_tls_write(peer->tls, data, len);
	ssize_t result = send(peer->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (result >= 0)
		return result;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM ? COMM_AGAIN : COMM_CLOSED;
}

static void drop_queue(struct comm_peer *peer)
{
	for (struct comm_send *send; (send = STAILQ_FIRST(&peer->queue)) != NULL;) {
		STAILQ_REMOVE_HEAD(&peer->queue, next);
		comm_send_free(peer, send);
	}
}

/* A peer that no longer reads may have sent the reason before: it counts as lost once that is read. */
void comm_stream_write(struct comm_peer *peer)
{
	for (struct comm_send *send; peer->stage == COMM_READY && (send = STAILQ_FIRST(&peer->queue)) != NULL;) {
		ssize_t taken = peer->mute ? COMM_CLOSED : write_some(peer, send->bytes + send->sent, send->used - send->sent);

		if (taken == COMM_AGAIN)
			break;
		if (taken < 0) {
			peer->mute = true;
			drop_queue(peer);
			break;
		}
		assert((size_t)taken <= send->used - send->sent);
		send->sent += (size_t)taken;
		if (send->sent != send->used)
			continue;
		STAILQ_REMOVE_HEAD(&peer->queue, next);
		comm_send_free(peer, send);
	}
	comm_stream_watch(peer);
	if (peer->state == COMM_PEER_FLUSHING && STAILQ_EMPTY(&peer->queue))
		comm_peer_flushed(peer);
}

/* ---- read ---- */

static ssize_t read_some(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;

	if (peer->tls != NULL)
		return sf_tls_read(peer->tls, comm->bytes, sizeof(comm->bytes));
	ssize_t result = recv(peer->fd, comm->bytes, sizeof(comm->bytes), MSG_DONTWAIT);
	if (result > 0)
		return result;
	return result < 0 && (errno == EAGAIN || errno == EINTR) ? COMM_AGAIN : COMM_CLOSED;
}

bool comm_stream_discard(struct comm_peer *peer)
{
	return peer->stage == COMM_READY && read_some(peer) != COMM_CLOSED;
}

static void peer_malformed(struct comm_peer *peer)
{
	SF_LOG_WARN_LIMITED("urom: %s sent a message that is malformed, or longer than %zu bytes: disconnected it",
			    peer->base.address, peer->comm->options.body_max);
	comm_peer_lose(peer, DOCA_ERROR_INVALID_VALUE);
}

/* Delivers complete messages, as many as this poll may. Returns false if one is malformed. */
static bool take_whole(struct comm_peer *peer, const uint8_t **at, size_t *left)
{
	struct sf_comm *comm = peer->comm;
	struct comm_frame frame;
	size_t size;

	while (peer->state == COMM_PEER_OPEN && *left != 0 && !comm->delivered) {
		enum comm_frame_found found = comm_frame_find(*at, *left, SF_COMM_HEAD_MAX, comm->options.body_max, &size);

		if (found != COMM_FRAME_WHOLE || !comm_frame_read(at, left, &frame))
			return found == COMM_FRAME_PART;
		comm->delivered = comm->options.one_a_poll;
		comm->options.handler->message(comm->options.user, &peer->base, frame.head, frame.head_len, frame.body,
					       frame.body_len);
	}
	return true;
}

/* Memory grows with the received bytes, not with the announced length. */
static bool make_room(struct comm_peer *peer, size_t len)
{
	size_t room = peer->part_room;

	while (room < len)
		room = room != 0 ? room * 2 : 256;
	uint8_t *part = room != peer->part_room ? (uint8_t *)realloc(peer->part, room) : peer->part;
	if (part == NULL)
		return false;
	peer->part = part;
	peer->part_room = room;
	assert(peer->part_room >= len);
	return true;
}

static void forget_part(struct comm_peer *peer)
{
	peer->part_len = 0;
	if (peer->part_room <= PART_KEPT)
		return;
	free(peer->part);
	peer->part = NULL;
	peer->part_room = 0;
}

/* Reads the rest of a message that has arrived in part, as far as possible. */
static bool take_part(struct comm_peer *peer, const uint8_t **at, size_t *left)
{
	size_t size;

	while (peer->part_len != 0 && *left != 0) {
		enum comm_frame_found found =
			comm_frame_find(peer->part, peer->part_len, SF_COMM_HEAD_MAX, peer->comm->options.body_max, &size);

		if (found == COMM_FRAME_BAD)
			return false;
		size_t taken = size - peer->part_len < *left ? size - peer->part_len : *left;
		if (!make_room(peer, peer->part_len + taken)) {
			SF_LOG_ERR_LIMITED("urom: no memory for a message of %s", peer->base.address);
			comm_peer_lose(peer, DOCA_ERROR_NO_MEMORY);
			return true;
		}
		memcpy(peer->part + peer->part_len, *at, taken);
		peer->part_len += taken;
		*at += taken;
		*left -= taken;
		const uint8_t *part = peer->part;
		size_t part_len = peer->part_len;
		if (!take_whole(peer, &part, &part_len))
			return false;
		if (part_len == 0 || peer->state != COMM_PEER_OPEN)
			forget_part(peer);
	}
	return true;
}

/* Keeps messages that the next poll delivers, or finds malformed, before it reads more. */
static bool hold_bytes(struct comm_peer *peer, const uint8_t *at, size_t len)
{
	const struct sf_comm *comm = peer->comm;
	size_t size;

	if (!comm->delivered || comm_frame_find(at, len, SF_COMM_HEAD_MAX, comm->options.body_max, &size) == COMM_FRAME_PART)
		return false;
	assert(comm->door.fd < 0 && comm->num_peers == 1); /* another peer's read would overwrite the bytes */
	peer->held = at;
	peer->held_len = len;
	return true;
}

static void take_bytes(struct comm_peer *peer, const uint8_t *at, size_t len)
{
	bool good = take_part(peer, &at, &len);

	if (good && peer->state == COMM_PEER_OPEN)
		good = take_whole(peer, &at, &len);
	if (!good) {
		peer_malformed(peer);
	} else if (len != 0 && peer->state == COMM_PEER_OPEN && !hold_bytes(peer, at, len)) {
		if (make_room(peer, len)) {
			memcpy(peer->part, at, len);
			peer->part_len = len;
		} else {
			SF_LOG_ERR_LIMITED("urom: no memory for a message of %s", peer->base.address);
			comm_peer_lose(peer, DOCA_ERROR_NO_MEMORY);
		}
	}
}

static void take_held(struct comm_peer *peer)
{
	size_t len = peer->held_len;

	peer->held_len = 0;
	take_bytes(peer, peer->held, len);
}

/* ---- connect ---- */

static void say_whom(struct comm_peer *peer)
{
	if (send(peer->fd, &peer->preamble, sizeof(peer->preamble), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(peer->preamble))
		comm_peer_lose(peer, DOCA_ERROR_CONNECTION_ABORTED);
}

static void become_ready(struct comm_peer *peer)
{
	assert(peer->stage == COMM_SECURING);
	peer->stage = COMM_READY;
	comm_stream_write(peer);
}

static void socket_connected(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(peer->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error != 0) {
		comm_peer_lose(peer, error == ETIMEDOUT ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_CONNECTION_ABORTED);
		return;
	}
	struct sf_comm_key key = {{0}};
	doca_error_t result = DOCA_ERROR_NOT_PERMITTED;
	if (comm->options.handler->key != NULL)
		result = comm->options.handler->key(comm->options.user, &key);
	if (result == DOCA_SUCCESS)
		result = sf_tls_begin(peer->fd, false, key.bytes, COMM_IDENTITY, &peer->tls);
	explicit_bzero(&key, sizeof(key));
	if (result != DOCA_SUCCESS) {
		comm_peer_lose(peer, result);
		return;
	}
	assert(peer->stage == COMM_CONNECTING && peer->tls != NULL);
	peer->stage = COMM_SECURING;
	say_whom(peer);
	if (peer->state == COMM_PEER_OPEN)
		comm_stream_secure(peer);
}

void comm_stream_secure(struct comm_peer *peer)
{
	int result = sf_tls_shake(peer->tls);
	bool guest = peer->state == COMM_PEER_GUEST;

	if (result == SF_TLS_AGAIN)
		comm_stream_watch(peer);
	else if (result == 0 && guest)
		comm_guest_accept(peer);
	else if (result == 0)
		become_ready(peer);
	else if (guest)
		comm_guest_leave(peer, "it does not know the secret, or is not a UROM program");
	else
		comm_peer_lose(peer, result == SF_TLS_REFUSED || result == SF_TLS_OTHER ? DOCA_ERROR_NOT_PERMITTED
											: DOCA_ERROR_CONNECTION_ABORTED);
}

bool comm_stream_ready(struct comm_peer *peer)
{
	if (peer->stage == COMM_CONNECTING)
		socket_connected(peer);
	else if (peer->stage == COMM_SECURING)
		comm_stream_secure(peer);
	if (peer->stage != COMM_READY || peer->state != COMM_PEER_OPEN)
		return true;
	if (!STAILQ_EMPTY(&peer->queue))
		comm_stream_write(peer);
	if (peer->held_len != 0) {
		take_held(peer);
		return true;
	}
	ssize_t len = read_some(peer);
	if (len > 0)
		take_bytes(peer, peer->comm->bytes, (size_t)len);
	else if (len == COMM_CLOSED)
		comm_peer_lose(peer, DOCA_ERROR_CONNECTION_RESET);
	else if (peer->tls != NULL)
		comm_stream_watch(peer);
	return len != COMM_AGAIN;
}

static void set_option(int fd, int level, int option, int value)
{
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

/* If the route does not use any of the permitted devices, it must use the first of them. */
static void choose_device(int fd, const struct sf_comm_target *target)
{
	char names[SF_COMM_DEVICES_MAX], first[IFNAMSIZ];

	if (target->devices == NULL || strcmp(target->devices, "all") == 0 || comm_local_address(target->address))
		return;
	if (sf_comm_devices_to(target->address, target->len, target->devices, names, sizeof(names)) == names)
		return;
	int len = snprintf(first, sizeof(first), "%.*s", (int)strcspn(target->devices, ","), target->devices);
	if (len > 0 && (size_t)len < sizeof(first))
		(void)setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, first, (socklen_t)len + 1);
}

static int connect_tcp(const struct sf_comm_target *target)
{
	int fd = socket(target->address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_EVERY_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
	choose_device(fd, target);
	if (connect(fd, target->address, target->len) == 0 || errno == EINPROGRESS)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static doca_error_t connect_error(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
		SF_LOG_ERR("urom: no connection: %s", strerror(error));
		return DOCA_ERROR_NO_MEMORY;
	case EAGAIN: /* a Unix socket whose process accepts no connections */
		return DOCA_ERROR_TIME_OUT;
	default:
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

doca_error_t sf_comm_connect(struct sf_comm *comm, const struct sf_comm_target *target, void *user, struct sf_comm_peer **out)
{
	struct comm_peer *peer;
	int fd = comm_local_address(target->address) ? comm_local_connect(target->address) : -1;
	bool local = fd >= 0 || (comm_local_address(target->address) && errno == EAGAIN);

	if (!local)
		fd = connect_tcp(target);
	if (fd < 0)
		return connect_error(errno);
	doca_error_t result = comm_peer_make(comm, fd, local ? COMM_READY : COMM_CONNECTING, &peer);
	if (result == DOCA_SUCCESS)
		result = comm_peer_open(peer);
	if (result != DOCA_SUCCESS)
		return result;
	comm_address_name(target->address, peer->base.address);
	peer->base.user = user;
	peer->preamble = (struct comm_preamble){COMM_MAGIC, target->worker};
	if (local)
		say_whom(peer);
	*out = &peer->base;
	return DOCA_SUCCESS;
}
