/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline: a record per thread of events of tasks and messages (docs/timeline.md). It is always compiled in. While it is
 * off, an event costs one load of a global and a branch that is not taken; task events do not even cost that (core/task_trace.h).
 * With <sys/sdt.h> there is also the no-op of a USDT probe `softfield:NAME`, to which bpftrace and others can attach whether the
 * timeline is on or off.
 */
#ifndef SF_BASE_TRACE_H
#define SF_BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/trace_format.h"
#include "base/visibility.h"

/* A probe's arguments must be available values: computing others would cost time even without an observer. */
#if defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define SF_PROBE(name, object, other, value) DTRACE_PROBE3(softfield, name, object, other, value)
#endif
#endif
#ifndef SF_PROBE
#define SF_PROBE(name, object, other, value) ((void)0)
#endif

/* Reads the switch of the timeline. The compiler can fold a plain load into the instruction that uses it, but not an atomic one,
 * so only ThreadSanitizer builds use the atomic. */
#if defined(__SANITIZE_THREAD__)
#define SF_SWITCHED(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SF_SWITCHED(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#endif
#endif
#ifndef SF_SWITCHED
#define SF_SWITCHED(place) (place)
#endif

/* Set when the libraries are loaded, and by the status thread. */
SF_API extern bool sf_trace_is_on;

static inline bool sf_trace_on(void)
{
	return __builtin_expect(SF_SWITCHED(sf_trace_is_on), 0);
}

/* Adds an event to this thread's ring. name: a text with static lifetime, or NULL. Any thread, also with locks held. Blocks only
 * at a thread's first event, to create its ring. */
SF_API void sf_trace_record(enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value,
			    const char *name);

/* The same for an event at an earlier time, `ticks` from sf_trace_ticks. */
SF_API void sf_trace_record_at(uint64_t ticks, enum sf_trace_kind kind, const volatile void *object, uint64_t other,
			       uint32_t value, const char *name);
SF_API uint64_t sf_trace_ticks(void);

/* As sf_trace_record, but skips an event that equals the thread's last one except for its time, as in a retry loop. */
SF_API void sf_trace_record_once(enum sf_trace_kind kind, const volatile void *object, uint64_t other, uint32_t value,
				 const char *name);

/* The probe, and the event if the timeline is on. */
#define SF_TRACE(probe, kind, object, other, value, name)                                                                        \
	do {                                                                                                                     \
		SF_PROBE(probe, object, other, value);                                                                           \
		if (sf_trace_on())                                                                                               \
			sf_trace_record(kind, object, other, value, name);                                                       \
	} while (0)

/* The flow id of a message that both sides number alike: `salt` identifies the counter (sf_trace_salt), `number` the message. */
static inline uint64_t sf_trace_flow(uint64_t salt, uint64_t number)
{
	uint64_t flow = (salt ^ number) * UINT64_C(0x9e3779b97f4a7c15);

	flow = (flow ^ flow >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (flow ^ flow >> 32) | 1;
}

/* Derives a salt from 16 bytes that both sides know. They may be secret, and others may read a timeline, so at most half of them
 * enters the result. */
SF_API uint64_t sf_trace_salt(const uint8_t bytes[16]);

#endif
