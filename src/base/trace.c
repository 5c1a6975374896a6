/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/trace_clock.h"
#include "base/trace_file.h"
#include "base/trace_own.h"
#include "base/trace_request.h"

#define KNOWN_NAMES 64 /* that a thread remembers the places of; a power of two */

#ifdef __GLIBC__
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec"))) /* glibc has room for it at a fixed place */
#else
#define THREAD_LOCAL static __thread
#endif

/* A thread's own view of its ring. The shared head is written, and not read: another process may write it too. */
struct ring {
	struct sf_trace_ring *shared;
	uint64_t head;
	bool is_used; /* by a thread that lives; GUARDED_BY(lock) */
	struct {
		const char *text;
		uint16_t place;
	} known[KNOWN_NAMES];
};

bool sf_trace_is_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* GUARDED_BY(lock) */
static struct {
	struct sf_trace_file file;
	bool is_variable; /* SOFTFIELD_TRACE says where; else a request */
	bool has_failed;
	struct ring rings[SF_TRACE_RINGS_MAX];
	uint32_t num_rings;
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX]; /* the file's may be written by others */
	uint32_t num_names;
} trace = {.file = {.fd = -1}, .num_names = 1};

THREAD_LOCAL struct ring *own_ring;
static pthread_key_t own_ring_key;

/* ---- rings ---- */

/* The thread ended. What it wrote stays until another needs the ring. */
static void ring_leave(void *ring)
{
	pthread_mutex_lock(&lock);
	((struct ring *)ring)->is_used = false;
	if (trace.file.head != NULL)
		((struct ring *)ring)->shared->has_ended = 1;
	pthread_mutex_unlock(&lock);
	own_ring = NULL;
}

/* With the lock. */
static struct ring *ring_find(void)
{
	struct sf_trace_ring *shared = sf_trace_file_ring(&trace.file);

	if (shared != NULL) {
		trace.rings[trace.num_rings] = (struct ring){.shared = shared};
		return &trace.rings[trace.num_rings++];
	}
	for (uint32_t i = 0; i < trace.num_rings; i++) {
		if (!trace.rings[i].is_used)
			return &trace.rings[i];
	}
	return NULL;
}

static void ring_begin(struct ring *ring)
{
	struct sf_trace_ring *shared = ring->shared;

	ring->is_used = true;
	shared->thread = (uint32_t)gettid();
	shared->has_ended = 0;
	memset(shared->name, 0, sizeof(shared->name));
	(void)pthread_getname_np(pthread_self(), shared->name, sizeof(shared->name));
	__atomic_store_n(&shared->first, ring->head, __ATOMIC_RELEASE);
}

/* With the lock. *error: what keeps it from beginning, once. */
static bool file_begin(int *error)
{
	if (trace.file.head != NULL || trace.has_failed)
		return trace.file.head != NULL;
	if (sf_trace_file_create(&trace.file))
		return true;
	*error = errno;
	trace.has_failed = true;
	__atomic_store_n(&sf_trace_is_on, false, __ATOMIC_RELAXED);
	return false;
}

/* Without the lock: a program's log backend may do what has events. */
static void failure_report(int error)
{
	if (error == EFBIG)
		SF_LOG_ERR("no timeline in %s: files may not have its %zu bytes; raise the limit (ulimit -f)", trace.file.path,
			   (size_t)SF_TRACE_FILE_SIZE);
	else if (error != 0)
		SF_LOG_ERR("no timeline in %s: %s; name a file that this user can make, with room for 1 MiB a thread",
			   trace.file.path, strerror(error));
}

/* A thread that finds no room tries again with its next event: another one may have ended. */
static __attribute__((noinline, cold)) struct ring *ring_open(void)
{
	struct ring *ring = NULL;
	int error = 0;

	pthread_mutex_lock(&lock);
	if (file_begin(&error))
		ring = ring_find();
	if (ring != NULL)
		ring_begin(ring);
	pthread_mutex_unlock(&lock);
	failure_report(error);
	own_ring = ring;
	if (ring != NULL)
		(void)pthread_setspecific(own_ring_key, ring);
	return ring;
}

/* ---- names ---- */

/* With the lock. Texts of a library that was closed may be at another's address: they are compared too. */
static uint16_t name_place(const char *text)
{
	for (uint32_t i = 1; i < trace.num_names; i++) {
		if (strncmp(trace.names[i], text, SF_TRACE_NAME_MAX - 1) == 0)
			return (uint16_t)i;
	}
	if (trace.num_names == SF_TRACE_NAMES_MAX)
		return 0;
	snprintf(trace.names[trace.num_names], SF_TRACE_NAME_MAX, "%s", text);
	memcpy(sf_trace_file_name(&trace.file, trace.num_names), trace.names[trace.num_names], SF_TRACE_NAME_MAX);
	__atomic_store_n(&trace.file.head->num_names, trace.num_names + 1, __ATOMIC_RELEASE);
	return (uint16_t)trace.num_names++;
}

static __attribute__((noinline)) uint16_t name_learn(struct ring *ring, uint32_t at, const char *text)
{
	pthread_mutex_lock(&lock);
	ring->known[at].place = name_place(text);
	ring->known[at].text = text;
	pthread_mutex_unlock(&lock);
	return ring->known[at].place;
}

static inline uint16_t name_of(struct ring *ring, const char *text)
{
	uint32_t at = (uint32_t)((uintptr_t)text >> 3) & (KNOWN_NAMES - 1);

	if (text == NULL)
		return 0;
	return __builtin_expect(ring->known[at].text == text, 1) ? ring->known[at].place : name_learn(ring, at, text);
}

/* ---- events ---- */

static inline void record(uint64_t ticks, enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value,
			  const char *name)
{
	struct ring *ring = own_ring;
	struct sf_trace_event *event;

	if (__builtin_expect(ring == NULL, 0))
		ring = ring_open();
	if (__builtin_expect(ring == NULL, 0))
		return;
	event = &sf_trace_ring_events(ring->shared)[ring->head & (SF_TRACE_EVENTS - 1)];
	event->ticks = ticks;
	event->object = (uintptr_t)object;
	event->other = other;
	event->value = value;
	event->name = name_of(ring, name);
	event->kind = (uint8_t)kind;
	__atomic_store_n(&ring->shared->head, ++ring->head, __ATOMIC_RELEASE);
}

void sf_trace_record_at(uint64_t ticks, enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value,
			const char *name)
{
	record(ticks, kind, object, other, value, name);
}

void sf_trace_record(enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value, const char *name)
{
	record(sf_trace_clock_ticks(), kind, object, other, value, name);
}

uint64_t sf_trace_ticks(void)
{
	return sf_trace_clock_ticks();
}

void sf_trace_record_once(enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value, const char *name)
{
	const struct ring *ring = own_ring;

	if (ring != NULL && ring->head != 0) {
		const struct sf_trace_event *last = &sf_trace_ring_events(ring->shared)[(ring->head - 1) & (SF_TRACE_EVENTS - 1)];

		if (last->kind == kind && last->object == (uintptr_t)object && last->other == other)
			return;
	}
	sf_trace_record(kind, object, other, value, name);
}

uint64_t sf_trace_salt(const uint8_t bytes[16])
{
	uint64_t halves[2];

	memcpy(halves, bytes, sizeof(halves));
	return (halves[0] ^ (halves[1] << 29 | halves[1] >> 35)) * UINT64_C(0xff51afd7ed558ccd);
}

/* ---- on and off ---- */

static void switch_on(bool on)
{
	__atomic_store_n(&sf_trace_is_on, on, __ATOMIC_RELAXED);
}

/* A file that was begun goes on with the next request: threads have their rings in it. It goes with the process. */
static void request_follow(const char *page_name)
{
	bool is_wanted = page_name[0] != '\0' && sf_trace_is_requested(page_name);
	int error = 0;

	pthread_mutex_lock(&lock);
	trace.has_failed = trace.has_failed && is_wanted; /* said once for a request */
	if (is_wanted && trace.file.head == NULL && !trace.has_failed)
		is_wanted = sf_trace_path(trace.file.path, SF_TRACE_FILE_PREFIX, page_name) && file_begin(&error);
	switch_on(is_wanted && trace.file.head != NULL);
	pthread_mutex_unlock(&lock);
	failure_report(error);
}

bool sf_trace_tick(const char *page_name)
{
	if (!trace.is_variable)
		request_follow(page_name);
	if (!sf_trace_on())
		return false;
	pthread_mutex_lock(&lock);
	if (trace.file.head != NULL)
		sf_trace_file_stamp(&trace.file);
	pthread_mutex_unlock(&lock);
	return sf_trace_on();
}

void sf_trace_rest(void)
{
	if (!trace.is_variable)
		switch_on(false);
}

bool sf_trace_keep(char path[PATH_MAX])
{
	bool is_kept = false;

	if (!sf_trace_on() || !trace.is_variable)
		return false;
	pthread_mutex_lock(&lock);
	if (trace.file.head != NULL && strlen(trace.file.path) + sizeof(".stall") <= PATH_MAX) {
		sf_trace_file_stamp(&trace.file);
		strcat(strcpy(path, trace.file.path), ".stall");
		is_kept = sf_trace_file_copy(&trace.file, path);
	}
	pthread_mutex_unlock(&lock);
	return is_kept;
}

/* ---- its life ---- */

/* FILE.PID: of a run's processes, each has its own. */
static bool variable_read(void)
{
	const char *file = secure_getenv("SOFTFIELD_TRACE");
	int len;

	if (file == NULL || file[0] == '\0')
		return false;
	len = snprintf(trace.file.path, sizeof(trace.file.path), "%s.%d", file, (int)getpid());
	return len > 0 && (size_t)len < sizeof(trace.file.path);
}

/* The parent's rings are not the child's. What the variable says holds for it as well. */
static void after_fork_child(void)
{
	if (trace.file.head != NULL)
		memset(trace.rings, 0, sizeof(trace.rings));
	sf_trace_file_forget(&trace.file);
	trace.num_rings = 0;
	trace.num_names = 1;
	trace.has_failed = false;
	own_ring = NULL;
	(void)pthread_setspecific(own_ring_key, NULL);
	if (trace.is_variable)
		switch_on(variable_read());
	else
		switch_on(false);
}

SF_FORK_LOCK(SF_FORK_TRACE, &lock, after_fork_child);

static __attribute__((constructor)) void trace_init(void)
{
	if (pthread_key_create(&own_ring_key, ring_leave) != 0)
		return;
	trace.is_variable = variable_read();
	switch_on(trace.is_variable);
}

/* The last stamp is the best one. A file of the runtime folder is for those who look at the process while it runs. */
static __attribute__((destructor)) void trace_end(void)
{
	pthread_mutex_lock(&lock);
	if (trace.file.head != NULL)
		sf_trace_file_stamp(&trace.file);
	if (trace.file.head != NULL && !trace.is_variable)
		unlink(trace.file.path);
	pthread_mutex_unlock(&lock);
}
