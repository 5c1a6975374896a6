/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/agent.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/agent_thread.h"
#include "fabric/verbs/net.h"

#define TICK_MS 5

pthread_mutex_t sf_verbs_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_verbs_changed = PTHREAD_COND_INITIALIZER;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sf_agent_thread thread = SF_AGENT_THREAD_INIT;

static struct {
	struct sf_key id, token;
	bool stop; /* GUARDED_BY(sf_verbs_lock) */
} agent;

const struct sf_key *sf_verbs_agent_id(void)
{
	return &agent.id;
}

const struct sf_key *sf_verbs_agent_token(void)
{
	return &agent.token;
}

uint32_t sf_verbs_generation(void)
{
	return thread.generation;
}

void sf_verbs_agent_wake(void)
{
	sf_agent_thread_wake(&thread);
}

int sf_verbs_epoll(void)
{
	return thread.epoll;
}

static void handle(const struct epoll_event *events, int num)
{
	for (int i = 0; i < num; i++) {
		if (events[i].data.ptr == NULL)
			sf_agent_thread_drain(&thread);
		else
			sf_verbs_conn_event(events[i].data.ptr, events[i].events);
	}
}

static void *agent_run(void *unused)
{
	struct epoll_event events[SF_AGENT_EVENTS_MAX];
	bool timed = false;

	for (;;) {
		int num = epoll_wait(thread.epoll, events, SF_AGENT_EVENTS_MAX, timed ? TICK_MS : -1);
		uint64_t now;

		pthread_mutex_lock(&sf_verbs_lock);
		if (agent.stop)
			break;
		handle(events, num);
		now = sf_now_ns();
		timed = sf_verbs_conns_tick(now);
		timed = sf_verbs_links_tick(now) || timed;
		timed = sf_verbs_imports_tick() || timed;
		pthread_mutex_unlock(&sf_verbs_lock);
	}
	pthread_mutex_unlock(&sf_verbs_lock);
	return unused;
}

static doca_error_t agent_open(void)
{
	int fd;
	struct vb_conn *conn;
	doca_error_t error = sf_verbs_net_check();

	if (error == DOCA_SUCCESS)
		error = sf_key_random(&agent.id);
	if (error == DOCA_SUCCESS)
		error = sf_key_random(&agent.token);
	if (error == DOCA_SUCCESS)
		error = sf_runtime_listen(SF_SOCKET_VERBS_AGENT, &agent.id, &fd);
	if (error != DOCA_SUCCESS)
		return error;
	agent.stop = false;
	pthread_mutex_lock(&sf_verbs_lock);
	conn = sf_verbs_conn_open(fd, NULL);
	if (conn != NULL)
		sf_verbs_conn_listen(conn);
	pthread_mutex_unlock(&sf_verbs_lock);
	if (conn != NULL)
		return DOCA_SUCCESS;
	sf_runtime_unlink(SF_SOCKET_VERBS_AGENT, &agent.id);
	close(fd);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

static void agent_stop(void)
{
	pthread_mutex_lock(&sf_verbs_lock);
	agent.stop = true;
	sf_verbs_agent_wake();
	pthread_mutex_unlock(&sf_verbs_lock);
}

static void agent_close(void)
{
	sf_runtime_unlink(SF_SOCKET_VERBS_AGENT, &agent.id);
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_net_forget();
	sf_verbs_conns_close();
	pthread_mutex_unlock(&sf_verbs_lock);
}

static const struct sf_agent_life life = {
	.name = "softfield-verbs", .open = agent_open, .run = agent_run, .stop = agent_stop, .close = agent_close};

/* ---- fork ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&thread.life);
	pthread_mutex_lock(&sf_verbs_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&sf_verbs_lock);
	pthread_mutex_unlock(&thread.life);
}

/* The child has the parent's descriptors, but not its thread. Left open they would hide the parent's death from peers. */
static void after_fork_child(void)
{
	sf_agent_thread_after_fork(&thread);
	sf_verbs_conns_after_fork();
	sf_verbs_net_forget();
	sf_verbs_links_after_fork();
	sf_verbs_listeners_after_fork();
	pthread_cond_init(&sf_verbs_changed, NULL);
	pthread_mutex_unlock(&sf_verbs_lock);
	pthread_mutex_unlock(&thread.life);
}

static void first_use(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

doca_error_t sf_verbs_agent_hold(uint32_t *held)
{
	pthread_once(&once, first_use);
	return sf_agent_thread_hold(&thread, &life, held);
}

void sf_verbs_agent_release(uint32_t held)
{
	sf_agent_thread_release(&thread, &life, held);
}
