/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotations for clang's lock analysis. tests/thread_safety_test.py compiles every file that names a lock with -Wthread-safety;
 * in other builds they are empty.
 *
 *	static int num GUARDED_BY(lock);		read and written only with the lock
 *	static void num_add(void) REQUIRES(lock);	called with the lock held
 *	assert(sf_is_locked(&lock));			the same, for a function that is called through a pointer
 */
#ifndef SF_BASE_THREAD_SAFETY_H
#define SF_BASE_THREAD_SAFETY_H

#include <pthread.h>
#include <stdbool.h>

#ifdef SF_THREAD_SAFETY /* clang, with tests/thread_safety.h, which annotates pthread's own functions */
#define SF_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define SF_THREAD_ATTRIBUTE(attribute)
#endif

#define GUARDED_BY(lock) SF_THREAD_ATTRIBUTE(guarded_by(lock))
#define REQUIRES(lock) SF_THREAD_ATTRIBUTE(requires_capability(lock))
#define ACQUIRE(lock) SF_THREAD_ATTRIBUTE(acquire_capability(lock))
#define RELEASE(lock) SF_THREAD_ATTRIBUTE(release_capability(lock))

/* Guarded by a lock in the same struct. Documentation only: in C, clang 14 cannot refer to another member of the struct. */
#define GUARDED_BY_MEMBER(lock)

/* For a function whose locks clang cannot follow. A comment there says why. */
#define NO_THREAD_SAFETY_ANALYSIS SF_THREAD_ATTRIBUTE(no_thread_safety_analysis)

/* For assert() only, and not for a recursive lock: returns whether any thread holds the lock. Acquires a free lock. */
static inline bool sf_is_locked(pthread_mutex_t *lock) SF_THREAD_ATTRIBUTE(assert_capability(*lock)) NO_THREAD_SAFETY_ANALYSIS;
static inline bool sf_is_locked(pthread_mutex_t *lock)
{
	return pthread_mutex_trylock(lock) != 0;
}

#endif
