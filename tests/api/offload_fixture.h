/* SPDX-License-Identifier: BSD-3-Clause */
/* A context of one library, and memory, for each test: common to SHA, AES-GCM and EC. Include it after cmocka. */
#ifndef OFFLOAD_FIXTURE_H
#define OFFLOAD_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/test_dev.h"
#include "support/wait.h"

#define WAIT_S 60
#define ok(call) assert_int_equal(call, DOCA_SUCCESS)

struct fixture {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	union { /* the library's object */
		struct doca_sha *sha;
		struct doca_aes_gcm *aes_gcm;
		struct doca_ec *ec;
	};
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap; /* covers memory */
	uint8_t *memory;
	size_t size;
	uint8_t *room;			  /* a part of memory, chosen by the library's fixture */
	struct doca_aes_gcm_key *keys[2]; /* AES-GCM: of 128 and 256 bits */
	uint32_t num_good, num_failed;
	doca_error_t status; /* of the last completed task */
	enum doca_ctx_states state;
};

/* ---- callbacks, cast to those of each type of task ---- */

static inline void good(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->num_good++;
	f->status = doca_task_get_status(task);
}

static inline void failed(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct fixture *f = ctx_user_data.ptr;

	(void)task_user_data;
	f->num_failed++;
	f->status = doca_task_get_status(task);
}

static inline void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
				 enum doca_ctx_states next)
{
	(void)ctx;
	(void)prev;
	((struct fixture *)user_data.ptr)->state = next;
}

#define WAIT(f, condition)                                                                                                       \
	do {                                                                                                                     \
		time_t deadline = time(NULL) + WAIT_S;                                                                           \
		uint32_t num_idle = 0;                                                                                           \
		while (!(condition)) {                                                                                           \
			turn_end(&num_idle, doca_pe_progress((f)->pe) != 0);                                                     \
			if (time(NULL) > deadline)                                                                               \
				fail_msg("timed out: %s", #condition);                                                           \
		}                                                                                                                \
	} while (0)

/* ---- setup ---- */

static inline void start(struct fixture *f)
{
	ok(doca_ctx_start(f->ctx));
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
}

static inline void stop(struct fixture *f)
{
	(void)doca_ctx_stop(f->ctx);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
}

static inline struct doca_mmap *map(struct fixture *f, void *memory, size_t len, uint32_t permissions)
{
	struct doca_mmap *mmap;

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, f->dev));
	ok(doca_mmap_set_memrange(mmap, memory, len));
	ok(doca_mmap_set_permissions(mmap, permissions));
	ok(doca_mmap_start(mmap));
	return mmap;
}

/* A device, an engine, memory and bufs. */
static inline void fixture_open(struct fixture *f, size_t size, size_t num_bufs)
{
	memset(f, 0, sizeof(*f));
	f->dev = test_dev_open(0);
	f->size = size;
	f->memory = malloc(size);
	f->mmap = map(f, f->memory, size, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	ok(doca_buf_inventory_create(num_bufs, &f->inventory));
	ok(doca_buf_inventory_start(f->inventory));
	ok(doca_pe_create(&f->pe));
}

/* Fills all of the memory with bytes of a long period. */
static inline void fixture_fill(struct fixture *f)
{
	for (size_t i = 0; i < f->size; i++)
		f->memory[i] = (uint8_t)(i * 7 + (i >> 11));
}

/* Connects the library's context, which is not yet configured. */
static inline void fixture_connect(struct fixture *f, struct doca_ctx *ctx)
{
	f->ctx = ctx;
	ok(doca_pe_connect_ctx(f->pe, ctx));
	ok(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = f}));
	ok(doca_ctx_set_state_changed_cb(ctx, state_changed));
}

/* The context has been destroyed. */
static inline void fixture_close(struct fixture *f)
{
	ok(doca_buf_inventory_destroy(f->inventory));
	ok(doca_mmap_destroy(f->mmap));
	ok(doca_pe_destroy(f->pe));
	ok(doca_dev_close(f->dev));
	free(f->memory);
}

/* ---- buffers ---- */

static inline struct doca_buf *source(struct fixture *f, const uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, f->mmap, (void *)(uintptr_t)at, len, &buf));
	return buf;
}

static inline struct doca_buf *destination(struct fixture *f, uint8_t *at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, f->mmap, at, len, &buf));
	return buf;
}

static inline void put(struct doca_buf *buf)
{
	ok(doca_buf_dec_refcount(buf, NULL));
}

static inline size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	ok(doca_buf_get_data_len(buf, &len));
	return len;
}

/* ---- tasks ---- */

static inline doca_error_t run(struct fixture *f, struct doca_task *task)
{
	uint32_t num = f->num_good + f->num_failed;

	ok(doca_task_submit(task));
	WAIT(f, f->num_good + f->num_failed == num + 1);
	return f->status;
}

static inline doca_error_t run_once(struct fixture *f, struct doca_task *task)
{
	doca_error_t status = run(f, task);

	doca_task_free(task);
	return status;
}

/* Restarts the context after a failed task has stopped it. */
static inline void run_again(struct fixture *f)
{
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

/* try_submit fails and the context runs on; submit accepts the task, which fails with status and ends the run. */
static inline void expect_wrong(struct fixture *f, struct doca_task *task, doca_error_t status)
{
	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->state, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(run(f, task), status);
	assert_int_equal(f->state, DOCA_CTX_STATE_STOPPING);
	doca_task_free(task);
	run_again(f);
}

#endif
