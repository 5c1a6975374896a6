/* SPDX-License-Identifier: BSD-3-Clause */
/* A SHA context and its tasks. */
#ifndef SHA_SHA_H
#define SHA_SHA_H

#include <doca_sha.h>

#include "core/offload.h"
#include "mem/reg_cache.h"
#include "sha/digest.h"

/* The limits of SHA, which the capability calls report. */
#define SHA_LOG_TASKS_MAX 13 /* of each type */
#define SHA_LIST_MAX SF_REG_LIST_MAX
#define SHA_LEN_MAX SF_REG_LEN_MAX
#define SHA_SLICE (UINT64_C(256) << 10)	    /* bytes that one progress call digests of a task */
#define SHA_ENGINE_MIN (UINT64_C(64) << 10) /* bytes from which an engine thread pays off */

enum sha_phase {
	SHA_FRESH, /* nothing digested yet */
	SHA_BEGUN, /* partial: some pieces are digested */
	SHA_ENDED, /* partial: the destination has the result */
};

/* Common to both types of task. */
struct sha_task {
	struct doca_task base;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint64_t done; /* bytes of this submit that earlier slices digested, or SHA_REFUSED */
	enum doca_sha_algorithm algorithm;
	enum sha_phase phase;
	bool is_partial;
	bool is_final; /* the next submit brings the last piece */
	struct sha_state state;
};

#define SHA_REFUSED UINT64_MAX /* the submit has rejected the task, logged why, and set its status */

struct doca_sha_task_hash {
	struct sha_task common;
};

struct doca_sha_task_partial_hash {
	struct sha_task common;
};

/* A task in a context whose device has engine threads. */
struct sha_engine_task {
	struct sha_task common;
	struct sf_offload_job job;
	struct sf_reg_list from;
	uint8_t digest[SHA_DIGEST_MAX];
};

enum { SHA_HASH_POOL, SHA_PARTIAL_POOL, SHA_POOLS };

struct doca_sha {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool pools[SHA_POOLS];
	struct sf_offload offload;
	struct sf_reg_cache reg_cache;
	bool overwrites; /* digests overwrite the data of their destination instead of appending */
};

extern const struct sf_offload_ops sha_task_ops;

/* Implements set_conf of both types. */
doca_error_t sha_task_configure(struct doca_sha *sha, int pool, doca_task_completion_cb_t completed,
				doca_task_completion_cb_t failed, uint8_t log_num_tasks);

/* Implements alloc_init of both types; the task is FRESH. */
doca_error_t sha_task_alloc(struct doca_sha *sha, int pool, enum doca_sha_algorithm algorithm, const struct doca_buf *src,
			    struct doca_buf *dst, union doca_data user_data, struct sha_task **task);

/* INVALID_VALUE, logged, if task or value is NULL, or the task is in flight. */
doca_error_t sha_task_check_setter(const struct sha_task *task, const void *value, const char *what);

#endif
