/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of a timeline file (docs/timeline.md): a head, names, and a ring of events for each thread. The process maps and
 * writes it; `softfield trace` reads it while the process runs or after its end. To the reader all of it is untrusted.
 *
 * A ring has one writer. It stores an event, then `head` with release. Event n is at events[n % SF_TRACE_EVENTS].
 * A reader loads head, reads, loads head again, and drops what may have been overwritten meanwhile.
 */
#ifndef SF_BASE_TRACE_FORMAT_H
#define SF_BASE_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define SF_TRACE_MAGIC "SFTRACE"
#define SF_TRACE_VERSION 1
#define SF_TRACE_NAMES_MAX 256
#define SF_TRACE_NAME_MAX 48 /* with its NUL, as the next two */
#define SF_TRACE_THREAD_MAX 16
#define SF_TRACE_TEXT_MAX 64
#define SF_TRACE_RINGS_MAX 64 /* threads; when all rings exist, a new thread reuses the ring of an ended one */
#define SF_TRACE_EVENTS 32768 /* per ring; a power of two */

enum sf_trace_kind {
	SF_TRACE_SUBMIT = 1,   /* object: task; other: its context; value: bytes of the task, and a bit; name: of its type */
	SF_TRACE_AGAIN,	       /* as SUBMIT: submit returned AGAIN, perhaps several times */
	SF_TRACE_COMPLETE,     /* object: task; other: its context; value: status. Its callback begins */
	SF_TRACE_COMPLETE_BY,  /* as COMPLETE, for the owner of a claimed task, such as a graph */
	SF_TRACE_CALLBACK_END, /* object: the task's context */
	SF_TRACE_STATE,	       /* object: context; value: state; name: of its kind. Its callback begins, if it has one */
	SF_TRACE_STATE_END,    /* object: the context's address */
	SF_TRACE_SEND,	       /* object: operation; other: flow; value: bytes; name: what it does */
	SF_TRACE_DELIVER,      /* object: receive; other: flow; value: bytes. The library begins to process it */
	SF_TRACE_DELIVER_END,
	SF_TRACE_ARM,	/* object: progress engine: a notification was requested; value: 1, something was due */
	SF_TRACE_WAKE,	/* value: the descriptor that was rung */
	SF_TRACE_AWAKE, /* object: progress engine: the notification was cleared */
	SF_TRACE_WORK,	/* name: the message that the agent begins with; value: its kind; object: its channel */
	SF_TRACE_WORK_END,
	SF_TRACE_CONTEXT,  /* when the timeline begins: object, value and name as of STATE; other: ns since that state began */
	SF_TRACE_INFLIGHT, /* as SUBMIT, of a task in flight when the timeline begins */
	SF_TRACE_CALL, /* at each tick: a progress call has not returned. object, name: the context that it is in; other: ns since
			* it began, at least; value: id of the thread, or 0 */
	SF_TRACE_KINDS,
};

/* Bit of a submit's value: the task may wait for ever, as a receive does. */
#define SF_TRACE_MAY_WAIT (UINT32_C(1) << 31)

/* An event. A flow links the events of one message, in all processes; 0: none. */
struct sf_trace_event {
	uint64_t ticks;
	uint64_t object, other;
	uint32_t value;
	uint16_t name; /* its index in the names */
	uint8_t kind;
	uint8_t check; /* checksum of ticks in a kernel's ring, valid if the event is complete */
};

_Static_assert(sizeof(struct sf_trace_event) == 32, "two events a cache line");

/* The same moment in two clocks. */
struct sf_trace_stamp {
	uint64_t ticks, ns;
};

struct sf_trace_ring {
	uint64_t head;	/* total number of events */
	uint64_t first; /* the first event of the ring's current thread */
	uint32_t thread;
	uint32_t has_ended;
	char name[SF_TRACE_THREAD_MAX];
	uint32_t is_kernel; /* written by a GPU: base/trace_kernel.h */
	uint32_t num_stamps;
	struct sf_trace_stamp stamps[2]; /* of the GPU's clock, in nanoseconds, and CLOCK_MONOTONIC; by is_kernel */
};

enum sf_trace_clock {
	SF_TRACE_CLOCK_NS,  /* ticks are nanoseconds of CLOCK_MONOTONIC */
	SF_TRACE_CLOCK_CPU, /* the CPU's counter: two stamps give its rate */
	SF_TRACE_CLOCKS,
};

struct sf_trace_head {
	char magic[8];
	uint32_t version;
	uint32_t clock; /* enum sf_trace_clock */
	uint32_t pid;	/* as the process itself knows it */
	uint32_t num_names;
	uint32_t num_rings;
	uint32_t last_stamp;	     /* index of the valid one of the two */
	struct sf_trace_stamp begin; /* of the file */
	struct sf_trace_stamp last[2];
	char boot[SF_TRACE_TEXT_MAX]; /* the machine's boot id: a reader on the same machine can take stamps, too */
	char program[SF_TRACE_TEXT_MAX], node[SF_TRACE_TEXT_MAX];
};

/* Offsets in the file. */
#define SF_TRACE_NAMES_AT 4096
#define SF_TRACE_RINGS_AT 16384
#define SF_TRACE_RING_HEAD 4096 /* bytes before a ring's events */
#define SF_TRACE_RING_SIZE (SF_TRACE_RING_HEAD + SF_TRACE_EVENTS * sizeof(struct sf_trace_event))
#define SF_TRACE_FILE_SIZE (SF_TRACE_RINGS_AT + SF_TRACE_RINGS_MAX * SF_TRACE_RING_SIZE)

_Static_assert(SF_TRACE_NAMES_AT + SF_TRACE_NAMES_MAX * SF_TRACE_NAME_MAX <= SF_TRACE_RINGS_AT, "the names fit");
_Static_assert((SF_TRACE_EVENTS & (SF_TRACE_EVENTS - 1)) == 0, "an event's place is its number's low bits");

/* The check of an event in a kernel's ring (softfield/gpu_trace.h). */
static inline uint8_t sf_trace_check(uint64_t ticks)
{
	return (uint8_t)(ticks ^ ticks >> 5 ^ ticks >> 13);
}

static inline size_t sf_trace_ring_at(uint32_t ring)
{
	return SF_TRACE_RINGS_AT + ring * SF_TRACE_RING_SIZE;
}

#endif
