/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a provider's agent: it waits on an epoll set, as long as anybody holds the agent.
 *
 * The event whose data.ptr is NULL is a wake-up: sf_agent_thread_drain, and look at what the provider keeps for it. A child made
 * by fork has no such thread: the provider's handler of pthread_atfork takes `life` before the fork, and calls
 * sf_agent_thread_after_fork in the child.
 */
#ifndef SF_FABRIC_AGENT_THREAD_H
#define SF_FABRIC_AGENT_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include <doca_error.h>

#define SF_AGENT_EVENTS_MAX 32  /* taken from the set at a time */
#define SF_AGENT_ACCEPTS_MAX 64 /* connections taken from one socket in a row */

struct sf_agent_thread {
	pthread_mutex_t life; /* taken before the provider's own lock */
	uint32_t holders;     /* GUARDED_BY(life) */
	uint32_t generation;  /* counts up in a child: what was made under another number is the parent's */
	pthread_t thread;
	int epoll, wake; /* -1 while nobody holds it */
};

#define SF_AGENT_THREAD_INIT {.life = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .wake = -1}

/* The first hold opens the epoll set, calls open, starts the thread with run(NULL); when a later step fails it calls close. The
 * last release calls stop, which tells the thread to end, waits for it, calls close. */
struct sf_agent_life {
	const char *name; /* the thread's, up to 15 characters */
	doca_error_t (*open)(void);
	void *(*run)(void *unused);
	void (*stop)(void);
	void (*close)(void);
};

/* May block briefly. *generation is for the release. */
doca_error_t sf_agent_thread_hold(struct sf_agent_thread *agent, const struct sf_agent_life *life, uint32_t *generation);
/* A hold inherited from the parent process counts nothing here. */
void sf_agent_thread_release(struct sf_agent_thread *agent, const struct sf_agent_life *life, uint32_t generation);

void sf_agent_thread_wake(const struct sf_agent_thread *agent);
void sf_agent_thread_drain(const struct sf_agent_thread *agent);
void sf_agent_thread_after_fork(struct sf_agent_thread *agent);

/* Of a listening socket: the next connection, non-blocking; -1 when there is none now, or none can be taken, which is logged. */
int sf_agent_accept(int fd);

#endif
