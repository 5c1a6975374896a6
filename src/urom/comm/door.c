/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listening. A connection is a guest until it is authenticated: unknown to the comm's user, with a time limit, and
 * limited in number. Its first 16 bytes name the target; on TCP the TLS handshake follows.
 */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "urom/comm/comm_private.h"
#include "urom/comm/device_list.h"

#define ACCEPTS_MAX 16 /* of one poll */

/* The data that one process passes with the descriptor. */
struct handed {
	uint32_t has_key;
	struct sf_comm_key key;
	char address[SF_COMM_ADDRESS_MAX];
};

/* ---- the end of a guest ---- */

void comm_guest_leave(struct comm_peer *peer, const char *why)
{
	if (why != NULL)
		SF_LOG_WARN_LIMITED("urom: rejected %s: %s", peer->base.address, why);
	comm_peer_end(peer, false);
}

void comm_guest_accept(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;

	if (comm->num_peers >= SF_COMM_PEERS_MAX || comm->options.handler->arrived == NULL) {
		comm_guest_leave(peer, "the limit of connections is reached");
		return;
	}
	TAILQ_REMOVE(&comm->guests, peer, in_list);
	assert(comm->num_guests > 0);
	comm->num_guests--;
	peer->stage = COMM_READY;
	comm_stream_watch(peer);
	(void)comm_peer_open(peer);
	comm->options.handler->arrived(comm->options.user, &peer->base);
}

/* ---- what it says ---- */

static void hand_over(struct comm_peer *peer)
{
	struct sf_comm *comm = peer->comm;
	doca_error_t result = DOCA_ERROR_NOT_FOUND;

	if (comm->options.handler->hand != NULL)
		result = comm->options.handler->hand(comm->options.user, peer->preamble.worker, peer->fd, peer->base.address);
	if (result == DOCA_ERROR_AGAIN) {
		peer->stage = COMM_WAITING;
		comm_stream_watch(peer);
		comm_timer_update(comm);
		return;
	}
	comm_guest_leave(peer, result == DOCA_SUCCESS ? NULL : "it asks for a worker that does not exist");
}

static void peer_secure(struct comm_peer *peer, const struct sf_comm_key *key)
{
	peer->stage = COMM_SECURING;
	if (sf_tls_begin(peer->fd, true, key->bytes, COMM_IDENTITY, &peer->tls) == DOCA_SUCCESS)
		comm_stream_secure(peer);
	else
		comm_guest_leave(peer, NULL);
}

static void peer_enter(struct comm_peer *peer)
{
	const struct comm_door *door = &peer->comm->door;

	if (peer->preamble.worker != SF_COMM_LISTENER)
		hand_over(peer);
	else if (door->has_key)
		peer_secure(peer, &door->key);
	else
		comm_guest_accept(peer);
}

static void read_preamble(struct comm_peer *peer)
{
	uint8_t *to = (uint8_t *)&peer->preamble + peer->preamble_len;
	ssize_t len = recv(peer->fd, to, sizeof(peer->preamble) - peer->preamble_len, MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		comm_guest_leave(peer, NULL);
		return;
	}
	peer->preamble_len += (size_t)len;
	size_t known = peer->preamble_len < sizeof(peer->preamble.magic) ? peer->preamble_len : sizeof(peer->preamble.magic);
	const uint64_t magic = COMM_MAGIC;
	if (memcmp(&peer->preamble.magic, &magic, known) != 0)
		comm_guest_leave(peer, "it is not a UROM program, or one of another release");
	else if (peer->preamble_len == sizeof(peer->preamble))
		peer_enter(peer);
}

static bool has_closed(const struct comm_peer *peer)
{
	struct pollfd ready = {peer->fd, 0, 0};

	return poll(&ready, 1, 0) > 0;
}

void comm_guest_ready(struct comm_peer *peer)
{
	if (peer->stage == COMM_ENTERING)
		read_preamble(peer);
	else if (peer->stage == COMM_SECURING)
		comm_stream_secure(peer);
	else if (has_closed(peer))
		comm_guest_leave(peer, NULL);
	else
		hand_over(peer);
}

/* ---- how many ---- */

/* "10.0.0.1:18515" and "10.0.0.1:18516" are of one host; all processes of this user count as one, too. */
static bool of_one(const char *a, const char *b)
{
	const char *colon_a = strrchr(a, ':'), *colon_b = strrchr(b, ':');

	if (colon_a == NULL || colon_b == NULL)
		return false;
	return colon_a - a == colon_b - b && strncmp(a, b, (size_t)(colon_a - a)) == 0;
}

/* Makes room for one more, by closing the oldest if that has had some time. */
static bool make_room(struct sf_comm *comm, const char *address, uint64_t now)
{
	struct comm_peer *guest, *oldest = NULL;
	uint32_t num = 0;

	TAILQ_FOREACH (guest, &comm->guests, in_list) {
		if (!of_one(guest->base.address, address))
			continue;
		num++;
		oldest = oldest == NULL ? guest : oldest;
	}
	if (num < SF_COMM_GUESTS_OF_ONE) {
		if (comm->num_guests < SF_COMM_GUESTS_MAX)
			return true;
		oldest = TAILQ_FIRST(&comm->guests);
	}
	if (now - oldest->since < SF_COMM_GUEST_GRACE_NS)
		return false;
	comm_guest_leave(oldest, "it did not authenticate while too many others wait");
	return true;
}

/* NULL: not now; the descriptor is closed. */
static struct comm_peer *make_guest(struct sf_comm *comm, int fd, const char *address, enum comm_stage stage)
{
	struct comm_peer *peer;
	uint64_t now = sf_now_ns();

	if (!make_room(comm, address, now)) {
		SF_LOG_WARN_LIMITED("urom: rejected %s: %u connections are not authenticated yet", address, comm->num_guests);
		close(fd);
		return NULL;
	}
	if (comm_peer_make(comm, fd, stage, &peer) != DOCA_SUCCESS)
		return NULL;
	snprintf(peer->base.address, sizeof(peer->base.address), "%s", address);
	peer->since = now;
	sf_liveness_begin(&peer->life);
	peer->state = COMM_PEER_GUEST;
	TAILQ_INSERT_TAIL(&comm->guests, peer, in_list);
	comm->num_guests++;
	comm_timer_update(comm);
	return peer;
}

/* ---- accept ---- */

static bool any_of(const char *names, const char *list)
{
	size_t len;

	for (const char *name; (name = device_list_next(&names, &len)) != NULL;) {
		if (device_list_has(list, name, len))
			return true;
	}
	return false;
}

static bool by_device(const struct comm_door *door, int fd)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	char names[SF_COMM_DEVICES_MAX];

	if (door->devices[0] == '\0' || getsockname(fd, (struct sockaddr *)&own, &len) != 0)
		return true;
	return sf_comm_devices_of((const struct sockaddr *)&own, names, sizeof(names)) != NULL && any_of(names, door->devices);
}

/* Identifies the peer. False: it is not permitted. */
static bool name_guest(const struct comm_door *door, int fd, const struct sockaddr *from, char address[SF_COMM_ADDRESS_MAX])
{
	const int one = 1;
	pid_t pid = 0;

	if (door->name[0] != '\0') {
		bool own = comm_local_is_own(fd, &pid);

		snprintf(address, SF_COMM_ADDRESS_MAX, "process %d", (int)pid);
		return own;
	}
	comm_address_name(from, address);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	return by_device(door, fd);
}

/* Out of descriptors or memory: peers wait in the kernel's queue, and accepting is retried later. */
static void pause_door(struct sf_comm *comm, const char *why)
{
	struct epoll_event event = {.events = 0, .data = {.ptr = &comm->door}};

	SF_LOG_WARN_LIMITED("urom: cannot accept connections now: %s", why);
	comm->door.paused = true;
	(void)epoll_ctl(comm->epoll_fd, EPOLL_CTL_MOD, comm->door.fd, &event);
	comm_timer_update(comm);
}

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Returns false if there is none, or none can be accepted. */
static bool accept_one(struct sf_comm *comm)
{
	struct sockaddr_storage from = {0};
	socklen_t len = sizeof(from);
	char address[SF_COMM_ADDRESS_MAX];
	int fd = accept4(comm->door.fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (is_shortage(errno))
			pause_door(comm, strerror(errno));
		return errno == ECONNABORTED || errno == EINTR;
	}
	if (name_guest(&comm->door, fd, (const struct sockaddr *)&from, address)) {
		(void)make_guest(comm, fd, address, COMM_ENTERING);
		return true;
	}
	SF_LOG_WARN_LIMITED("urom: rejected %s: %s", address,
			    comm->door.name[0] != '\0' ? "it belongs to another user"
						       : "it uses a network that UCX_NET_DEVICES does not list");
	close(fd);
	return true;
}

/* ---- from another process ---- */

doca_error_t sf_comm_hand(int door, int fd, const char *address, const struct sf_comm_key *key)
{
	struct handed handed = {.has_key = key != NULL};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec part = {&handed, sizeof(handed)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (key != NULL)
		handed.key = *key;
	snprintf(handed.address, sizeof(handed.address), "%s", address);
	*head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	ssize_t sent = sendmsg(door, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	int error = errno;
	explicit_bzero(&handed, sizeof(handed));
	if (sent == (ssize_t)sizeof(handed))
		return DOCA_SUCCESS;
	return error == EAGAIN || error == EINTR || error == ETOOMANYREFS || is_shortage(error) ? DOCA_ERROR_AGAIN
												: DOCA_ERROR_NOT_CONNECTED;
}

static int take_descriptor(struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static void take_handed(struct sf_comm *comm, int fd, struct handed *handed)
{
	handed->address[sizeof(handed->address) - 1] = '\0';
	struct comm_peer *peer = make_guest(comm, fd, handed->address, COMM_SECURING);
	if (peer != NULL && handed->has_key != 0)
		peer_secure(peer, &handed->key);
	else if (peer != NULL)
		comm_guest_accept(peer);
}

static bool receive_one(struct sf_comm *comm)
{
	struct handed handed;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {&handed, sizeof(handed)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)};
	ssize_t len = recvmsg(comm->door.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (len < 0)
		return false;
	int fd = take_descriptor(&message);
	if (len == (ssize_t)sizeof(handed) && fd >= 0)
		take_handed(comm, fd, &handed);
	else if (fd >= 0)
		close(fd);
	else if (len == 0) /* the other process is gone */
		comm_door_close(comm);
	else
		pause_door(comm, "no descriptors are left");
	explicit_bzero(&handed, sizeof(handed));
	return len > 0 && fd >= 0;
}

void comm_door_accept(struct sf_comm *comm)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		if (!(comm->door.behind ? receive_one(comm) : accept_one(comm)))
			return;
	}
}

/* ---- time ---- */

static void resume_door(struct sf_comm *comm)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &comm->door}};

	comm->door.paused = false;
	(void)epoll_ctl(comm->epoll_fd, EPOLL_CTL_MOD, comm->door.fd, &event);
}

bool comm_door_waits(const struct sf_comm *comm)
{
	const struct comm_peer *peer;

	TAILQ_FOREACH (peer, &comm->guests, in_list) {
		if (peer->stage == COMM_WAITING)
			return true;
	}
	return false;
}

/* A process of this machine that waits for a processor is not late. A TCP peer gets a fixed time. */
static bool is_late(struct comm_peer *peer, uint64_t now)
{
	pid_t process = sf_comm_process(&peer->base);

	return process != 0 ? sf_liveness_lost(&peer->life, process, SF_COMM_GUEST_NS) : now - peer->since >= SF_COMM_GUEST_NS;
}

void comm_door_tick(struct sf_comm *comm, uint64_t now)
{
	if (comm->door.paused)
		resume_door(comm);
	for (struct comm_peer *peer = TAILQ_FIRST(&comm->guests), *next; peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, in_list);
		if (peer->stage ==
		    COMM_WAITING) /* the guest itself limits the wait: it knows whether the worker's process lives */
			comm_guest_ready(peer);
		else if (is_late(peer, now))
			comm_guest_leave(peer, "it did not authenticate in time");
	}
}

/* ---- open and close ---- */

/* If there are descriptors, the timer is created here, too. */
static doca_error_t watch_door(struct sf_comm *comm)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &comm->door}};

	return epoll_ctl(comm->epoll_fd, EPOLL_CTL_ADD, comm->door.fd, &event) == 0 && comm_timer_open(comm)
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_OPERATING_SYSTEM;
}

/* A port that is only reserved may not be shared; one that is listened on can be taken over from closing connections. */
static int bind_port(const struct sockaddr *address, socklen_t len, bool listens, struct sockaddr_storage *bound)
{
	const int one = 1;
	socklen_t bound_len = sizeof(*bound);
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || (listens && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0))
		return fd;
	if (bind(fd, address, len) == 0 && getsockname(fd, (struct sockaddr *)bound, &bound_len) == 0 &&
	    (!listens || listen(fd, SF_COMM_PEERS_MAX) == 0))
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static doca_error_t bind_error(const struct sockaddr *address)
{
	char name[SF_COMM_ADDRESS_MAX];
	int error = errno;

	comm_address_name(address, name);
	SF_LOG_ERR("urom: cannot listen on %s: %s; give an address of this machine and a free port", name, strerror(error));
	return error == EADDRINUSE ? DOCA_ERROR_ALREADY_EXIST : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t sf_comm_listen(struct sf_comm *comm, const struct sockaddr *address, socklen_t len, const struct sf_comm_key *key,
			    const char *devices, struct sockaddr_storage *bound)
{
	struct comm_door *door = &comm->door;

	if (key == NULL && !comm_local_address(address)) {
		SF_LOG_ERR("urom: without a key the address of a service must be in 127.0.0.0/8");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	int fd = bind_port(address, len, key != NULL, bound);
	if (fd < 0)
		return bind_error(address);
	if (key == NULL) {
		door->reserved = fd;
		doca_error_t result = comm_local_listen((const struct sockaddr *)bound, door->name, &door->fd);
		return result == DOCA_SUCCESS ? watch_door(comm) : result;
	}
	door->fd = fd;
	door->has_key = true;
	door->key = *key;
	if (devices != NULL && strcmp(devices, "all") != 0)
		snprintf(door->devices, sizeof(door->devices), "%s", devices);
	return watch_door(comm);
}

doca_error_t sf_comm_listen_behind(struct sf_comm *comm, int fd)
{
	comm->door.fd = fd;
	comm->door.behind = true;
	return watch_door(comm);
}

void comm_door_close(struct sf_comm *comm)
{
	struct comm_door *door = &comm->door;

	if (door->fd >= 0)
		close(door->fd);
	if (door->name[0] != '\0')
		comm_local_remove(door->name);
	if (door->reserved >= 0)
		close(door->reserved);
	explicit_bzero(&door->key, sizeof(door->key));
	door->fd = door->reserved = -1;
	door->name[0] = '\0';
	door->paused = false;
}
