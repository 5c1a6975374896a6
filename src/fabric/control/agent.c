/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/agent.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/accept.h"
#include "fabric/control/handshake.h"
#include "fabric/control/heartbeat.h"
#include "fabric/control/listener.h"
#include "fabric/control/net.h"
#include "fabric/control/nodes.h"
#include "fabric/control/runtime.h"

#define STACK_SIZE (256 * 1024)
#define EVENTS_MAX 32 /* handled per epoll_wait */
#define FAST_MS 5     /* interval of ticks, by pace */
#define SLOW_MS 50
#define IDLE_MS (LOG_RATE_SECONDS * 1000)

pthread_mutex_t sf_control_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_control_changed;

static struct {
	pthread_mutex_t life; /* taken before sf_control_lock */
	uint32_t holders;     /* guarded by life */
	uint32_t generation;  /* incremented in a forked child: objects of another generation belong to the parent */
	pthread_t thread;
	int epoll, wake; /* -1 while the agent is not held */
	bool stop;	 /* guarded by sf_control_lock */
	struct sf_key id, token;
} agent = {.life = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .wake = -1};

const struct sf_key *sf_control_id(void)
{
	return &agent.id;
}

const struct sf_key *sf_control_token(void)
{
	return &agent.token;
}

uint32_t sf_control_generation(void)
{
	return agent.generation;
}

int sf_control_epoll(void)
{
	return agent.epoll;
}

void sf_control_wake(void)
{
	const uint64_t one = 1;

	if (write(agent.wake, &one, sizeof(one)) < 0)
		return; /* the eventfd is full: it wakes anyway */
}

bool sf_control_await(const struct sf_channel *channel, struct sf_liveness *answering, uint64_t limit_ns)
{
	const uint64_t end_ns = sf_now_ns() + sf_liveness_interval(limit_ns);
	const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
	const int pid = channel != NULL ? channel->pid : 0; /* the channel may be closed while this waits */
	struct pollfd unread = {.fd = channel != NULL ? channel->stream.fd : -1, .events = POLLIN};

	assert(sf_is_locked(&sf_control_lock));
	/* The answer is in the socket, and our own agent has not read it yet. */
	if (poll(&unread, 1, 0) == 1 && (unread.revents & POLLIN) != 0)
		sf_liveness_heard(answering);
	(void)pthread_cond_timedwait(&sf_control_changed, &sf_control_lock, &end);
	return !sf_liveness_lost(answering, pid, limit_ns);
}

/* ---- the thread ---- */

/* A program that polls on a pinned core must not share it with the agent, whose thread inherits the affinity. */
static void leave_pinned_core(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return;
	memset(&cpus, 0xff, sizeof(cpus)); /* the kernel ignores CPUs outside the process's cpuset */
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void wake_drain(void)
{
	uint64_t count;

	(void)!read(agent.wake, &count, sizeof(count));
}

static enum sf_pace pace_faster(enum sf_pace a, enum sf_pace b)
{
	return a > b ? a : b;
}

static enum sf_pace agent_tick(void)
{
	const uint64_t now = sf_now_ns();
	enum sf_pace pace = sf_channels_tick(now);

	pace = pace_faster(sf_handshakes_tick(now), pace);
	pace = pace_faster(sf_nodes_tick(), pace);
	for (const struct sf_control_provider *p = sf_control_providers(); p != NULL; p = p->next)
		pace = pace_faster(p->tick != NULL && p->tick(now) ? SF_PACE_FAST : SF_PACE_IDLE, pace);
	return pace_faster(sf_accept_tick(), pace);
}

/* Milliseconds until the next tick. due_ns: latest time of other work, or 0. */
static int wait_ms(enum sf_pace pace, uint64_t due_ns)
{
	static const uint64_t pace_ms[] = {[SF_PACE_IDLE] = IDLE_MS, [SF_PACE_SLOW] = SLOW_MS, [SF_PACE_FAST] = FAST_MS};
	const uint64_t now = sf_now_ns();
	uint64_t wait = pace_ms[pace];

	if (due_ns != 0 && due_ns <= now)
		return 0;
	if (due_ns != 0 && (due_ns - now) / 1000000 < wait)
		wait = (due_ns - now) / 1000000 + 1;
	return (int)wait;
}

static void *agent_main(void *arg)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t due_ns = 0;
	enum sf_pace pace = SF_PACE_IDLE;

	(void)arg;
	leave_pinned_core();
	for (;;) {
		int num = epoll_wait(agent.epoll, events, EVENTS_MAX, wait_ms(pace, due_ns));

		pthread_mutex_lock(&sf_control_lock);
		if (agent.stop)
			break;
		for (int i = 0; i < num; i++) {
			if (events[i].data.ptr == NULL)
				wake_drain();
			else
				sf_channel_event(events[i].data.ptr, events[i].events);
		}
		if (num < EVENTS_MAX)
			sf_channels_round();
		pace = agent_tick();
		due_ns = sf_heartbeats_tick(sf_now_ns());
		pthread_mutex_unlock(&sf_control_lock);
		sf_log_rate_report(false); /* lines of all threads */
	}
	pthread_mutex_unlock(&sf_control_lock);
	return NULL;
}

static doca_error_t start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals must not run on this thread */

	int error = pthread_create(&agent.thread, &attr, agent_main, NULL);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error != 0) {
		SF_LOG_ERR("cannot start the agent thread: %s", strerror(error));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_setname_np(agent.thread, "softfield-agent");
	return DOCA_SUCCESS;
}

/* ---- its life ---- */

static doca_error_t open_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	agent.epoll = epoll_create1(EPOLL_CLOEXEC);
	agent.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (agent.epoll >= 0 && agent.wake >= 0 && epoll_ctl(agent.epoll, EPOLL_CTL_ADD, agent.wake, &event) == 0)
		return DOCA_SUCCESS;

	int error = errno;

	if (error == EMFILE || error == ENFILE) {
		SF_LOG_ERR("no descriptor is left for the agent: %s; raise the limit of open files (ulimit -n)", strerror(error));
		return DOCA_ERROR_FULL;
	}
	SF_LOG_ERR("cannot wait on sockets: %s", strerror(error));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void close_epoll(void)
{
	sf_accept_end();
	if (agent.epoll >= 0)
		close(agent.epoll);
	if (agent.wake >= 0)
		close(agent.wake);
	agent.epoll = agent.wake = -1;
}

static doca_error_t socket_open(void)
{
	struct sf_channel *channel;
	int fd;
	doca_error_t error = sf_key_random(&agent.id);

	if (error == DOCA_SUCCESS)
		error = sf_key_random(&agent.token);
	if (error == DOCA_SUCCESS)
		error = sf_runtime_listen(SF_SOCKET_AGENT, &agent.id, &fd);
	if (error != DOCA_SUCCESS)
		return error;
	pthread_mutex_lock(&sf_control_lock);
	error = sf_channel_open(fd, NULL, &channel);
	if (error == DOCA_SUCCESS)
		sf_channel_listen(channel);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
		close(fd);
	}
	return error;
}

static void sockets_close(void)
{
	sf_runtime_unlink(SF_SOCKET_AGENT, &agent.id);
	pthread_mutex_lock(&sf_control_lock);
	sf_net_forget();
	sf_channels_close();
	pthread_mutex_unlock(&sf_control_lock);
}

static doca_error_t agent_start(void)
{
	bool opened = false;
	doca_error_t error = open_epoll();

	agent.stop = false;
	if (error == DOCA_SUCCESS && !sf_accept_begin()) {
		SF_LOG_ERR("too few descriptors are left to accept connections: %s; raise the limit of open files (ulimit -n)",
			   strerror(errno));
		error = DOCA_ERROR_FULL;
	}
	if (error == DOCA_SUCCESS) {
		error = socket_open();
		opened = error == DOCA_SUCCESS;
	}
	if (error == DOCA_SUCCESS)
		error = start_thread();
	if (error == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	if (opened)
		sockets_close();
	close_epoll();
	return error;
}

static void agent_end(void)
{
	pthread_mutex_lock(&sf_control_lock);
	agent.stop = true;
	sf_control_wake();
	pthread_mutex_unlock(&sf_control_lock);
	assert(agent.holders == 0);
	pthread_join(agent.thread, NULL);
	sockets_close();
	close_epoll();
	sf_log_rate_report(true);
}

doca_error_t sf_control_hold(uint32_t *generation)
{
	doca_error_t error = DOCA_SUCCESS;

	pthread_mutex_lock(&agent.life);
	if (agent.holders == 0)
		error = agent_start();
	if (error == DOCA_SUCCESS)
		agent.holders++;
	*generation = agent.generation;
	pthread_mutex_unlock(&agent.life);
	return error;
}

void sf_control_release(uint32_t generation)
{
	pthread_mutex_lock(&agent.life);
	if (generation == agent.generation && agent.holders != 0 && --agent.holders == 0)
		agent_end();
	pthread_mutex_unlock(&agent.life);
}

/* ---- fork ---- */

static void changed_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sf_control_changed, &attr);
	pthread_condattr_destroy(&attr);
}

/* The child has the parent's descriptors, but not its thread. If they stayed open, peers would not detect the parent's
 * death. */
static void after_fork_child(void)
{
	agent.generation++;
	if (agent.holders != 0)
		close_epoll();
	agent.holders = 0;
	sf_channels_after_fork();
	sf_net_forget();
	sf_handshakes_after_fork();
	sf_listeners_after_fork();
	for (const struct sf_control_provider *p = sf_control_providers(); p != NULL; p = p->next)
		p->after_fork();
	changed_init();
}

SF_FORK_LOCK(SF_FORK_AGENT, &sf_control_lock, after_fork_child);

static __attribute__((constructor)) void agent_init(void)
{
	static struct sf_fork_handler life = {.rank = SF_FORK_AGENT_LIFE, .lock = &agent.life};

	changed_init();
	sf_fork_add(&life);
}
