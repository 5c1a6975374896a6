/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/watch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "compat/linux.h"

#define WATCHES_MAX 127		/* of one thread: the kernel waits for at most 128 words, and one is the thread's kick */
#define TICK_WITHOUT_WAITV_MS 1 /* a kernel before 5.16 waits for one word only */

struct sf_watcher {
	pthread_t thread;
	_Atomic uint32_t kick; /* changes when the thread must read its list again */
	bool ending;
	uint32_t num;
	struct sf_watch *watches[WATCHES_MAX];
	struct sf_watcher *next;
};

/* Protects the list, its watchers and their watches. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sf_watcher *watchers GUARDED_BY(lock);

static _Atomic uint64_t num_looks;

uint64_t sf_watch_num_looks(void)
{
	return atomic_load(&num_looks);
}

/* A child of fork has no watcher threads: it forgets the parent's. */
static SF_IN_CHILD void watchers_leave(void)
{
	for (struct sf_watcher *watcher = watchers; watcher != NULL; watcher = watcher->next) {
		for (uint32_t i = 0; i < watcher->num; i++)
			watcher->watches[i]->watcher = NULL;
	}
	watchers = NULL;
}

SF_FORK_LOCK(SF_FORK_WATCH, &lock, watchers_leave);

static void watcher_kick(struct sf_watcher *watcher)
{
	atomic_fetch_add(&watcher->kick, 1);
	syscall(SYS_futex, &watcher->kick, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void watch_report(struct sf_watch *watch)
{
	if (atomic_exchange(&watch->armed, false))
		sf_doorbell_ring(watch->event_fd);
}

static bool word_changed(const struct sf_watch *watch)
{
	uint64_t value;

	return sf_cell_ask(watch->cell) != DOCA_SUCCESS || sf_cell_look(watch->cell, &value) != DOCA_SUCCESS ||
	       value != atomic_load(&watch->last);
}

/* Polls the word. Stops ticking if the watch is not armed any more; sf_watch_arm starts it again. */
static void watcher_tick(struct sf_watch *watch)
{
	if (!atomic_load(&watch->armed)) {
		atomic_store(&watch->ticking, false);
		if (atomic_load(&watch->armed))
			atomic_store(&watch->ticking, true);
	} else if (word_changed(watch)) {
		watch_report(watch);
	}
}

/* Reports a rung doorbell or a changed word. Returns the time of the next check, 0 for never. */
static uint64_t watch_look(struct sf_watch *watch, uint32_t doorbell, uint64_t now)
{
	uint32_t tick_ms = atomic_load(&watch->tick_ms);

	if (doorbell >> 1 != watch->seen) {
		watch->seen = doorbell >> 1;
		watch_report(watch);
	}
	if (tick_ms != 0 && atomic_load(&watch->ticking) && now >= watch->looked_ms + tick_ms) {
		watch->looked_ms = now;
		atomic_fetch_add(&num_looks, 1);
		watcher_tick(watch);
	}
	return tick_ms != 0 && atomic_load(&watch->ticking) ? watch->looked_ms + tick_ms : 0;
}

static void wait_for(struct futex_waitv *words, uint32_t num, uint64_t until_ms)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000), .tv_nsec = (long)(until_ms % 1000) * 1000000};
	const struct timespec tick = {.tv_nsec = TICK_WITHOUT_WAITV_MS * 1000000};
	long result = syscall(SYS_futex_waitv, words, num, 0, until_ms != 0 ? &until : NULL, CLOCK_MONOTONIC);

	if (result < 0 && (errno == ENOSYS || errno == EPERM))
		nanosleep(&tick, NULL);
}

static void *watcher_run(void *argument)
{
	struct sf_watcher *watcher = argument;
	struct futex_waitv words[WATCHES_MAX + 1];

	pthread_mutex_lock(&lock);
	while (!watcher->ending) {
		uint64_t now = sf_now_ms(), until = 0;
		uint32_t num = 0;

		memset(words, 0, sizeof(words));
		words[num++] = (struct futex_waitv){.val = atomic_load(&watcher->kick),
						    .uaddr = (uintptr_t)&watcher->kick,
						    .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG};
		for (uint32_t i = 0; i < watcher->num; i++) {
			struct sf_watch *watch = watcher->watches[i];
			uint32_t doorbell = atomic_load(&watch->cell->page->doorbell);
			uint64_t next = watch_look(watch, doorbell, now);

			if (next != 0 && (until == 0 || next < until))
				until = next;
			words[num++] = (struct futex_waitv){
				.val = doorbell, .uaddr = (uintptr_t)&watch->cell->page->doorbell, .flags = FUTEX_32};
		}
		pthread_mutex_unlock(&lock);
		/* A page may be freed here: the thread that removed its watch has changed kick before, which ends the wait. */
		wait_for(words, num, until);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* The thread blocks all signals of the program. */
static REQUIRES(lock) struct sf_watcher *watcher_start(void)
{
	struct sf_watcher *watcher = calloc(1, sizeof(*watcher));
	sigset_t all, before;
	int error;

	if (watcher == NULL) {
		SF_LOG_ERR("no memory to watch sync events");
		return NULL;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&watcher->thread, NULL, watcher_run, watcher);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		SF_LOG_ERR("cannot start the thread that watches sync events: %s", strerror(error));
		free(watcher);
		return NULL;
	}
	watcher->next = watchers;
	watchers = watcher;
	return watcher;
}

doca_error_t sf_watch_add(struct sf_watch *watch)
{
	struct sf_watcher *watcher;

	pthread_mutex_lock(&lock);
	for (watcher = watchers; watcher != NULL && watcher->num == WATCHES_MAX; watcher = watcher->next)
		;
	if (watcher == NULL)
		watcher = watcher_start();
	if (watcher != NULL) {
		watch->seen = atomic_load(&watch->cell->page->doorbell) >> 1;
		watch->looked_ms = sf_now_ms();
		assert(watch->watcher == NULL);
		watch->watcher = watcher;
		assert(watcher->num < WATCHES_MAX);
		watcher->watches[watcher->num++] = watch;
		watcher_kick(watcher);
	}
	pthread_mutex_unlock(&lock);
	return watcher != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static void watcher_end(struct sf_watcher *watcher)
{
	pthread_join(watcher->thread, NULL);
	free(watcher);
}

void sf_watch_remove(struct sf_watch *watch)
{
	struct sf_watcher *watcher = watch->watcher, **at;
	bool last;

	if (watcher == NULL)
		return;
	watch->watcher = NULL;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < watcher->num; i++) {
		if (watcher->watches[i] == watch)
			watcher->watches[i] = watcher->watches[--watcher->num];
	}
	last = watcher->num == 0;
	if (last) {
		watcher->ending = true;
		at = &watchers;
		while (*at != watcher) {
			assert(*at != NULL);
			at = &(*at)->next;
		}
		assert(watcher->num == 0);
		*at = watcher->next;
	}
	watcher_kick(watcher);
	pthread_mutex_unlock(&lock);
	if (last)
		watcher_end(watcher);
}

void sf_watch_arm(struct sf_watch *watch, uint64_t last)
{
	atomic_store(&watch->last, last);
	atomic_store(&watch->armed, true);
	if (atomic_load(&watch->tick_ms) != 0 && !atomic_load(&watch->ticking))
		sf_watch_refresh(watch);
}

void sf_watch_refresh(struct sf_watch *watch)
{
	pthread_mutex_lock(&lock);
	if (watch->watcher != NULL) {
		if (atomic_load(&watch->tick_ms) != 0 && atomic_load(&watch->armed))
			atomic_store(&watch->ticking, true); /* it may not have been ticking */
		watcher_kick(watch->watcher);
	}
	pthread_mutex_unlock(&lock);
}
