/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The status thread. It starts with the first active context, sleeps while there is none, and runs until the process ends. The
 * page's file is open from the first context to the last, so that a program that counts its descriptors sees no change in
 * between; its first content is written a moment later.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "base/trace_own.h"
#include "core/pe_checks.h"
#include "core/stall.h"
#include "core/status_private.h"
#include "core/trace_snapshot.h"
#include "validation/validation.h"

#define TICK_MAX_MS 1000
#define TICK_MIN_MS 20
#define TICKS_OF_LIMIT 5  /* the precision of stall detection */
#define FIRST_TICK_MS 100 /* after the first context */
#define STACK_SIZE (256 * 1024)

static struct {
	bool is_started, is_ended;
	bool is_resting; /* there is no context */
	uint32_t limit_ms, tick_ms;
	bool is_limit_wrong;
	uint64_t started_ns, looked_ns;
	pthread_cond_t changed;
	struct sf_status_file file;
	struct sf_status_page *page; /* used by the thread; likewise */
	void *bytes;
} thread = {.file = {.fd = -1}}; /* guarded by sf_status_lock */

static uint32_t tick_of(uint32_t limit_ms)
{
	uint32_t tick_ms = limit_ms / TICKS_OF_LIMIT;

	if (limit_ms == 0 || tick_ms > TICK_MAX_MS)
		return TICK_MAX_MS;
	return tick_ms > TICK_MIN_MS ? tick_ms : TICK_MIN_MS;
}

/* ---- one tick ---- */

static void head_fill(struct sf_status_head *head, uint64_t now_ns)
{
	const char *node = secure_getenv("SOFTFIELD_NODE");

	head->sampled_ns = now_ns;
	head->started_ns = thread.started_ns;
	head->pid = (uint32_t)getpid();
	head->user = (uint32_t)geteuid();
	head->tick_ms = thread.tick_ms;
	snprintf(head->program, sizeof(head->program), "%s", program_invocation_short_name);
	snprintf(head->node, sizeof(head->node), "%s", node != NULL ? node : "");
}

/* Called with the lock. If the tick is late, the thread was delayed, and perhaps the program, too, so the counted time is
 * limited. */
static uint32_t stalls_look(struct sf_stall_case *cases)
{
	uint64_t now_ns = sf_now_ns(), passed_ms = (now_ns - thread.looked_ns) / 1000000;
	size_t len;

	if (passed_ms > 2 * thread.tick_ms)
		passed_ms = 2 * thread.tick_ms;
	thread.looked_ns = now_ns;
	head_fill(&thread.page->head, now_ns);
	sf_status_sample(thread.page, now_ns, passed_ms);
	len = sf_status_page_pack(thread.page, thread.bytes);
	if (thread.file.fd >= 0)
		(void)sf_status_file_write(&thread.file, thread.bytes, len);
	return thread.limit_ms != 0 ? sf_stalls_collect(cases, thread.limit_ms) : 0;
}

/* ---- the thread ---- */

static void sleep_until(uint64_t end_ns)
{
	const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
	int error = 0;

	while (error == 0 && !thread.is_ended && sf_now_ns() < end_ns)
		error = pthread_cond_timedwait(&thread.changed, &sf_status_lock, &end);
}

/* Waits for a context that stays for a moment. */
static void await_context(void)
{
	while (thread.is_resting && !thread.is_ended) {
		while (LIST_EMPTY(&sf_status_ctxs) && !thread.is_ended)
			pthread_cond_wait(&thread.changed, &sf_status_lock);
		thread.looked_ns = sf_now_ns();
		sleep_until(thread.looked_ns + UINT64_C(1000000) * FIRST_TICK_MS);
		thread.is_resting = LIST_EMPTY(&sf_status_ctxs);
	}
}

static bool page_pass(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page)
{
	(void)reader;
	(void)pid;
	(void)page;
	return true;
}

/* Called once, without the lock. */
static void thread_begin(const struct sf_status_file *own)
{
	struct sf_status_reader sweep = {.page = page_pass, .own = own};

	if (thread.is_limit_wrong)
		SF_LOG_ERR("SOFTFIELD_STALL_MS is not a number of milliseconds from 0 to %d: %d is used", SF_STALL_MAX_MS,
			   SF_STALL_DEFAULT_MS);
	(void)sf_status_folder_read(&sweep); /* removes pages of processes that were killed */
}

/* Contexts that start later check the timeline themselves. */
static void trace_look(const struct sf_status_file *own)
{
	static uint64_t last; /* detects a new request that replaced the last one between two ticks */
	uint64_t request = sf_trace_tick(own->fd >= 0 ? own->name : "");

	if ((request != 0) != (last != 0))
		sf_status_trace_follow();
	if (request != 0 && request != last && !sf_trace_sees_all())
		sf_trace_snapshot();
	if (request != 0 && !sf_trace_sees_all()) /* else the callback has an event */
		sf_trace_calls();
	last = request;
}

static void *status_thread_main(void *argument)
{
	static struct sf_stall_case cases[SF_STALL_CASES_MAX];
	struct sf_idle_case idle[SF_IDLE_CASES_MAX];
	bool has_begun = false;

	pthread_mutex_lock(&sf_status_lock);
	while (!thread.is_ended) {
		struct sf_status_file own;
		uint32_t num, num_idle = 0;

		await_context();
		if (thread.is_ended)
			break;
		num = stalls_look(cases);
		if (sf_validation_is_on && thread.limit_ms != 0)
			num_idle = sf_idle_collect(idle, thread.limit_ms);
		own = thread.file; /* a copy, because the file may be closed meanwhile */
		pthread_mutex_unlock(&sf_status_lock);
		if (!has_begun)
			thread_begin(&own);
		has_begun = true;
		trace_look(&own);
		/* A program's log backend may start and stop contexts. */
		for (uint32_t i = 0; i < num; i++)
			sf_stall_report(&cases[i], thread.page, &own);
		for (uint32_t i = 0; i < num_idle; i++)
			sf_idle_report(&idle[i]);
		pthread_mutex_lock(&sf_status_lock);
		sleep_until(thread.looked_ns + UINT64_C(1000000) * thread.tick_ms);
	}
	pthread_mutex_unlock(&sf_status_lock);
	return argument;
}

/* A failure does not affect the program. */
static bool thread_start(void)
{
	pthread_attr_t attr;
	pthread_t id;
	sigset_t all, before;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread blocks the program's signals */
	error = pthread_create(&id, &attr, status_thread_main, NULL);
	if (error == 0)
		pthread_setname_np(id, "softfield-state");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error == 0;
}

static void changed_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&thread.changed, &attr);
	pthread_condattr_destroy(&attr);
}

void sf_status_thread_wake(void)
{
	assert(sf_is_locked(&sf_status_lock));
	if (thread.is_ended)
		return;
	if (thread.file.fd < 0)
		(void)sf_status_file_open(&thread.file);
	if (thread.is_started) {
		pthread_cond_signal(&thread.changed);
		return;
	}
	if (thread.page == NULL)
		thread.page = calloc(1, sizeof(*thread.page));
	if (thread.bytes == NULL)
		thread.bytes = calloc(1, sizeof(*thread.page));
	if (thread.page == NULL || thread.bytes == NULL)
		return;
	thread.limit_ms = sf_stall_limit_ms(&thread.is_limit_wrong);
	thread.tick_ms = tick_of(thread.limit_ms);
	thread.started_ns = sf_now_ns();
	thread.is_resting = true;
	changed_init();
	thread.is_started = thread_start();
}

void sf_status_thread_rest(void)
{
	assert(sf_is_locked(&sf_status_lock));
	thread.is_resting = true;
	sf_trace_rest();
	sf_status_file_close(&thread.file);
}

void sf_status_thread_after_fork(void)
{
	if (thread.file.fd >= 0)
		close(thread.file.fd); /* the page belongs to the parent */
	thread.file.fd = -1;
	thread.is_started = false;
}

static __attribute__((destructor)) void thread_end(void)
{
	pthread_mutex_lock(&sf_status_lock);
	thread.is_ended = true;
	sf_status_file_close(&thread.file);
	if (thread.is_started)
		pthread_cond_signal(&thread.changed);
	pthread_mutex_unlock(&sf_status_lock);
}
