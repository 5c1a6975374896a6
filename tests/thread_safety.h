/* SPDX-License-Identifier: BSD-3-Clause */
/* Included before each file by thread_safety_test.py: gives glibc's mutexes the attributes that FreeBSD's have. */
#ifndef TESTS_THREAD_SAFETY_H
#define TESTS_THREAD_SAFETY_H

#include <pthread.h>

typedef pthread_mutex_t checked_mutex __attribute__((capability("mutex")));

int pthread_mutex_lock(checked_mutex *mutex) __attribute__((acquire_capability(*mutex)));
int pthread_mutex_trylock(checked_mutex *mutex) __attribute__((try_acquire_capability(0, *mutex)));
int pthread_mutex_unlock(checked_mutex *mutex) __attribute__((release_capability(*mutex)));

#define pthread_mutex_t checked_mutex
#define SF_THREAD_SAFETY

#endif
