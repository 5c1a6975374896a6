/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/agent.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/serve.h"

#define EVENTS_MAX 32
#define TICK_MS 10
#define STACK_SIZE (256 * 1024)
#define ACCEPTS_MAX 64 /* connections taken from one socket in a row */

pthread_mutex_t sf_shm_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_shm_changed = PTHREAD_COND_INITIALIZER;

/* Order of locks: life_lock, then sf_shm_lock. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct {
	uint32_t holders; /* guarded by life_lock */
	pthread_t thread;
	struct sf_key id;
	int epoll, wake;
	bool stop; /* from here on guarded by sf_shm_lock */
	struct shm_conn *listener;
	struct shm_conn *conns;	 /* open */
	struct shm_conn *closed; /* the agent may still hold an event of them */
} agent;

static uint32_t generation;
static bool barriers;

uint64_t sf_shm_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

const struct sf_key *sf_shm_agent_id(void)
{
	return &agent.id;
}
uint32_t sf_shm_generation(void)
{
	return generation;
}
bool sf_shm_agent_has_barriers(void)
{
	return barriers;
}

doca_error_t sf_shm_conn_open(int fd, int pid, void (*ready)(struct shm_conn *conn), void *owner, struct shm_conn **conn)
{
	struct shm_conn *c = calloc(1, sizeof(*c));
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};

	if (c == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		SF_LOG_ERR("cannot wait on one more socket: %s", strerror(errno));
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
	epoll_ctl(agent.epoll, EPOLL_CTL_DEL, conn->fd, NULL);
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
	sf_shm_eventfd_write(agent.wake);
}

static void accept_all(struct shm_conn *listener)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), pid;

		if (fd < 0 && errno == ECONNABORTED)
			continue;
		if (fd < 0) {
			if (errno != EAGAIN && errno != EINTR)
				SF_LOG_WARN("cannot take a connection: %s; raise the limit of open files", strerror(errno));
			return;
		}
		if (sf_runtime_check_peer(fd, &pid) == DOCA_SUCCESS)
			sf_shm_serve_accepted(fd, pid);
		else
			close(fd);
	}
}

static void handle(const struct epoll_event *events, int num)
{
	for (int i = 0; i < num; i++) {
		struct shm_conn *conn = events[i].data.ptr;

		if (conn == NULL) {
			uint64_t count;

			(void)!read(agent.wake, &count, sizeof(count));
		} else if (conn->open && conn->listening) {
			accept_all(conn);
		} else if (conn->open) {
			conn->ready(conn);
		}
	}
}

static void *agent_run(void *unused)
{
	struct epoll_event events[EVENTS_MAX];
	bool timed = false;

	pthread_setname_np(pthread_self(), "softfield-agent");
	for (;;) {
		int num = epoll_wait(agent.epoll, events, EVENTS_MAX, timed ? TICK_MS : -1);

		pthread_mutex_lock(&sf_shm_lock);
		if (agent.stop)
			break;
		handle(events, num);
		free_closed();
		timed = sf_shm_link_tick(sf_shm_now_ns());
		pthread_mutex_unlock(&sf_shm_lock);
	}
	pthread_mutex_unlock(&sf_shm_lock);
	return unused;
}

/* A program that polls on a core of its own does not want the agent beside it. */
static void leave_pinned_core(pthread_attr_t *attr)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return;
	memset(&cpus, 0xff, sizeof(cpus)); /* the kernel leaves out what the process's cpuset does not have */
	pthread_attr_setaffinity_np(attr, sizeof(cpus), &cpus);
}

static doca_error_t start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_attr_init(&attr);
	leave_pinned_core(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
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

static doca_error_t open_socket(void)
{
	int fd;
	doca_error_t error = sf_runtime_listen(SF_SOCKET_AGENT, &agent.id, &fd);

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

static void close_sockets(void)
{
	pthread_mutex_lock(&sf_shm_lock);
	sf_shm_serve_end();
	while (agent.conns != NULL)
		sf_shm_conn_close(agent.conns);
	free_closed();
	pthread_mutex_unlock(&sf_shm_lock);
}

static doca_error_t agent_start(void)
{
	doca_error_t error = sf_key_random(&agent.id);

	if (error != DOCA_SUCCESS)
		return error;
	agent.stop = false;
	error = open_epoll();
	if (error != DOCA_SUCCESS)
		goto close_epoll;
	error = open_socket();
	if (error != DOCA_SUCCESS)
		goto close_epoll;
	error = start_thread();
	if (error == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
	close_sockets();
close_epoll:
	close_epoll();
	return error;
}

static void agent_stop(void)
{
	sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
	pthread_mutex_lock(&sf_shm_lock);
	agent.stop = true;
	sf_shm_agent_wake();
	pthread_mutex_unlock(&sf_shm_lock);
	pthread_join(agent.thread, NULL);
	close_sockets();
	close_epoll();
}

static void before_fork(void)
{
	pthread_mutex_lock(&life_lock);
	pthread_mutex_lock(&sf_shm_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&sf_shm_lock);
	pthread_mutex_unlock(&life_lock);
}

/* The child has the parent's descriptors, but not its thread. Left open they would hide the parent's death from peers. */
static void after_fork_child(void)
{
	generation++;
	if (agent.holders != 0) {
		close_epoll();
		for (struct shm_conn *conn = agent.conns; conn != NULL; conn = conn->next) {
			close(conn->fd);
			conn->open = false;
		}
	}
	agent.conns = agent.closed = agent.listener = NULL; /* whoever inherited one may still look at it: not freed */
	agent.holders = 0;
	sf_shm_child_after_fork();
	pthread_cond_init(&sf_shm_changed, NULL);
	pthread_mutex_unlock(&sf_shm_lock);
	pthread_mutex_unlock(&life_lock);
}

static void first_use(void)
{
	agent.epoll = agent.wake = -1;
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
#ifdef SYS_membarrier
	barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#endif
}

doca_error_t sf_shm_agent_hold(uint32_t *held)
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

void sf_shm_agent_release(uint32_t held)
{
	pthread_mutex_lock(&life_lock);
	if (held == generation && agent.holders != 0 && --agent.holders == 0)
		agent_stop();
	pthread_mutex_unlock(&life_lock);
}
