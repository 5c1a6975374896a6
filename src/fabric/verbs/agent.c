/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/agent.h"

#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/clock.h"
#include "fabric/agent_thread.h"
#include "fabric/verbs/net.h"

pthread_mutex_t sf_verbs_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sf_verbs_changed = PTHREAD_COND_INITIALIZER;

static doca_error_t agent_open(void);
static void agent_close(void);
static void agent_ready(void *ptr, uint32_t events);
static bool agent_tick(void);

static const struct sf_agent_ops ops = {
	.name = "softfield-verbs",
	.lock = &sf_verbs_lock,
	.open = agent_open,
	.close = agent_close,
	.ready = agent_ready,
	.tick = agent_tick,
	.tick_ms = 5,
	.listen = sf_verbs_conns_listen,
};

static struct sf_agent_thread thread = SF_AGENT_THREAD_INIT(&ops);

static struct {
	struct sf_key id, token;
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

bool sf_verbs_agent_await(const struct vb_conn *conn, struct sf_liveness *answering, uint64_t limit_ns)
{
	const uint64_t end_ns = sf_now_ns() + sf_liveness_interval(limit_ns);
	const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
	const int pid = conn != NULL ? conn->pid : 0; /* the connection may be closed while this waits */

	(void)pthread_cond_clockwait(&sf_verbs_changed, &sf_verbs_lock, CLOCK_MONOTONIC, &end);
	return !sf_liveness_lost(answering, pid, limit_ns);
}

int sf_verbs_accept(int listening)
{
	return sf_agent_accept(&thread, listening);
}

static void agent_ready(void *ptr, uint32_t events)
{
	sf_verbs_conn_event(ptr, events);
}

static bool agent_tick(void)
{
	uint64_t now = sf_now_ns();
	bool timed = sf_verbs_conns_tick(now);

	timed = sf_verbs_links_tick(now) || timed;
	return sf_verbs_imports_tick() || timed;
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

static void agent_close(void)
{
	sf_runtime_unlink(SF_SOCKET_VERBS_AGENT, &agent.id);
	pthread_mutex_lock(&sf_verbs_lock);
	sf_verbs_net_forget();
	sf_verbs_conns_close();
	pthread_mutex_unlock(&sf_verbs_lock);
}

/* ---- fork ---- */

/* The child has the parent's descriptors, but not its thread. Left open they would hide the parent's death from peers. */
static void after_fork_child(void)
{
	sf_agent_thread_after_fork(&thread);
	sf_verbs_conns_after_fork();
	sf_verbs_net_forget();
	sf_verbs_links_after_fork();
	sf_verbs_listeners_after_fork();
	pthread_cond_init(&sf_verbs_changed, NULL);
}

SF_FORK_LOCK(SF_FORK_AGENT, &sf_verbs_lock, after_fork_child);

static __attribute__((constructor)) void life_lock_add(void)
{
	static struct sf_fork_handler life = {.rank = SF_FORK_AGENT_LIFE, .lock = &thread.life};

	sf_fork_add(&life);
}

doca_error_t sf_verbs_agent_hold(uint32_t *held)
{
	return sf_agent_thread_hold(&thread, held);
}

void sf_verbs_agent_release(uint32_t held)
{
	sf_agent_thread_release(&thread, held);
}
