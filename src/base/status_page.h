/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The status page: a file in which a process publishes its state, for `softfield ps` and for the stall reports of its peers. It
 * has a head and three lists: progress engines, contexts and connections.
 *
 * Times are CLOCK_MONOTONIC in nanoseconds, 0 for never. A page of another process is untrusted: sf_status_page_parse copies it
 * and checks each number that readers rely on. A page read during a write has a wrong checksum.
 */
#ifndef SF_BASE_STATUS_PAGE_H
#define SF_BASE_STATUS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"

#define SF_STATUS_MAGIC "SFSTATUS"
#define SF_STATUS_VERSION 2
#define SF_STATUS_ENGINES_MAX 32
#define SF_STATUS_CONTEXTS_MAX 128
#define SF_STATUS_CONNECTIONS_MAX 256
#define SF_STATUS_TEXT_MAX 64 /* bytes of a name, with its NUL */
#define SF_STATUS_KIND_MAX 32

struct sf_status_head {
	char magic[8];
	uint32_t version;
	uint32_t size;	   /* of the whole page */
	uint64_t checksum; /* of all following bytes */
	uint64_t sampled_ns, started_ns;
	uint32_t pid; /* in the process's own pid namespace */
	uint32_t user;
	uint32_t tick_ms; /* update interval: later changes are not in the page */
	uint32_t num_engines, num_contexts, num_connections;
	uint32_t num_left_out; /* contexts and connections that did not fit */
	uint32_t unused;
	char program[SF_STATUS_TEXT_MAX], node[SF_STATUS_TEXT_MAX];
};

struct sf_status_engine {
	uint32_t thread;    /* id of the thread that progresses it, or else last started a context on it */
	uint32_t is_armed;  /* a notification was requested: the program may sleep */
	uint64_t num_calls; /* of doca_pe_progress */
	uint64_t last_call_ns;
	uint64_t inside_since_ns; /* the same call has run at least since then; or 0 */
};

struct sf_status_context {
	uint32_t engine; /* its index in the list */
	uint32_t state;	 /* enum doca_ctx_states */
	uint64_t since_ns;
	uint64_t num_inflight, num_allocated, num_configured;
	uint64_t num_owed;  /* tasks in flight, except those that may wait for ever, such as receives */
	uint64_t oldest_ms; /* age of the oldest of those, at least, when the page was written; 0 if it is not known yet */
	uint64_t num_submitted, num_again;
	uint64_t again_since_ns; /* since then every submit has returned AGAIN; or 0 */
	char kind[SF_STATUS_KIND_MAX], device[SF_STATUS_TEXT_MAX], name[SF_STATUS_TEXT_MAX];
};

struct sf_status_connection {
	uint32_t context; /* its index in the list */
	uint32_t is_ready;
	uint32_t pid; /* of the peer; 0: unknown */
	uint32_t unused;
	uint64_t since_ns;
};

struct sf_status_page {
	struct sf_status_head head;
	struct sf_status_engine engines[SF_STATUS_ENGINES_MAX];
	struct sf_status_context contexts[SF_STATUS_CONTEXTS_MAX];
	struct sf_status_connection connections[SF_STATUS_CONNECTIONS_MAX];
};

#define SF_STATUS_STATES 4

/* The name of a context's state, which sf_status_page_parse has checked. */
SF_API const char *sf_status_state_name(uint32_t state);

/*
 * Writes the page to bytes, which has room for a whole one, and returns its length. Fills in magic, version, size and checksum.
 */
SF_API size_t sf_status_page_pack(const struct sf_status_page *page, void *bytes);

/* Parses a page from the bytes of a file. False if they are not a page of this version, or were read during a write. The texts
 * end with NUL and are otherwise unchecked. */
SF_API bool sf_status_page_parse(const void *bytes, size_t len, struct sf_status_page *page);

#endif
