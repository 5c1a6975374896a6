/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/agent_thread.h"

#include <errno.h>
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

/* A program that polls on a core of its own does not want the agent beside it. */
static void leave_pinned_core(pthread_attr_t *attr)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return;
	memset(&cpus, 0xff, sizeof(cpus)); /* the kernel leaves out what the process's cpuset does not have */
	pthread_attr_setaffinity_np(attr, sizeof(cpus), &cpus);
}

static void drain(const struct sf_agent_thread *agent)
{
	uint64_t count;

	(void)!read(agent->wake, &count, sizeof(count));
}

static void *run(void *arg)
{
	struct sf_agent_thread *agent = (struct sf_agent_thread *)arg;
	const struct sf_agent_ops *ops = agent->ops;
	struct epoll_event events[EVENTS_MAX];
	bool timed = false;

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
	leave_pinned_core(&attr);
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
	SF_LOG_ERR("cannot wait on sockets: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void close_epoll(struct sf_agent_thread *agent)
{
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

	agent->stop = false;
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

int sf_agent_accept(int listening)
{
	for (;;) {
		int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0 || (errno != ECONNABORTED && errno != EINTR)) {
			if (fd < 0 && errno != EAGAIN)
				SF_LOG_WARN_LIMITED("cannot take a connection: %s; raise the limit of open files",
						    strerror(errno));
			return fd;
		}
	}
}
