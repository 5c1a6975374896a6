/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What runs in this process: its progress engines, their contexts that are not IDLE, and the connections of those. A thread of
 * the library's own (status_thread.c) looks at it each second, writes the status page (base/status_page.h) and reports stalls
 * (stall.h). The threads of the progress engines only count calls, tasks and refused submits, as they would without it.
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

/* Which stalls were reported, and are not over. */
enum sf_stall {
	SF_STALL_STOPPING = 1 << 0,
	SF_STALL_STARTING = 1 << 1,
	SF_STALL_TASKS = 1 << 2,
	SF_STALL_AGAIN = 1 << 3,
};

/* A connection of a context. Guarded by the status lock. */
struct sf_status_conn {
	struct doca_ctx *ctx; /* NULL: not listed */
	int pid;	      /* of the peer, 0: unknown */
	bool is_ready;
	bool is_reported; /* as being made for too long */
	uint64_t since_ns;
	uint64_t waited_ms; /* in this state, as far as the status thread ran */
	LIST_ENTRY(sf_status_conn) entry;
};

/* Part of a context. Guarded by the status lock, but for the two names, which the library sets while the context is IDLE. */
struct sf_status_ctx {
	const char *device; /* its key, or NULL */
	const char *name;   /* of a server, say; or NULL */
	bool is_listed;
	enum doca_ctx_states state;
	uint64_t since_ns;
	LIST_HEAD(, sf_status_conn) conns;
	LIST_ENTRY(sf_status_ctx) entry;
	/* the status thread's: what it saw last, and for how long it saw a thing */
	uint64_t num_submitted, num_ended, num_again, num_owed, num_allocated;
	uint64_t state_ms, quiet_ms, again_ms;
	uint32_t reported;	    /* enum sf_stall */
	bool has_reported_receives; /* that there are none: pe_checks.c */
};

/* Part of a progress engine. Guarded by the status lock. */
struct sf_status_pe {
	bool is_listed;
	uint32_t place; /* in the status page that is written */
	int thread;
	uint64_t num_calls, last_call_ns; /* as the status thread saw them */
	bool is_still;			  /* no call since the look before */
	bool is_armed;			  /* a notification was requested */
	uint64_t num_calls_all;		  /* not in halves */
	bool has_moved;			  /* since the look before: or a call has not returned, which may copy much */
	uint64_t idle_ms;		  /* without a call, as far as the status thread ran */
	/* While the validation layer is on, the engine's thread's: */
	uint64_t requested_ns, requested_at; /* the last request of a notification, and num_calls then; 0: none */
	uint64_t reported_ns;		     /* the request that was reported; the status thread's */
	LIST_ENTRY(sf_status_pe) entry;
};

void sf_status_pe_add(struct doca_pe *pe);
void sf_status_pe_remove(struct doca_pe *pe);

/* The context is polled from now on, or no longer. Starts the status thread. */
void sf_status_ctx_add(struct doca_ctx *ctx);
void sf_status_ctx_remove(struct doca_ctx *ctx);
/* The context goes away, with connections of it perhaps. */
void sf_status_ctx_fini(struct doca_ctx *ctx);
void sf_status_ctx_state(struct doca_ctx *ctx, enum doca_ctx_states state);

/* A connection of the context begins; conn is the library's, zeroed at first. Listed already: its state and pid change. Any
 * thread, as close. */
SF_API void sf_status_conn_open(struct sf_status_conn *conn, struct doca_ctx *ctx, int pid, bool is_ready);
/* It ended. Nothing happens if it is not listed. */
SF_API void sf_status_conn_close(struct sf_status_conn *conn);

#endif
