/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries' global locks across fork. A child has only the thread that forked: a lock that another thread held would stay
 * locked in it for ever, and what it guards half changed. So a fork takes all of them first, in one order, and the child begins
 * with all of them free and everything in order.
 *
 *	SF_FORK_LOCK(SF_FORK_TOPOLOGY, &lock, NULL);		once in a file, for its global lock
 *
 * A lock that a thread may hold while it calls the program or blocks is no global lock for this: its child hook makes it anew.
 */
#ifndef SF_BASE_FORK_H
#define SF_BASE_FORK_H

#include <pthread.h>

#include "base/visibility.h"

/* The order in which a thread takes them that needs more than one. Those of one line are never held together. */
enum sf_fork_rank {
	SF_FORK_WATCH,
	SF_FORK_DEV,
	SF_FORK_ENGINE,
	SF_FORK_TABLE, /* of a module, under which nothing else is locked */
	SF_FORK_TOPOLOGY,
	SF_FORK_MOVE,
	SF_FORK_AGENT_LIFE,
	SF_FORK_AGENT,
	SF_FORK_HEARTBEAT,
	SF_FORK_PROVIDER,
	SF_FORK_TRACE, /* a thread's first event may happen with any of those above */
	SF_FORK_LEGACY_LOG,
	SF_FORK_LOG,
};

struct sf_fork_handler {
	enum sf_fork_rank rank;
	pthread_mutex_t *lock; /* or NULL */
	void (*child)(void); /* or NULL: in the child, which has no other thread yet: what was the parent's is not the child's */
	struct sf_fork_handler *next;
};

/* For good. */
SF_API void sf_fork_add(struct sf_fork_handler *handler);

#define SF_FORK_LOCK(its_rank, its_lock, its_child)                                                                              \
	static struct sf_fork_handler fork_handler = {.rank = (its_rank), .lock = (its_lock), .child = (its_child)};             \
	static __attribute__((constructor)) void fork_handler_add(void)                                                          \
	{                                                                                                                        \
		sf_fork_add(&fork_handler);                                                                                      \
	}                                                                                                                        \
	_Static_assert((its_rank) <= SF_FORK_LOG, "a rank")

#endif
