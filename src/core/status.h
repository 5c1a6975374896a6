/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of this process: its progress engines, their contexts that are not IDLE, and the connections of those. The status
 * thread (status_thread.c) samples it each second, writes the status page (base/status_page.h) and reports stalls (stall.h).
 * Threads of progress engines only count calls, tasks and failed submits, as they would without it.
 */
#ifndef SF_CORE_STATUS_H
#define SF_CORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_ctx.h>

#include "base/visibility.h"

struct doca_ctx;
struct doca_pe;

/* Kinds of stalls, as bits of those reported and not over. */
enum sf_stall {
	SF_STALL_STOPPING = 1 << 0,
	SF_STALL_STARTING = 1 << 1,
	SF_STALL_TASKS = 1 << 2,
	SF_STALL_AGAIN = 1 << 3,
	SF_STALL_CALL = 1 << 4,
	SF_STALL_OLD_TASK = 1 << 5,
};

/* A connection of a context. Guarded by the status lock. */
struct sf_status_conn {
	struct doca_ctx *ctx; /* NULL: not listed */
	int pid;	      /* of the peer; 0: unknown */
	bool is_ready;
	bool is_reported; /* as not established in time */
	uint64_t since_ns;
	uint64_t waited_ms; /* in this state, while the status thread ran */
	LIST_ENTRY(sf_status_conn) entry;
};

/* Part of a context. Guarded by the status lock, except the two names, which the library sets while the context is IDLE. */
struct sf_status_ctx {
	const char *device; /* its key, or NULL */
	const char *name;   /* for example of a server; or NULL */
	bool is_listed;
	enum doca_ctx_states state;
	uint64_t since_ns;
	LIST_HEAD(, sf_status_conn) conns;
	LIST_ENTRY(sf_status_ctx) entry;
	/* used by the status thread: its last samples, and durations */
	uint64_t num_submitted, num_ended, num_again, num_owed, num_allocated;
	uint64_t state_ms, quiet_ms, again_ms;
	uint64_t oldest_ms;	    /* age of the oldest of num_owed tasks, at least */
	bool is_in_call;	    /* a progress call polls it, or runs its callback */
	uint32_t reported;	    /* enum sf_stall */
	bool has_reported_receives; /* reported that no receive was posted: pe_checks.c */
};

/* Part of a progress engine. Guarded by the status lock. */
struct sf_status_pe {
	bool is_listed;
	uint32_t place;			  /* index in the status page */
	int thread;			  /* that progressed it, or last started a context on it */
	bool has_progressed;		  /* thread was seen in a progress call */
	uint64_t num_calls, last_call_ns; /* as last sampled */
	bool is_still;			  /* no call since the last sample */
	bool is_armed;			  /* a notification was requested */
	uint64_t num_calls_all;		  /* sum of both halves */
	bool has_moved;			  /* since the last sample; or a call has not returned, which may copy much */
	uint64_t idle_ms;		  /* without a call, while the status thread ran */
	bool is_inside;			  /* a call was running */
	uint64_t inside_ms;		  /* of that, in the same call */
	uint64_t asleep_ms;		  /* of that, while its thread slept */
	/* Written by the engine's thread while the validation layer is on: */
	uint64_t requested_ns, requested_at; /* the last request of a notification, and num_calls then; 0: none */
	uint64_t reported_ns;		     /* the request that was reported; used by the status thread */
	LIST_ENTRY(sf_status_pe) entry;
};

void sf_status_pe_add(struct doca_pe *pe);
void sf_status_pe_remove(struct doca_pe *pe);

/* Called when the context starts or stops being polled. Starts the status thread. */
void sf_status_ctx_add(struct doca_ctx *ctx);
void sf_status_ctx_remove(struct doca_ctx *ctx);
/* Called when the context is destroyed, perhaps with connections. */
void sf_status_ctx_fini(struct doca_ctx *ctx);
void sf_status_ctx_state(struct doca_ctx *ctx, enum doca_ctx_states state);

/* Lists a connection of the context; conn is in the library's memory, initially zeroed. If it is listed already, updates its
 * state and pid. Any thread, as close. */
SF_API void sf_status_conn_open(struct sf_status_conn *conn, struct doca_ctx *ctx, int pid, bool is_ready);
/* Removes an ended connection. Does nothing if it is not listed. */
SF_API void sf_status_conn_close(struct sf_status_conn *conn);

#endif
