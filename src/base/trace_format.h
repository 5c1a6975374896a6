/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that a process keeps its timeline in (docs/timeline.md): a head, names, and a ring of events for each thread. The
 * process maps it and writes; `softfield trace` reads it, while the process runs or after its end. To the reader all of it is
 * another process's word.
 *
 * A ring has one writer. It stores an event, then `head` with release: the event of number n is at events[n % SF_TRACE_EVENTS].
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
#define SF_TRACE_RINGS_MAX 64 /* threads; one that ended leaves its ring to another when there is no new one */
#define SF_TRACE_EVENTS 32768 /* of a ring; a power of two */

enum sf_trace_kind {
	SF_TRACE_SUBMIT = 1,   /* object: task; other: its context; value: bytes of the task, and a bit; name: of its type */
	SF_TRACE_AGAIN,	       /* as SUBMIT: it was refused, and perhaps more often after that */
	SF_TRACE_COMPLETE,     /* object: task; other: its context; value: status. Its callback begins */
	SF_TRACE_COMPLETE_BY,  /* as COMPLETE: whoever claims the task is told, a graph say */
	SF_TRACE_CALLBACK_END, /* object: what the task's context was */
	SF_TRACE_STATE,	       /* object: context; value: state; name: of its kind. Its callback begins, if it has one */
	SF_TRACE_STATE_END,    /* object: the context's address */
	SF_TRACE_SEND,	       /* object: operation; other: flow; value: bytes; name: what it does */
	SF_TRACE_DELIVER,      /* object: receive; other: flow; value: bytes. The library begins to look at it */
	SF_TRACE_DELIVER_END,
	SF_TRACE_ARM,	/* object: progress engine: a notification was requested; value: 1, something was due */
	SF_TRACE_WAKE,	/* value: the descriptor that was rung */
	SF_TRACE_AWAKE, /* object: progress engine: the notification was cleared */
	SF_TRACE_WORK,	/* name: the message that the agent begins with; value: its kind; object: its channel */
	SF_TRACE_WORK_END,
	SF_TRACE_KINDS,
};

/* Of the value of a submit: the task waits for what may never happen, as a receive does. */
#define SF_TRACE_MAY_WAIT (UINT32_C(1) << 31)

/* What a flow is: events with the same one, in any process, belong to one message. 0: none. */
struct sf_trace_event {
	uint64_t ticks;
	uint64_t object, other;
	uint32_t value;
	uint16_t name; /* its place in the names */
	uint8_t kind;
	uint8_t unused;
};

_Static_assert(sizeof(struct sf_trace_event) == 32, "two events a cache line");

struct sf_trace_ring {
	uint64_t head;	/* events ever */
	uint64_t first; /* the first one of the thread that has the ring now */
	uint32_t thread;
	uint32_t has_ended;
	char name[SF_TRACE_THREAD_MAX];
};

enum sf_trace_clock {
	SF_TRACE_CLOCK_NS,  /* ticks are nanoseconds of CLOCK_MONOTONIC */
	SF_TRACE_CLOCK_CPU, /* the processor's counter: two stamps say how fast it goes */
	SF_TRACE_CLOCKS,
};

/* The same moment by both clocks. */
struct sf_trace_stamp {
	uint64_t ticks, ns;
};

struct sf_trace_head {
	char magic[8];
	uint32_t version;
	uint32_t clock; /* enum sf_trace_clock */
	uint32_t pid;	/* as the process itself knows it */
	uint32_t num_names;
	uint32_t num_rings;
	uint32_t last_stamp;	     /* which of the two is whole */
	struct sf_trace_stamp begin; /* of the file */
	struct sf_trace_stamp last[2];
	char boot[SF_TRACE_TEXT_MAX]; /* of the machine: a reader on the same one can make stamps too */
	char program[SF_TRACE_TEXT_MAX], node[SF_TRACE_TEXT_MAX];
};

/* Where things are. */
#define SF_TRACE_NAMES_AT 4096
#define SF_TRACE_RINGS_AT 16384
#define SF_TRACE_RING_HEAD 4096 /* bytes before a ring's events */
#define SF_TRACE_RING_SIZE (SF_TRACE_RING_HEAD + SF_TRACE_EVENTS * sizeof(struct sf_trace_event))
#define SF_TRACE_FILE_SIZE (SF_TRACE_RINGS_AT + SF_TRACE_RINGS_MAX * SF_TRACE_RING_SIZE)

_Static_assert(SF_TRACE_NAMES_AT + SF_TRACE_NAMES_MAX * SF_TRACE_NAME_MAX <= SF_TRACE_RINGS_AT, "the names fit");
_Static_assert((SF_TRACE_EVENTS & (SF_TRACE_EVENTS - 1)) == 0, "an event's place is its number's low bits");

static inline size_t sf_trace_ring_at(uint32_t ring)
{
	return SF_TRACE_RINGS_AT + ring * SF_TRACE_RING_SIZE;
}

#endif
