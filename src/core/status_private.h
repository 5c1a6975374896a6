/* SPDX-License-Identifier: BSD-3-Clause */
/* What the status thread needs of status.c. */
#ifndef SF_CORE_STATUS_PRIVATE_H
#define SF_CORE_STATUS_PRIVATE_H

#include <pthread.h>

#include "base/status_folder.h"
#include "core/ctx.h"
#include "core/pe.h"

/* Guards the lists and their entries. Nothing else is locked under it. */
extern pthread_mutex_t sf_status_lock;
/* GUARDED_BY(sf_status_lock) */
extern LIST_HEAD(sf_status_pes, sf_status_pe) sf_status_pes;
extern LIST_HEAD(sf_status_ctxs, sf_status_ctx) sf_status_ctxs;

static inline struct doca_pe *sf_status_pe_of(struct sf_status_pe *status)
{
	return (struct doca_pe *)((char *)status - offsetof(struct doca_pe, status));
}

static inline struct doca_ctx *sf_status_ctx_of(struct sf_status_ctx *status)
{
	return (struct doca_ctx *)((char *)status - offsetof(struct doca_ctx, status));
}

/* Looks at everything, passed_ms after the last look, and fills in the lists of the page. With the lock. */
void sf_status_sample(struct sf_status_page *page, uint64_t now_ns, uint64_t passed_ms);

/* The timeline was switched on or off: all contexts are switched over. Without the lock. */
void sf_status_trace_follow(void);

/* With the lock: there is a first context, or no more. */
void sf_status_thread_wake(void);
void sf_status_thread_rest(void);
/* With the lock: in a child, which has no such thread. */
void sf_status_thread_after_fork(void);

#endif
