/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "base/trace_clock.h"
#include "base/trace_file.h"
#include "base/trace_kernel.h"
#include "base/trace_own.h"
#include "base/trace_request.h"

#define KNOWN_NAMES 64 /* names that a thread caches; a power of two */

#ifdef __GLIBC__
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec"))) /* glibc reserves static TLS space for it */
#else
#define THREAD_LOCAL static __thread
#endif

/* A thread's private state of its ring. The shared head is only written, never read, because another process may change it. */
struct ring {
	struct sf_trace_ring *shared;
	uint64_t head;
	bool is_used; /* by a live thread, or a kernel; guarded by lock */
	bool is_kernel;
	struct {
		const char *text;
		uint16_t place;
	} known[KNOWN_NAMES];
};

bool sf_trace_is_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by lock */
static struct {
	struct sf_trace_file file;
	bool is_variable; /* SOFTFIELD_TRACE set the path; else a request */
	bool has_failed;
	struct ring rings[SF_TRACE_RINGS_MAX];
	uint32_t num_rings;
	char names[SF_TRACE_NAMES_MAX][SF_TRACE_NAME_MAX]; /* private copy: other processes may write the file's */
	uint32_t num_names;
} trace = {.file = {.fd = -1}, .num_names = 1};

THREAD_LOCAL struct ring *own_ring;
static pthread_key_t own_ring_key;

/* ---- rings ---- */

/* Called when the thread ends. Its events stay until another thread needs the ring. */
static void ring_leave(void *ring)
{
	pthread_mutex_lock(&lock);
	((struct ring *)ring)->is_used = false;
	if (trace.file.head != NULL)
		((struct ring *)ring)->shared->has_ended = 1;
	pthread_mutex_unlock(&lock);
	own_ring = NULL;
}

/* A kernel's ring stays one: readers remember what they have read of it. */
static REQUIRES(lock) struct ring *ring_find(bool is_kernel)
{
	struct sf_trace_ring *shared = sf_trace_file_ring(&trace.file);

	if (shared != NULL) {
		assert(trace.num_rings < SF_TRACE_RINGS_MAX);
		trace.rings[trace.num_rings] = (struct ring){.shared = shared, .is_kernel = is_kernel};
		return &trace.rings[trace.num_rings++];
	}
	for (uint32_t i = 0; i < trace.num_rings; i++) {
		if (!trace.rings[i].is_used && trace.rings[i].is_kernel == is_kernel)
			return &trace.rings[i];
	}
	return NULL;
}

static void ring_begin(struct ring *ring)
{
	struct sf_trace_ring *shared = ring->shared;

	assert(!ring->is_used);
	ring->is_used = true;
	shared->thread = (uint32_t)gettid();
	shared->has_ended = 0;
	memset(shared->name, 0, sizeof(shared->name));
	(void)pthread_getname_np(pthread_self(), shared->name, sizeof(shared->name));
	__atomic_store_n(&shared->first, ring->head, __ATOMIC_RELEASE);
}

/* Creates the file. On the first failure sets *error to the errno value. */
static REQUIRES(lock) bool file_begin(int *error)
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

/* Called without the lock, because a program's log backend may cause events. */
static void failure_report(int error)
{
	if (error == EFBIG)
		SF_LOG_ERR("no timeline in %s: its %zu bytes exceed the limit of file sizes; raise the limit (ulimit -f)",
			   trace.file.path, (size_t)SF_TRACE_FILE_SIZE);
	else if (error != 0)
		SF_LOG_ERR("no timeline in %s: %s; set a path that this user can create, with room for 1 MiB per thread",
			   trace.file.path, strerror(error));
}

/* A thread that gets no ring tries again at its next event, because another thread may have ended. */
static __attribute__((noinline, cold)) struct ring *ring_open(void)
{
	struct ring *ring = NULL;
	int error = 0;

	pthread_mutex_lock(&lock);
	if (file_begin(&error))
		ring = ring_find(false);
	if (ring != NULL)
		ring_begin(ring);
	pthread_mutex_unlock(&lock);
	failure_report(error);
	own_ring = ring;
	if (ring != NULL)
		(void)pthread_setspecific(own_ring_key, ring);
	return ring;
}

/* ---- rings of kernels ---- */

static void kernel_ring_begin(struct ring *ring, const char *name, const struct sf_trace_stamp *stamp)
{
	struct sf_trace_ring *shared = ring->shared;

	ring->is_used = true;
	memset(sf_trace_ring_events(shared), 0, SF_TRACE_KERNEL_SIZE);
	snprintf(shared->name, sizeof(shared->name), "%s", name);
	shared->has_ended = 0;
	shared->is_kernel = 1;
	shared->stamps[0] = shared->stamps[1] = *stamp;
	shared->num_stamps = 1;
	__atomic_store_n(&shared->first, ++ring->head, __ATOMIC_RELEASE); /* a new track, even if the ring was used before */
}

struct sf_trace_kernel *sf_trace_kernel_open(const char *name, const struct sf_trace_stamp *stamp)
{
	struct ring *ring = NULL;
	int error = 0;

	pthread_mutex_lock(&lock);
	if (sf_trace_on() && file_begin(&error))
		ring = ring_find(true);
	if (ring != NULL)
		kernel_ring_begin(ring, name, stamp);
	pthread_mutex_unlock(&lock);
	failure_report(error);
	return (struct sf_trace_kernel *)ring;
}

void *sf_trace_kernel_events(struct sf_trace_kernel *kernel)
{
	return sf_trace_ring_events(((struct ring *)kernel)->shared);
}

void sf_trace_kernel_close(struct sf_trace_kernel *kernel, const struct sf_trace_stamp *stamp)
{
	struct ring *ring = (struct ring *)kernel;

	pthread_mutex_lock(&lock);
	if (ring->shared != NULL && stamp != NULL) {
		ring->shared->stamps[1] = *stamp;
		ring->shared->num_stamps = 2;
	}
	if (ring->shared != NULL) /* NULL in a child, which has its own file */
		ring->shared->has_ended = 1;
	ring->is_used = false;
	pthread_mutex_unlock(&lock);
}

/* ---- names ---- */

/* Compares texts, too, because a text of an unloaded library may have had the same address. */
static REQUIRES(lock) uint16_t name_place(const char *text)
{
	for (uint32_t i = 1; i < trace.num_names; i++) {
		if (strncmp(trace.names[i], text, SF_TRACE_NAME_MAX - 1) == 0)
			return (uint16_t)i;
	}
	if (trace.num_names == SF_TRACE_NAMES_MAX)
		return 0;
	assert(trace.num_names < SF_TRACE_NAMES_MAX && trace.file.head != NULL);
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

static inline void event_record(uint64_t ticks, enum sf_trace_kind kind, const volatile void *object, uint64_t other,
				uint32_t value, const char *name)
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
	event_record(ticks, kind, object, other, value, name);
}

void sf_trace_record(enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value, const char *name)
{
	event_record(sf_trace_clock_ticks(), kind, object, other, value, name);
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

/*
 * A file that was created is used again for the next request: threads have their rings in it. It is removed when the process
 * ends.
 */
static uint64_t request_follow(const char *page_name)
{
	uint64_t request = page_name[0] != '\0' ? sf_trace_request_find(page_name) : 0;
	bool is_wanted = request != 0;
	int error = 0;

	pthread_mutex_lock(&lock);
	trace.has_failed = trace.has_failed && is_wanted; /* reported once for each request */
	if (is_wanted && trace.file.head == NULL && !trace.has_failed)
		is_wanted = sf_trace_path(trace.file.path, SF_TRACE_FILE_PREFIX, page_name) && file_begin(&error);
	switch_on(is_wanted && trace.file.head != NULL);
	pthread_mutex_unlock(&lock);
	failure_report(error);
	return request;
}

uint64_t sf_trace_tick(const char *page_name)
{
	uint64_t request = trace.is_variable ? 1 : request_follow(page_name);

	if (!sf_trace_on())
		return 0;
	pthread_mutex_lock(&lock);
	if (trace.file.head != NULL)
		sf_trace_file_stamp(&trace.file);
	pthread_mutex_unlock(&lock);
	return sf_trace_on() ? request : 0;
}

void sf_trace_rest(void)
{
	if (!trace.is_variable)
		switch_on(false);
}

bool sf_trace_sees_all(void)
{
	return trace.is_variable;
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

/* ---- start and end ---- */

/* Each process of a run writes its own FILE.PID. */
static bool variable_read(void)
{
	const char *file = secure_getenv("SOFTFIELD_TRACE");
	int len;

	if (file == NULL || file[0] == '\0')
		return false;
	len = snprintf(trace.file.path, sizeof(trace.file.path), "%s.%d", file, (int)getpid());
	return len > 0 && (size_t)len < sizeof(trace.file.path);
}

/* The child does not use the parent's rings. The variable applies to the child as well. */
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

/* Adds a last stamp, which improves the clock's accuracy. Removes a file in the runtime folder, which serves running processes
 * only. */
static __attribute__((destructor)) void trace_end(void)
{
	pthread_mutex_lock(&lock);
	if (trace.file.head != NULL)
		sf_trace_file_stamp(&trace.file);
	if (trace.file.head != NULL && !trace.is_variable)
		unlink(trace.file.path);
	pthread_mutex_unlock(&lock);
}
