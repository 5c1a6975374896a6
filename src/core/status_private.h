/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of status.c for the status thread. */
#ifndef SF_CORE_STATUS_PRIVATE_H
#define SF_CORE_STATUS_PRIVATE_H

#include <pthread.h>

#include "base/status_folder.h"
#include "base/thread_safety.h"
#include "core/ctx.h"
#include "core/pe.h"

/* Guards the lists and their entries. No other lock is acquired under it. */
extern pthread_mutex_t sf_status_lock;
extern LIST_HEAD(sf_status_pes, sf_status_pe) sf_status_pes GUARDED_BY(sf_status_lock);
extern LIST_HEAD(sf_status_ctxs, sf_status_ctx) sf_status_ctxs GUARDED_BY(sf_status_lock);

static inline struct doca_pe *sf_status_pe_of(struct sf_status_pe *status)
{
	return (struct doca_pe *)((char *)status - offsetof(struct doca_pe, status));
}

static inline struct doca_ctx *sf_status_ctx_of(struct sf_status_ctx *status)
{
	return (struct doca_ctx *)((char *)status - offsetof(struct doca_ctx, status));
}

/* Samples everything, passed_ms after the last time, and fills in the lists of the page. Call with the lock. */
void sf_status_sample(struct sf_status_page *page, uint64_t now_ns, uint64_t passed_ms);

/* Called when the timeline was switched on or off: switches all contexts. Call without the lock. */
void sf_status_trace_follow(void);

/* Called with the lock, when the first context is added or the last one removed. */
void sf_status_thread_wake(void);
void sf_status_thread_rest(void);
/* Called with the lock in a child of fork, which has no status thread. */
void sf_status_thread_after_fork(void);

#endif
