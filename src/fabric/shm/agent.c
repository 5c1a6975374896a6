/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/agent.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/agent_thread.h"
#include "fabric/shm/ring.h"
#include "fabric/shm/serve.h"

pthread_mutex_t sf_shm_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_shm_changed;

static doca_error_t agent_open(void);
static void agent_close(void);
static void agent_ready(void *ptr, uint32_t events);
static bool agent_tick(void);
static void agent_listen(bool on);

static const struct sf_agent_ops ops = {
	.name = "softfield-agent",
	.lock = &sf_shm_lock,
	.open = agent_open,
	.close = agent_close,
	.ready = agent_ready,
	.tick = agent_tick,
	.tick_ms = 10,
	.listen = agent_listen,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sf_agent_thread thread = SF_AGENT_THREAD_INIT(&ops);

static struct {
	struct sf_key id;
	struct shm_conn *listener; /* from here on guarded by sf_shm_lock */
	struct shm_conn *conns;	   /* open */
	struct shm_conn *closed;   /* the agent may still hold an event of them */
} agent;

static bool barriers;

const struct sf_key *sf_shm_agent_id(void)
{
	return &agent.id;
}
uint32_t sf_shm_generation(void)
{
	return thread.generation;
}
bool sf_shm_agent_has_barriers(void)
{
	return barriers;
}

void sf_shm_agent_barrier(void)
{
	SHM_FENCE(memory_order_seq_cst);
#ifdef SYS_membarrier
	if (barriers)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}

doca_error_t sf_shm_conn_open(int fd, int pid, void (*ready)(struct shm_conn *conn), void *owner, struct shm_conn **conn)
{
	struct shm_conn *c = calloc(1, sizeof(*c));
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};

	if (c == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (epoll_ctl(thread.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		SF_LOG_ERR_LIMITED("cannot wait on one more socket: %s", strerror(errno));
		free(c);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*c = (struct shm_conn){.fd = fd, .pid = pid, .open = true, .ready = ready, .owner = owner, .next = agent.conns};
	agent.conns = c;
	*conn = c;
	return DOCA_SUCCESS;
}

void sf_shm_conn_close(struct shm_conn *conn)
{
	struct shm_conn **at = &agent.conns;

	if (conn == NULL || !conn->open)
		return;
	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	epoll_ctl(thread.epoll, EPOLL_CTL_DEL, conn->fd, NULL);
	close(conn->fd);
	conn->open = false;
	conn->next = agent.closed;
	agent.closed = conn;
}

static void free_closed(void)
{
	while (agent.closed != NULL) {
		struct shm_conn *conn = agent.closed;

		agent.closed = conn->next;
		free(conn);
	}
}

void sf_shm_agent_wake(void)
{
	sf_agent_thread_wake(&thread);
}

static void accept_all(struct shm_conn *listener)
{
	for (int i = 0; i < SF_AGENT_ACCEPTS_MAX; i++) {
		int fd = sf_agent_accept(&thread, listener->fd), pid;

		if (fd < 0)
			return;
		if (sf_runtime_check_peer(fd, &pid) == DOCA_SUCCESS)
			sf_shm_serve_accepted(fd, pid);
		else
			close(fd);
	}
}

static void agent_ready(void *ptr, uint32_t events)
{
	struct shm_conn *conn = ptr;

	(void)events;
	if (conn->open && conn->listening)
		accept_all(conn);
	else if (conn->open)
		conn->ready(conn);
}

static void agent_listen(bool on)
{
	for (struct shm_conn *conn = agent.conns; conn != NULL; conn = conn->next) {
		struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = conn};

		if (conn->listening)
			epoll_ctl(thread.epoll, EPOLL_CTL_MOD, conn->fd, &event);
	}
}

bool sf_shm_agent_await(const struct shm_conn *conn, struct sf_liveness *answering, uint64_t limit_ns)
{
	uint64_t end_ns = sf_now_ns() + sf_liveness_interval(limit_ns);
	struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
	int pid = conn != NULL ? conn->pid : 0; /* the connection may be closed while this waits */
	struct pollfd unread = {.fd = conn != NULL ? conn->fd : -1, .events = POLLIN};

	/* It has answered, and our own agent is behind. */
	if (poll(&unread, 1, 0) == 1 && (unread.revents & POLLIN) != 0)
		sf_liveness_heard(answering);
	(void)pthread_cond_timedwait(&sf_shm_changed, &sf_shm_lock, &end);
	return !sf_liveness_lost(answering, pid, limit_ns);
}

static bool agent_tick(void)
{
	free_closed();
	bool timed = sf_shm_link_tick();

	return sf_shm_serve_tick() || timed;
}

static doca_error_t agent_open(void)
{
	int fd;
	doca_error_t error = sf_key_random(&agent.id);

	if (error == DOCA_SUCCESS)
		error = sf_runtime_listen(SF_SOCKET_AGENT, &agent.id, &fd);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_shm_lock);
	error = sf_shm_conn_open(fd, 0, NULL, NULL, &agent.listener);
	if (error == DOCA_SUCCESS)
		agent.listener->listening = true;
	pthread_mutex_unlock(&sf_shm_lock);
	if (error != DOCA_SUCCESS) {
		sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
		close(fd);
	}
	return error;
}

static void agent_close(void)
{
	sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
	pthread_mutex_lock(&sf_shm_lock);
	sf_shm_serve_end();
	while (agent.conns != NULL)
		sf_shm_conn_close(agent.conns);
	free_closed();
	pthread_mutex_unlock(&sf_shm_lock);
}

static void changed_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sf_shm_changed, &attr);
	pthread_condattr_destroy(&attr);
}

/* The child has the parent's descriptors, but not its thread. Left open they would hide the parent's death from peers. */
static void after_fork_child(void)
{
	sf_agent_thread_after_fork(&thread);
	for (struct shm_conn *conn = agent.conns; conn != NULL; conn = conn->next) {
		close(conn->fd);
		conn->open = false;
	}
	agent.conns = agent.closed = agent.listener = NULL; /* whoever inherited one may still look at it: not freed */
	sf_shm_child_after_fork();
	changed_init();
}

SF_FORK_LOCK(SF_FORK_AGENT, &sf_shm_lock, after_fork_child);

static __attribute__((constructor)) void life_lock_add(void)
{
	static struct sf_fork_handler life = {.rank = SF_FORK_AGENT_LIFE, .lock = &thread.life};

	sf_fork_add(&life);
}

static void first_use(void)
{
	changed_init();
#ifdef SYS_membarrier
	barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#endif
}

doca_error_t sf_shm_agent_hold(uint32_t *held)
{
	pthread_once(&once, first_use);
	return sf_agent_thread_hold(&thread, held);
}

void sf_shm_agent_release(uint32_t held)
{
	sf_agent_thread_release(&thread, held);
}
