/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/agent.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define EVENTS_MAX 32
#define TICK_MS 5
#define STACK_SIZE (256 * 1024)
#define ACCEPTS_MAX 64 /* connections taken from one socket in a row */
#define BACKLOG 1024
#define ALIVE_IDLE_S 1 /* a machine that says nothing is asked after this, */
#define ALIVE_TRIES 3  /* and dead after so many questions a second apart */

pthread_mutex_t sf_verbs_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_verbs_changed = PTHREAD_COND_INITIALIZER;

/* Order of locks: life_lock, then sf_verbs_lock. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
	uint32_t holders; /* guarded by life_lock */
	pthread_t thread;
	struct sf_key id;
	char reach[VB_REACH_SIZE];
	int epoll, wake;
	bool stop; /* from here on guarded by sf_verbs_lock */
	struct vb_conn *conns;	/* open */
	struct vb_conn *closed; /* the agent may still hold an event of them */
} agent;

static uint32_t generation;

uint64_t sf_verbs_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

const struct sf_key *sf_verbs_agent_id(void)
{
	return &agent.id;
}

const char *sf_verbs_agent_reach(void)
{
	return agent.reach;
}

uint32_t sf_verbs_generation(void)
{
	return generation;
}

/* ---- connections ---- */

struct vb_conn *sf_verbs_conn_open(int fd, void *owner)
{
	struct vb_conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = conn};

	if (conn == NULL)
		return NULL;
	if (epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		SF_LOG_ERR("cannot wait on one more socket: %s", strerror(errno));
		free(conn);
		return NULL;
	}
	conn->fd = fd;
	conn->open = true;
	conn->owner = owner;
	conn->next = agent.conns;
	if (agent.conns != NULL)
		agent.conns->previous = conn;
	agent.conns = conn;
	return conn;
}

void sf_verbs_conn_close(struct vb_conn *conn)
{
	if (conn == NULL || !conn->open)
		return;
	conn->open = false;
	epoll_ctl(agent.epoll, EPOLL_CTL_DEL, conn->fd, NULL);
	if (!conn->keep_fd)
		close(conn->fd);
	if (conn->previous != NULL)
		conn->previous->next = conn->next;
	else
		agent.conns = conn->next;
	if (conn->next != NULL)
		conn->next->previous = conn->previous;
	conn->next = agent.closed;
	agent.closed = conn;
}

static void free_closed(void)
{
	while (agent.closed != NULL) {
		struct vb_conn *conn = agent.closed;

		agent.closed = conn->next;
		free(conn->out);
		free(conn);
	}
}

/* TCP is still connecting, or the peer is behind: one message waits here. */
static bool conn_keep(struct vb_conn *conn, const void *msg, size_t size)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLOUT, .data.ptr = conn};

	if (conn->out != NULL)
		return false;
	conn->out = malloc(size);
	if (conn->out == NULL)
		return false;
	memcpy(conn->out, msg, size);
	conn->out_len = size;
	return epoll_ctl(agent.epoll, EPOLL_CTL_MOD, conn->fd, &event) == 0;
}

static void conn_send_kept(struct vb_conn *conn)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = conn};
	ssize_t n = send(conn->fd, conn->out, conn->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n != (ssize_t)conn->out_len)
		(void)shutdown(conn->fd, SHUT_RDWR);
	free(conn->out);
	conn->out = NULL;
	epoll_ctl(agent.epoll, EPOLL_CTL_MOD, conn->fd, &event);
}

bool sf_verbs_conn_send(struct vb_conn *conn, enum vb_msg_kind kind, void *msg, size_t size, uint32_t count)
{
	struct vb_msg *head = msg;

	if (conn == NULL || !conn->open)
		return false;
	*head = vb_msg_head(kind, size, count);
	if (send(conn->fd, msg, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size)
		return true;
	if ((errno == EAGAIN || errno == ENOTCONN) && conn_keep(conn, msg, size))
		return true;
	(void)shutdown(conn->fd, SHUT_RDWR); /* the agent finds it ended */
	return false;
}

static void conn_end(struct vb_conn *conn)
{
	void (*ended)(struct vb_conn *) = conn->ended;

	sf_verbs_conn_close(conn);
	if (ended != NULL)
		ended(conn);
}

/* Hands out the messages that are there. False: what is there is none. */
static bool conn_hand_out(struct vb_conn *conn)
{
	while (conn->open && conn->have != 0) {
		size_t size = sf_verbs_msg_size(conn->bytes, conn->have);
		union vb_msg_any msg;

		if (size > VB_MSG_SIZE_MAX)
			return false;
		if (size == 0 || size > conn->have)
			return true;
		if (!sf_verbs_msg_check(conn->bytes, size))
			return false;
		memset(&msg, 0, sizeof(msg));
		memcpy(&msg, conn->bytes, size);
		conn->have -= size;
		memmove(conn->bytes, conn->bytes + size, conn->have);
		if (conn->message != NULL)
			conn->message(conn, &msg);
		else
			sf_verbs_serve(conn, &msg);
	}
	return true;
}

static void conn_read(struct vb_conn *conn)
{
	while (conn->open) {
		ssize_t n = recv(conn->fd, conn->bytes + conn->have, sizeof(conn->bytes) - conn->have, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0 && errno == ECONNRESET && !conn->reset) {
			conn->reset = true; /* it left something unread; what it said before comes after this */
			continue;
		}
		if (n <= 0) {
			conn_end(conn);
			return;
		}
		conn->have += (size_t)n;
		if (!conn_hand_out(conn)) {
			SF_LOG_WARN("a peer's message is malformed; its connection is closed");
			conn_end(conn);
			return;
		}
	}
}

/* ---- TCP, for other machines ---- */

static void tcp_options(int fd)
{
	const int on = 1, idle = ALIVE_IDLE_S, tries = ALIVE_TRIES;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
}

/* HOST:PORT, where an IPv6 address is in brackets; *list is the caller's to free. Numbers only: a name service may block. */
static bool reach_parse(const char *reach, bool passive, struct addrinfo **list)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)};
	char host[VB_REACH_SIZE];
	const char *port = strrchr(reach, ':');
	size_t len = port != NULL ? (size_t)(port - reach) : strlen(reach);

	if (len == 0 || len >= sizeof(host))
		return false;
	memcpy(host, reach, len);
	host[len] = '\0';
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		memmove(host, host + 1, len - 1);
	}
	return getaddrinfo(host, port != NULL ? port + 1 : "0", &hints, list) == 0;
}

static doca_error_t tcp_connect(const char *reach, int *fd)
{
	struct addrinfo *address;

	if (!reach_parse(reach, false, &address)) {
		SF_LOG_ERR("%s is no address of a machine: it is to be HOST:PORT in numbers", reach);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	int error = *fd < 0 ? errno : connect(*fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;

	freeaddrinfo(address);
	if (error == 0 || error == EINPROGRESS) {
		tcp_options(*fd);
		return DOCA_SUCCESS;
	}
	if (*fd >= 0)
		close(*fd);
	return error == ECONNREFUSED ? DOCA_ERROR_NOT_FOUND : sf_error_from_errno(error);
}

doca_error_t sf_verbs_agent_connect(enum sf_socket_kind kind, const struct sf_key *key, const char *reach, int *fd)
{
	int pid;

	if (reach[0] != '\0' && strcmp(reach, agent.reach) != 0)
		return tcp_connect(reach, fd);
	return sf_runtime_connect(kind, key, fd, &pid);
}

/* ---- the thread ---- */

void sf_verbs_agent_wake(void)
{
	uint64_t one = 1;

	if (write(agent.wake, &one, sizeof(one)) < 0)
		return; /* full: it will wake */
}

static void accept_all(struct vb_conn *listener)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), family = AF_UNIX, pid;
		socklen_t len = sizeof(family);

		if (fd < 0 && errno == ECONNABORTED)
			continue;
		if (fd < 0) {
			if (errno != EAGAIN && errno != EINTR)
				SF_LOG_WARN("cannot take a connection: %s; raise the limit of open files", strerror(errno));
			return;
		}
		(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
		if (family != AF_UNIX)
			tcp_options(fd);
		if ((family == AF_UNIX && sf_runtime_check_peer(fd, &pid) != DOCA_SUCCESS) ||
		    sf_verbs_conn_open(fd, NULL) == NULL)
			close(fd);
	}
}

void sf_verbs_conn_listen(struct vb_conn *conn)
{
	conn->readable = accept_all;
}

static void handle(const struct epoll_event *events, int num)
{
	for (int i = 0; i < num; i++) {
		struct vb_conn *conn = events[i].data.ptr;

		if (conn == NULL) {
			uint64_t count;

			(void)!read(agent.wake, &count, sizeof(count));
		} else if (conn->open && conn->readable != NULL) {
			conn->readable(conn);
		} else if (conn->open) {
			if (conn->out != NULL && (events[i].events & EPOLLOUT) != 0)
				conn_send_kept(conn);
			if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0)
				conn_read(conn);
		}
	}
}

static void *agent_run(void *unused)
{
	struct epoll_event events[EVENTS_MAX];
	bool timed = false;

	pthread_setname_np(pthread_self(), "softfield-verbs");
	for (;;) {
		int num = epoll_wait(agent.epoll, events, EVENTS_MAX, timed ? TICK_MS : -1);

		pthread_mutex_lock(&sf_verbs_lock);
		if (agent.stop)
			break;
		handle(events, num);
		free_closed();
		timed = sf_verbs_links_tick(sf_verbs_now_ns());
		timed = sf_verbs_imports_tick() || timed;
		pthread_mutex_unlock(&sf_verbs_lock);
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	return unused;
}

static doca_error_t start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	cpu_set_t cpus;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1) {
		memset(&cpus, 0xff, sizeof(cpus)); /* a program that polls on a core of its own does not want the agent there */
		pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are not for this thread */

	int error = pthread_create(&agent.thread, &attr, agent_run, NULL);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot start the agent's thread: %s", strerror(error));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t open_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	agent.epoll = epoll_create1(EPOLL_CLOEXEC);
	agent.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (agent.epoll >= 0 && agent.wake >= 0 && epoll_ctl(agent.epoll, EPOLL_CTL_ADD, agent.wake, &event) == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot wait on sockets: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void close_epoll(void)
{
	if (agent.epoll >= 0)
		close(agent.epoll);
	if (agent.wake >= 0)
		close(agent.wake);
	agent.epoll = agent.wake = -1;
}

/* The socket is the agent's from here on. */
static doca_error_t listen_on(int fd)
{
	struct vb_conn *conn;

	pthread_mutex_lock(&sf_verbs_lock);
	conn = sf_verbs_conn_open(fd, NULL);
	if (conn != NULL)
		sf_verbs_conn_listen(conn);
	pthread_mutex_unlock(&sf_verbs_lock);
	if (conn != NULL)
		return DOCA_SUCCESS;
	close(fd);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* SOFTFIELD_VERBS_LISTEN: nothing listens on a network unless told to. */
static doca_error_t open_tcp(void)
{
	const char *wanted = getenv("SOFTFIELD_VERBS_LISTEN");
	struct addrinfo *address = NULL;
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	const int on = 1;
	int fd = -1;

	agent.reach[0] = '\0';
	if (wanted == NULL || wanted[0] == '\0')
		return DOCA_SUCCESS;
	if (!reach_parse(wanted, true, &address)) {
		SF_LOG_ERR("SOFTFIELD_VERBS_LISTEN is %s: it is to be an address of this machine, HOST or HOST:PORT, in numbers", wanted);
		return DOCA_ERROR_BAD_CONFIG;
	}
	fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
	    getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
		SF_LOG_ERR("cannot listen on %s (SOFTFIELD_VERBS_LISTEN): %s", wanted, strerror(errno));
		freeaddrinfo(address);
		if (fd >= 0)
			close(fd);
		return DOCA_ERROR_BAD_CONFIG;
	}
	freeaddrinfo(address);
	(void)snprintf(agent.reach, sizeof(agent.reach), strchr(host, ':') != NULL ? "[%.50s]:%.5s" : "%.50s:%.5s", host, port);
	return listen_on(fd);
}

static doca_error_t open_sockets(void)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_VERBS_AGENT, &agent.id, &fd);

	if (error == DOCA_SUCCESS)
		error = listen_on(fd);
	if (error == DOCA_SUCCESS)
		error = open_tcp();
	return error;
}

static void close_sockets(void)
{
	pthread_mutex_lock(&sf_verbs_lock);
	while (agent.conns != NULL)
		sf_verbs_conn_close(agent.conns);
	free_closed();
	pthread_mutex_unlock(&sf_verbs_lock);
}

static doca_error_t agent_start(void)
{
	doca_error_t error = sf_key_random(&agent.id);

	if (error != DOCA_SUCCESS)
		return error;
	agent.stop = false;
	error = open_epoll();
	if (error == DOCA_SUCCESS)
		error = open_sockets();
	if (error == DOCA_SUCCESS)
		error = start_thread();
	if (error == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	sf_runtime_unlink(SF_SOCKET_VERBS_AGENT, &agent.id);
	close_sockets();
	close_epoll();
	return error;
}

static void agent_stop(void)
{
	sf_runtime_unlink(SF_SOCKET_VERBS_AGENT, &agent.id);
	pthread_mutex_lock(&sf_verbs_lock);
	agent.stop = true;
	sf_verbs_agent_wake();
	pthread_mutex_unlock(&sf_verbs_lock);
	pthread_join(agent.thread, NULL);
	close_sockets();
	close_epoll();
}

/* ---- fork ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&life_lock);
	pthread_mutex_lock(&sf_verbs_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&sf_verbs_lock);
	pthread_mutex_unlock(&life_lock);
}

/* The child has the parent's descriptors, but not its thread. Left open they would hide the parent's death from peers. */
static void after_fork_child(void)
{
	generation++;
	if (agent.holders != 0) {
		close_epoll();
		for (struct vb_conn *conn = agent.conns; conn != NULL; conn = conn->next) {
			if (!conn->keep_fd)
				close(conn->fd);
			conn->open = false;
		}
	}
	agent.conns = agent.closed = NULL; /* whoever inherited one may still look at it: not freed */
	agent.holders = 0;
	sf_verbs_links_after_fork();
	pthread_cond_init(&sf_verbs_changed, NULL);
	pthread_mutex_unlock(&sf_verbs_lock);
	pthread_mutex_unlock(&life_lock);
}

static void first_use(void)
{
	agent.epoll = agent.wake = -1;
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

doca_error_t sf_verbs_agent_hold(uint32_t *held)
{
	doca_error_t error = DOCA_SUCCESS;

	pthread_once(&once, first_use);
	pthread_mutex_lock(&life_lock);
	if (agent.holders == 0)
		error = agent_start();
	if (error == DOCA_SUCCESS)
		agent.holders++;
	*held = generation;
	pthread_mutex_unlock(&life_lock);
	return error;
}

void sf_verbs_agent_release(uint32_t held)
{
	pthread_mutex_lock(&life_lock);
	if (held == generation && agent.holders != 0 && --agent.holders == 0)
		agent_stop();
	pthread_mutex_unlock(&life_lock);
}
