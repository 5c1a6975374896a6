/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fork.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sf_fork_handler *handlers GUARDED_BY(lock); /* by rank */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Takes as many locks as there are handlers, which the next one releases: more than clang follows. */
static NO_THREAD_SAFETY_ANALYSIS void before_fork(void)
{
	pthread_mutex_lock(&lock);
	for (struct sf_fork_handler *h = handlers; h != NULL; h = h->next) {
		if (h->lock != NULL)
			pthread_mutex_lock(h->lock);
	}
}

static NO_THREAD_SAFETY_ANALYSIS void locks_release(void)
{
	for (struct sf_fork_handler *h = handlers; h != NULL; h = h->next) {
		if (h->lock != NULL)
			pthread_mutex_unlock(h->lock);
	}
	pthread_mutex_unlock(&lock);
}

static SF_IN_CHILD void after_fork_child(void)
{
	locks_release();
	for (struct sf_fork_handler *h = handlers; h != NULL; h = h->next) {
		if (h->child != NULL)
			h->child();
	}
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, locks_release, after_fork_child);
}

void sf_fork_add(struct sf_fork_handler *handler)
{
	struct sf_fork_handler **at;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	at = &handlers;
	while (*at != NULL && (*at)->rank <= handler->rank)
		at = &(*at)->next;
	assert(handler->next == NULL && handler->rank <= SF_FORK_LOG);
	handler->next = *at;
	*at = handler;
	pthread_mutex_unlock(&lock);
}
