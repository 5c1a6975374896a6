/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries' global locks across fork. A child has only the thread that forked. A lock that another thread held would stay
 * locked in the child for ever, with its data half changed. So fork first takes all these locks in one order, and the child
 * begins with all of them free and their data consistent.
 *
 *	SF_FORK_LOCK(SF_FORK_TOPOLOGY, &lock, NULL);		once in a file, for its global lock
 *
 * A lock that a thread may hold while it calls the program or blocks must not be registered here: its child hook initializes it
 * again.
 */
#ifndef SF_BASE_FORK_H
#define SF_BASE_FORK_H

#include <pthread.h>

#include "base/thread_safety.h"
#include "base/visibility.h"

/* A child hook: its process has one thread, so it takes no lock. */
#define SF_IN_CHILD NO_THREAD_SAFETY_ANALYSIS

/* The order in which a thread takes several of them. Locks of one rank are never held together. */
enum sf_fork_rank {
	SF_FORK_WATCH,
	SF_FORK_DEV,
	SF_FORK_ENGINE,
	SF_FORK_TABLE, /* a module's; no other lock is taken while it is held */
	SF_FORK_TOPOLOGY,
	SF_FORK_MOVE,
	SF_FORK_AGENT_LIFE,
	SF_FORK_AGENT,
	SF_FORK_HEARTBEAT,
	SF_FORK_PROVIDER,
	SF_FORK_CHUNK,
	SF_FORK_TRACE, /* a thread's first event may happen with any of the above held */
	SF_FORK_LEGACY_LOG,
	SF_FORK_LOG,
};

struct sf_fork_handler {
	enum sf_fork_rank rank;
	pthread_mutex_t *lock; /* or NULL */
	void (*child)(void);   /* or NULL. Runs in the child, which has one thread: drops what belongs to the parent */
	struct sf_fork_handler *next;
};

/* Handlers are never removed. */
SF_API void sf_fork_add(struct sf_fork_handler *handler);

#define SF_FORK_LOCK(its_rank, its_lock, its_child)                                                                              \
	static struct sf_fork_handler fork_handler = {.rank = (its_rank), .lock = (its_lock), .child = (its_child)};             \
	static __attribute__((constructor)) void fork_handler_add(void)                                                          \
	{                                                                                                                        \
		sf_fork_add(&fork_handler);                                                                                      \
	}                                                                                                                        \
	_Static_assert((its_rank) <= SF_FORK_LOG, "a rank")

#endif
