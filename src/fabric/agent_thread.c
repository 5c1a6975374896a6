/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/agent_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"

#define STACK_SIZE (256 * 1024)
#define EVENTS_MAX 32 /* taken from the set at a time */
#define IDLE_MS (LOG_RATE_SECONDS * 1000)

/* A program that polls on a core of its own does not want the agent beside it. For the agent's thread, which inherits that core. */
static void leave_pinned_core(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return;
	memset(&cpus, 0xff, sizeof(cpus)); /* the kernel leaves out what the process's cpuset does not have */
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void drain(const struct sf_agent_thread *agent)
{
	uint64_t count;

	(void)!read(agent->wake, &count, sizeof(count));
}

static void spare_release(struct sf_agent_thread *agent)
{
	for (int i = 0; i < SF_AGENT_SPARE && agent->has_spare; i++)
		close(agent->spare[i]);
	agent->has_spare = false;
}

/* Opens all of them or none. */
static bool descriptors_open(const struct sf_agent_thread *agent, int *fds, int num)
{
	for (int i = 0; i < num; i++) {
		fds[i] = fcntl(agent->wake, F_DUPFD_CLOEXEC, 0);
		if (fds[i] >= 0)
			continue;

		int error = errno;

		while (i-- != 0)
			close(fds[i]);
		errno = error;
		return false;
	}
	return true;
}

static bool spare_take(struct sf_agent_thread *agent)
{
	agent->has_spare = descriptors_open(agent, agent->spare, SF_AGENT_SPARE);
	return agent->has_spare;
}

static bool has_room_for_one(const struct sf_agent_thread *agent)
{
	int fds[SF_AGENT_EACH];

	if (!descriptors_open(agent, fds, SF_AGENT_EACH))
		return false;
	for (int i = 0; i < SF_AGENT_EACH; i++)
		close(fds[i]);
	return true;
}

/* Returns whether connections are taken, or can be again. */
static bool look_for_room(struct sf_agent_thread *agent)
{
	if (agent->full && has_room_for_one(agent)) {
		agent->full = false;
		agent->ops->listen(true);
	}
	if (!agent->full && !agent->has_spare && spare_take(agent) && !has_room_for_one(agent))
		spare_release(agent);
	return !agent->full;
}

static void *run(void *arg)
{
	struct sf_agent_thread *agent = (struct sf_agent_thread *)arg;
	const struct sf_agent_ops *ops = agent->ops;
	struct epoll_event events[EVENTS_MAX];
	bool timed = false;

	leave_pinned_core();
	for (;;) {
		int num = epoll_wait(agent->epoll, events, EVENTS_MAX, timed ? ops->tick_ms : IDLE_MS);

		pthread_mutex_lock(ops->lock);
		if (agent->stop)
			break;
		for (int i = 0; i < num; i++) {
			if (events[i].data.ptr == NULL)
				drain(agent);
			else
				ops->ready(events[i].data.ptr, events[i].events);
		}
		timed = ops->tick();
		timed = !look_for_room(agent) || timed;
		pthread_mutex_unlock(ops->lock);
		sf_log_rate_report(false); /* whichever thread the lines were of */
	}
	pthread_mutex_unlock(ops->lock);
	return NULL;
}

static doca_error_t start_thread(struct sf_agent_thread *agent)
{
	pthread_attr_t attr;
	sigset_t all, before;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are not for this thread */

	int error = pthread_create(&agent->thread, &attr, run, agent);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error != 0) {
		SF_LOG_ERR("cannot start the agent's thread: %s", strerror(error));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_setname_np(agent->thread, agent->ops->name);
	return DOCA_SUCCESS;
}

static doca_error_t open_epoll(struct sf_agent_thread *agent)
{
	struct epoll_event event = {.events = EPOLLIN};

	agent->epoll = epoll_create1(EPOLL_CLOEXEC);
	agent->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (agent->epoll >= 0 && agent->wake >= 0 && epoll_ctl(agent->epoll, EPOLL_CTL_ADD, agent->wake, &event) == 0)
		return DOCA_SUCCESS;

	int error = errno;

	if (error == EMFILE || error == ENFILE) {
		SF_LOG_ERR("no descriptor is left for the agent: %s; raise the limit of open files (ulimit -n)", strerror(error));
		return DOCA_ERROR_FULL;
	}
	SF_LOG_ERR("cannot wait on sockets: %s", strerror(error));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void close_epoll(struct sf_agent_thread *agent)
{
	spare_release(agent);
	if (agent->epoll >= 0)
		close(agent->epoll);
	if (agent->wake >= 0)
		close(agent->wake);
	agent->epoll = agent->wake = -1;
}

static doca_error_t agent_start(struct sf_agent_thread *agent)
{
	bool opened = false;
	doca_error_t error = open_epoll(agent);

	agent->stop = agent->full = false;
	if (error == DOCA_SUCCESS && !spare_take(agent)) {
		SF_LOG_ERR("too few descriptors are left to take connections: %s; raise the limit of open files (ulimit -n)",
			   strerror(errno));
		error = DOCA_ERROR_FULL;
	}
	if (error == DOCA_SUCCESS) {
		error = agent->ops->open();
		opened = error == DOCA_SUCCESS;
	}
	if (error == DOCA_SUCCESS)
		error = start_thread(agent);
	if (error == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	if (opened)
		agent->ops->close();
	close_epoll(agent);
	return error;
}

static void agent_end(struct sf_agent_thread *agent)
{
	pthread_mutex_lock(agent->ops->lock);
	agent->stop = true;
	sf_agent_thread_wake(agent);
	pthread_mutex_unlock(agent->ops->lock);
	pthread_join(agent->thread, NULL);
	agent->ops->close();
	close_epoll(agent);
	sf_log_rate_report(true);
}

doca_error_t sf_agent_thread_hold(struct sf_agent_thread *agent, uint32_t *generation)
{
	doca_error_t error = DOCA_SUCCESS;

	pthread_mutex_lock(&agent->life);
	if (agent->holders == 0)
		error = agent_start(agent);
	if (error == DOCA_SUCCESS)
		agent->holders++;
	*generation = agent->generation;
	pthread_mutex_unlock(&agent->life);
	return error;
}

void sf_agent_thread_release(struct sf_agent_thread *agent, uint32_t generation)
{
	pthread_mutex_lock(&agent->life);
	if (generation == agent->generation && agent->holders != 0 && --agent->holders == 0)
		agent_end(agent);
	pthread_mutex_unlock(&agent->life);
}

void sf_agent_thread_wake(const struct sf_agent_thread *agent)
{
	const uint64_t one = 1;

	if (write(agent->wake, &one, sizeof(one)) < 0)
		return; /* full: it will wake */
}

void sf_agent_thread_after_fork(struct sf_agent_thread *agent)
{
	agent->generation++;
	if (agent->holders != 0)
		close_epoll(agent);
	agent->holders = 0;
}

static void become_full(struct sf_agent_thread *agent, int error)
{
	agent->full = true;
	spare_release(agent);
	agent->ops->listen(false);
	SF_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, 1,
		       "no more connections are taken: %s; whoever comes waits until there is room: raise the limit of open "
		       "files (ulimit -n)",
		       strerror(error));
}

int sf_agent_accept(struct sf_agent_thread *agent, int listening)
{
	if (agent->full) {
		agent->ops->listen(false); /* this one may have been opened since */
		return -1;
	}
	for (;;) {
		int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0 && !agent->full && !has_room_for_one(agent))
			become_full(agent, errno);
		if (fd >= 0)
			return fd;
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (agent->full || (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM))
			return -1;
		become_full(agent, errno);
	}
}
