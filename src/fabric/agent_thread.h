/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a provider's agent: it waits on an epoll set, as long as anybody holds the agent.
 *
 * Whatever the provider adds to the set has a data.ptr. A child made by fork has no such thread: the provider adds `life` to the
 * locks of base/fork.h, and calls sf_agent_thread_after_fork in the child.
 */
#ifndef SF_FABRIC_AGENT_THREAD_H
#define SF_FABRIC_AGENT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#define SF_AGENT_ACCEPTS_MAX 64 /* connections taken from one socket in a row */
#define SF_AGENT_SPARE 8	/* descriptors kept back, for one more connection when all others are in use */
#define SF_AGENT_EACH 5		/* that a connection brings, or that are open for a moment while it is made */

/* What a provider's agent does. */
struct sf_agent_ops {
	const char *name;      /* the thread's, up to 15 characters */
	pthread_mutex_t *lock; /* the provider's own: held while ready and tick run */
	/* The first hold opens the epoll set, calls open, starts the thread; when that fails it calls close. The last release ends
	 * the thread and calls close. */
	doca_error_t (*open)(void);
	void (*close)(void);
	void (*ready)(void *ptr, uint32_t events); /* an event of the set */
	bool (*tick)(void);			   /* after the events, and after a wake: is to run again in tick_ms? */
	int tick_ms;
	/* Waits on all listening sockets, or on none: there is no descriptor left for those who come. */
	void (*listen)(bool on);
};

struct sf_agent_thread {
	const struct sf_agent_ops *ops;
	pthread_mutex_t life; /* taken before the provider's own lock */
	uint32_t holders;     /* GUARDED_BY(life) */
	uint32_t generation;  /* counts up in a child: what was made under another number is the parent's */
	pthread_t thread;
	int epoll, wake; /* -1 while nobody holds it */
	bool stop;	 /* GUARDED_BY(*ops->lock) */
	bool full;	 /* GUARDED_BY(*ops->lock): no descriptors; the listening sockets are not waited on */
	bool has_spare;	 /* GUARDED_BY(*ops->lock) */
	int spare[SF_AGENT_SPARE];
};

#define SF_AGENT_THREAD_INIT(its_ops) {.ops = (its_ops), .life = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .wake = -1}

/* May block briefly; the provider's lock must not be held. *generation is for the release. FULL, logged: there are too few
 * descriptors for an agent that could take a connection. */
doca_error_t sf_agent_thread_hold(struct sf_agent_thread *agent, uint32_t *generation);
/* A hold inherited from the parent process counts nothing here. */
void sf_agent_thread_release(struct sf_agent_thread *agent, uint32_t generation);

void sf_agent_thread_wake(const struct sf_agent_thread *agent);
void sf_agent_thread_after_fork(struct sf_agent_thread *agent);

/* Of a listening socket, by the agent: the next connection, non-blocking; -1 when there is none now, or none can be taken. When the
 * process runs out of descriptors, that is logged once, this connection is given the spare ones, and then no listening socket is
 * waited on until there is room again. Those who come meanwhile wait in the sockets' queues. */
int sf_agent_accept(struct sf_agent_thread *agent, int fd);

#endif
