/* SPDX-License-Identifier: BSD-3-Clause */
/* An EC context and its tasks. */
#ifndef ERASURE_CODING_ERASURE_CODING_H
#define ERASURE_CODING_ERASURE_CODING_H

#include <doca_erasure_coding.h>

#include "core/offload.h"
#include "erasure_coding/matrix.h"
#include "erasure_coding/slice.h"
#include "mem/reg_cache.h"

/* The limits of EC, except those of matrices, which the capability calls report. */
#define EC_TASKS_MAX 65536 /* of each type */
#define EC_LIST_MAX SF_REG_LIST_MAX
#define EC_BLOCK_MAX                                                                                                             \
	((uint32_t)(SF_REG_LEN_MAX / EC_INPUTS_MAX)) /* so that a task of any number of blocks has a list's length               \
						      */
#define EC_ALIGNMENT 64				     /* a block's size is a multiple */
#define EC_ENGINE_MIN (UINT64_C(256) << 10)	     /* bytes of a source from which engine threads pay off */

#define EC_REFUSED UINT32_MAX /* the submit has rejected the task, logged why, and set its status */

enum { EC_CREATE_POOL, EC_UPDATE_POOL, EC_RECOVER_POOL, EC_GALOIS_MUL_POOL, EC_POOLS };

/* Common to all types of task. */
struct ec_task {
	struct doca_task base;
	const struct doca_ec_matrix *matrix;
	const struct doca_buf *src;
	struct doca_buf *dst;
	uint32_t done;	   /* bytes of each block that earlier slices computed, or EC_REFUSED */
	bool matrix_suits; /* the type of task */
};

struct doca_ec_task_create {
	struct ec_task common;
};

struct doca_ec_task_update {
	struct ec_task common;
};

struct doca_ec_task_recover {
	struct ec_task common;
};

struct doca_ec_task_galois_mul {
	struct ec_task common;
};

/* A task in a context whose device has engine threads. */
struct ec_engine_task {
	struct ec_task common;
	struct sf_offload_job job;
	struct ec_blocks blocks;
};

struct doca_ec {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool pools[EC_POOLS];
	struct sf_offload offload;
	struct sf_reg_cache reg_cache;
	uint8_t *staging; /* EC_SLICE bytes for progress, then as many for each engine thread */
};

extern const struct sf_offload_ops ec_task_ops;

/* Implements set_conf of all types. */
doca_error_t ec_task_configure(struct doca_ec *ec, int pool, doca_task_completion_cb_t completed,
			       doca_task_completion_cb_t failed, uint32_t num_tasks);

/* Implements allocate_init of all types. */
doca_error_t ec_task_alloc(struct doca_ec *ec, int pool, const struct doca_ec_matrix *matrix, const struct doca_buf *src,
			   struct doca_buf *dst, union doca_data user_data, struct ec_task **task);

/* Implement the setters of all types; what is the public function's name. */
void ec_task_set_matrix(struct ec_task *task, const struct doca_ec_matrix *matrix, const char *what);
void ec_task_set_src(struct ec_task *task, const struct doca_buf *src, const char *what);
void ec_task_set_dst(struct ec_task *task, struct doca_buf *dst, const char *what);

#endif
