/* SPDX-License-Identifier: BSD-3-Clause */
/* A DMA context on a progress engine, for tests in one process or between two. Include it after cmocka. */
#ifndef TEST_DMA_RIG_H
#define TEST_DMA_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/clock.h"
#include "support/test_dev.h"
#include "support/wait.h"

#define RIG_BUFS 512
#define RIG_TASKS 64
#define RIG_WAIT_S 20

struct rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	uint32_t num_good, num_failed;
	doca_error_t status;	    /* of the last failed task */
	enum doca_ctx_states state; /* as the callback reported it */
	bool keep;		    /* callbacks do not free tasks */
	uint32_t resubmits;	    /* how often a callback submits its task again */
};

static inline void rig_ended(struct doca_dma_task_memcpy *task, union doca_data ctx_user_data, bool good)
{
	struct rig *rig = ctx_user_data.ptr;
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	if (good)
		rig->num_good++;
	else
		rig->num_failed++;
	if (!good)
		rig->status = doca_task_get_status(base);
	if (good && rig->resubmits > 0) {
		rig->resubmits--;
		assert_int_equal(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(base), DOCA_SUCCESS);
	} else if (!rig->keep) {
		doca_task_free(base);
	}
}

static inline void rig_good(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	rig_ended(task, ctx_user_data, true);
}

static inline void rig_failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	rig_ended(task, ctx_user_data, false);
}

static inline void rig_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
				     enum doca_ctx_states next)
{
	struct rig *rig = user_data.ptr;

	(void)ctx;
	(void)prev;
	rig->state = next;
}

/* Does everything except the start. */
static inline void rig_prepare(struct rig *rig, struct doca_dev *dev)
{
	union doca_data data = {.ptr = rig};

	*rig = (struct rig){.dev = dev};
	assert_non_null(rig->dev);
	assert_int_equal(doca_pe_create(&rig->pe), DOCA_SUCCESS);
	assert_int_equal(doca_dma_create(rig->dev, &rig->dma), DOCA_SUCCESS);
	rig->ctx = doca_dma_as_ctx(rig->dma);
	assert_int_equal(doca_pe_connect_ctx(rig->pe, rig->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(rig->ctx, data), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_state_changed_cb(rig->ctx, rig_state_changed), DOCA_SUCCESS);
	assert_int_equal(doca_dma_task_memcpy_set_conf(rig->dma, rig_good, rig_failed, RIG_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_create(RIG_BUFS, &rig->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_start(rig->inventory), DOCA_SUCCESS);
}

static inline void rig_start(struct rig *rig)
{
	assert_int_equal(doca_ctx_start(rig->ctx), DOCA_SUCCESS);
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
}

/* Progresses until the condition holds. */
#define RIG_WAIT(rig, condition)                                                                                                 \
	do {                                                                                                                     \
		double rig_deadline = sf_now_s() + RIG_WAIT_S;                                                                   \
		uint32_t rig_idle = 0;                                                                                           \
		while (!(condition)) {                                                                                           \
			turn_end(&rig_idle, doca_pe_progress((rig)->pe) != 0);                                                   \
			if (sf_now_s() > rig_deadline)                                                                           \
				fail_msg("timed out: %s", #condition);                                                           \
		}                                                                                                                \
	} while (0)

/* Stops it and waits for IDLE, also with tasks in flight. */
static inline void rig_stop(struct rig *rig)
{
	doca_error_t result = doca_ctx_stop(rig->ctx);

	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	RIG_WAIT(rig, rig->state == DOCA_CTX_STATE_IDLE);
}

static inline void rig_fini(struct rig *rig)
{
	rig_stop(rig);
	assert_int_equal(doca_buf_inventory_destroy(rig->inventory), DOCA_SUCCESS);
	assert_int_equal(doca_dma_destroy(rig->dma), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(rig->pe), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(rig->dev), DOCA_SUCCESS);
}

static inline struct doca_mmap *rig_mmap(struct rig *rig, void *addr, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, rig->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, addr, len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, permissions), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

/* A buf with data, and an empty one. */
static inline struct doca_buf *rig_source(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_data(rig->inventory, mmap, addr, len, &buf), DOCA_SUCCESS);
	return buf;
}

static inline struct doca_buf *rig_destination(struct rig *rig, struct doca_mmap *mmap, void *addr, size_t len)
{
	struct doca_buf *buf;

	assert_int_equal(doca_buf_inventory_buf_get_by_addr(rig->inventory, mmap, addr, len, &buf), DOCA_SUCCESS);
	return buf;
}

static inline void rig_put(struct doca_buf *buf)
{
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static inline size_t rig_data_len(const struct doca_buf *buf)
{
	size_t len;

	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	return len;
}

static inline struct doca_task *rig_task(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;

	assert_int_equal(doca_dma_task_memcpy_alloc_init(rig->dma, src, dst, (union doca_data){.u64 = 0}, &task), DOCA_SUCCESS);
	return doca_dma_task_memcpy_as_task(task);
}

/* Copies, and returns the status of the task. */
static inline doca_error_t rig_copy(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	uint32_t num = rig->num_good + rig->num_failed;

	rig->status = DOCA_SUCCESS;
	assert_int_equal(doca_task_submit(rig_task(rig, src, dst)), DOCA_SUCCESS);
	RIG_WAIT(rig, rig->num_good + rig->num_failed == num + 1);
	return rig->status;
}

#endif
