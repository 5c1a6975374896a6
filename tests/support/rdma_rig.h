/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA instance on a progress engine with its own memory map, for tests in one process or between two. */
#ifndef TEST_RDMA_RIG_H
#define TEST_RDMA_RIG_H

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
#include <doca_rdma.h>

#include "base/clock.h"
#include "support/check.h"
#include "support/test_dev.h"
#include "support/wait.h"

#define RIG_TASKS 64
#define RIG_WAIT_S 60 /* only a hang takes longer, even on a busy machine */
#define RIG_LIST 4
#define RIG_ALL                                                                                                                  \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                          \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)
#define RIG_LOG 4096

struct rdma_rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap, *remote;
	uint8_t *memory;
	size_t size;
	uint8_t *remote_memory;
	enum doca_ctx_states state;
	uint32_t num_good, num_failed, num_received;
	doca_error_t status;	 /* of the first task that failed */
	uint64_t order[RIG_LOG]; /* user data of completed tasks, in order */
	doca_error_t statuses[RIG_LOG];
	uint32_t num_ended;
	/* the last receive */
	uint32_t len;
	enum doca_rdma_opcode opcode;
	doca_be32_t immediate;
	const struct doca_rdma_connection *from;
	uint32_t resubmits;
	bool keep;
	void (*on_ended)(struct rdma_rig *rig); /* called at the end of every task's callback, or NULL */
};

static inline void rdma_rig_ended(struct doca_task *task, union doca_data task_user_data, union doca_data ctx_user_data,
				  bool good)
{
	struct rdma_rig *rig = ctx_user_data.ptr;

	if (good)
		rig->num_good++;
	else if (rig->num_failed++ == 0)
		rig->status = doca_task_get_status(task);
	rig->statuses[rig->num_ended % RIG_LOG] = doca_task_get_status(task);
	rig->order[rig->num_ended++ % RIG_LOG] = task_user_data.u64;
	if (good && rig->resubmits > 0) {
		rig->resubmits--;
		CHECK_OK(doca_task_submit(task));
	} else if (!rig->keep) {
		doca_task_free(task);
	}
	if (rig->on_ended != NULL)
		rig->on_ended(rig);
}

#define RIG_CALLBACKS(name)                                                                                                      \
	static inline void rdma_rig_##name##_good(struct doca_rdma_task_##name *task, union doca_data data,                      \
						  union doca_data ctx_data)                                                      \
	{                                                                                                                        \
		rdma_rig_ended(doca_rdma_task_##name##_as_task(task), data, ctx_data, true);                                     \
	}                                                                                                                        \
	static inline void rdma_rig_##name##_failed(struct doca_rdma_task_##name *task, union doca_data data,                    \
						    union doca_data ctx_data)                                                    \
	{                                                                                                                        \
		rdma_rig_ended(doca_rdma_task_##name##_as_task(task), data, ctx_data, false);                                    \
	}
RIG_CALLBACKS(send)
RIG_CALLBACKS(send_imm)
RIG_CALLBACKS(read)
RIG_CALLBACKS(write)
RIG_CALLBACKS(write_imm)
RIG_CALLBACKS(atomic_cmp_swp)
RIG_CALLBACKS(atomic_fetch_add)
RIG_CALLBACKS(remote_net_sync_event_get)
RIG_CALLBACKS(remote_net_sync_event_notify_set)
RIG_CALLBACKS(remote_net_sync_event_notify_add)

static inline void rdma_rig_received(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	struct rdma_rig *rig = ctx_data.ptr;

	rig->num_received++;
	rig->len = doca_rdma_task_receive_get_result_len(task);
	rig->opcode = doca_rdma_task_receive_get_result_opcode(task);
	rig->immediate = doca_rdma_task_receive_get_result_immediate_data(task);
	rig->from = doca_rdma_task_receive_get_result_rdma_connection(task);
	rdma_rig_ended(doca_rdma_task_receive_as_task(task), data, ctx_data, true);
}

static inline void rdma_rig_receive_failed(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	rdma_rig_ended(doca_rdma_task_receive_as_task(task), data, ctx_data, false);
}

static inline void rdma_rig_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
					  enum doca_ctx_states next)
{
	struct rdma_rig *rig = user_data.ptr;

	(void)ctx;
	(void)prev;
	rig->state = next;
}

#define RIG_CONF(name)                                                                                                           \
	CHECK_OK(doca_rdma_task_##name##_set_conf(rig->rdma, rdma_rig_##name##_good, rdma_rig_##name##_failed, RIG_TASKS))

/* Does everything except the start. mmap_permissions are those of its memory. */
static inline void rdma_rig_prepare(struct rdma_rig *rig, uint32_t device, size_t size, uint32_t permissions,
				    uint32_t mmap_permissions)
{
	union doca_data data = {.ptr = rig};

	memset(rig, 0, sizeof(*rig));
	rig->dev = test_dev_open(device);
	CHECK(rig->dev != NULL);
	CHECK_OK(doca_pe_create(&rig->pe));
	CHECK_OK(doca_rdma_create(rig->dev, &rig->rdma));
	rig->ctx = doca_rdma_as_ctx(rig->rdma);
	CHECK_OK(doca_ctx_set_user_data(rig->ctx, data));
	CHECK_OK(doca_ctx_set_state_changed_cb(rig->ctx, rdma_rig_state_changed));
	CHECK_OK(doca_pe_connect_ctx(rig->pe, rig->ctx));
	CHECK_OK(doca_rdma_set_permissions(rig->rdma, permissions));
	CHECK_OK(doca_rdma_set_max_send_buf_list_len(rig->rdma, RIG_LIST));
	CHECK_OK(doca_rdma_task_receive_set_dst_buf_list_len(rig->rdma, RIG_LIST));
	RIG_CONF(send);
	RIG_CONF(send_imm);
	RIG_CONF(read);
	RIG_CONF(write);
	RIG_CONF(write_imm);
	RIG_CONF(atomic_cmp_swp);
	RIG_CONF(atomic_fetch_add);
	RIG_CONF(remote_net_sync_event_get);
	RIG_CONF(remote_net_sync_event_notify_set);
	RIG_CONF(remote_net_sync_event_notify_add);
	CHECK_OK(doca_rdma_task_receive_set_conf(rig->rdma, rdma_rig_received, rdma_rig_receive_failed, RIG_TASKS));
	CHECK_OK(doca_buf_inventory_create(512, &rig->inventory));
	CHECK_OK(doca_buf_inventory_start(rig->inventory));
	rig->size = size;
	rig->memory = calloc(1, size);
	CHECK_OK(doca_mmap_create(&rig->mmap));
	CHECK_OK(doca_mmap_set_memrange(rig->mmap, rig->memory, size));
	CHECK_OK(doca_mmap_set_permissions(rig->mmap, mmap_permissions));
	CHECK_OK(doca_mmap_add_dev(rig->mmap, rig->dev));
	CHECK_OK(doca_mmap_start(rig->mmap));
}

static inline bool rdma_rig_late(uint64_t begin_ns)
{
	return sf_now_ns() - begin_ns > RIG_WAIT_S * UINT64_C(1000000000);
}

/* Progresses both (b may be NULL) until the condition holds. */
#define RDMA_RIG_WAIT(a, b, condition)                                                                                           \
	do {                                                                                                                     \
		uint64_t begin_ = sf_now_ns();                                                                                   \
		struct rdma_rig *a_ = (a), *b_ = (b);                                                                            \
		uint32_t idle_ = 0;                                                                                              \
		while (!(condition)) {                                                                                           \
			bool moved_ = doca_pe_progress(a_->pe) != 0;                                                             \
			moved_ |= b_ != NULL && doca_pe_progress(b_->pe) != 0;                                                   \
			turn_end(&idle_, moved_);                                                                                \
			CHECK(!rdma_rig_late(begin_));                                                                           \
		}                                                                                                                \
	} while (0)

static inline void rdma_rig_start(struct rdma_rig *rig)
{
	CHECK_OK(doca_ctx_start(rig->ctx));
	CHECK(rig->state == DOCA_CTX_STATE_RUNNING);
}

static inline void rdma_rig_stop(struct rdma_rig *rig)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	if (state == DOCA_CTX_STATE_RUNNING)
		(void)doca_ctx_stop(rig->ctx);
	RDMA_RIG_WAIT(rig, NULL, rig->state == DOCA_CTX_STATE_IDLE);
}

static inline void rdma_rig_fini(struct rdma_rig *rig)
{
	rdma_rig_stop(rig);
	CHECK_OK(doca_rdma_destroy(rig->rdma));
	CHECK_OK(doca_buf_inventory_destroy(rig->inventory));
	if (rig->remote != NULL)
		CHECK_OK(doca_mmap_destroy(rig->remote));
	if (rig->mmap != NULL)
		CHECK_OK(doca_mmap_destroy(rig->mmap));
	CHECK_OK(doca_pe_destroy(rig->pe));
	CHECK_OK(doca_dev_close(rig->dev));
	free(rig->memory);
}

static inline void rdma_rig_import(struct rdma_rig *rig, const void *descriptor, size_t len)
{
	void *addr;
	size_t size;

	CHECK_OK(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &rig->remote));
	CHECK_OK(doca_mmap_get_memrange(rig->remote, &addr, &size));
	rig->remote_memory = addr;
}

/* A buf with data, or an empty one. remote: in the peer's memory. */
static inline struct doca_buf *rdma_rig_buf(struct rdma_rig *rig, bool remote, size_t offset, size_t len, bool data)
{
	struct doca_buf *buf;
	struct doca_mmap *mmap = remote ? rig->remote : rig->mmap;
	uint8_t *at = (remote ? rig->remote_memory : rig->memory) + offset;

	if (data)
		CHECK_OK(doca_buf_inventory_buf_get_by_data(rig->inventory, mmap, at, len, &buf));
	else
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(rig->inventory, mmap, at, len, &buf));
	return buf;
}

#define rig_source(rig, offset, len) rdma_rig_buf(rig, false, offset, len, true)
#define rig_room(rig, offset, len) rdma_rig_buf(rig, false, offset, len, false)
#define rig_remote_source(rig, offset, len) rdma_rig_buf(rig, true, offset, len, true)
#define rig_remote_room(rig, offset, len) rdma_rig_buf(rig, true, offset, len, false)

static inline void rig_put(struct doca_buf *buf)
{
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
}

/* ---- tasks: each function submits one and returns the result of the submit ---- */

static inline doca_error_t rig_submit(struct doca_task *task)
{
	doca_error_t result = doca_task_submit(task);

	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

static inline doca_error_t rig_receive(struct rdma_rig *rig, struct doca_buf *dst, uint64_t mark)
{
	struct doca_rdma_task_receive *task;

	CHECK_OK(doca_rdma_task_receive_allocate_init(rig->rdma, dst, (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_receive_as_task(task));
}

static inline doca_error_t rig_send(struct rdma_rig *rig, struct doca_rdma_connection *to, const struct doca_buf *src,
				    uint64_t mark)
{
	struct doca_rdma_task_send *task;

	CHECK_OK(doca_rdma_task_send_allocate_init(rig->rdma, to, src, (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_send_as_task(task));
}

static inline doca_error_t rig_send_imm(struct rdma_rig *rig, struct doca_rdma_connection *to, const struct doca_buf *src,
					doca_be32_t immediate, uint64_t mark)
{
	struct doca_rdma_task_send_imm *task;

	CHECK_OK(doca_rdma_task_send_imm_allocate_init(rig->rdma, to, src, immediate, (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_send_imm_as_task(task));
}

static inline doca_error_t rig_read(struct rdma_rig *rig, struct doca_rdma_connection *to, const struct doca_buf *src,
				    struct doca_buf *dst, uint64_t mark)
{
	struct doca_rdma_task_read *task;

	CHECK_OK(doca_rdma_task_read_allocate_init(rig->rdma, to, src, dst, (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_read_as_task(task));
}

static inline doca_error_t rig_write(struct rdma_rig *rig, struct doca_rdma_connection *to, const struct doca_buf *src,
				     struct doca_buf *dst, uint64_t mark)
{
	struct doca_rdma_task_write *task;

	CHECK_OK(doca_rdma_task_write_allocate_init(rig->rdma, to, src, dst, (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_write_as_task(task));
}

static inline doca_error_t rig_write_imm(struct rdma_rig *rig, struct doca_rdma_connection *to, const struct doca_buf *src,
					 struct doca_buf *dst, doca_be32_t immediate, uint64_t mark)
{
	struct doca_rdma_task_write_imm *task;

	CHECK_OK(doca_rdma_task_write_imm_allocate_init(rig->rdma, to, src, dst, immediate, (union doca_data){.u64 = mark},
							&task));
	return rig_submit(doca_rdma_task_write_imm_as_task(task));
}

static inline doca_error_t rig_cas(struct rdma_rig *rig, struct doca_rdma_connection *to, struct doca_buf *dst,
				   struct doca_buf *result, uint64_t compare, uint64_t swap, uint64_t mark)
{
	struct doca_rdma_task_atomic_cmp_swp *task;

	CHECK_OK(doca_rdma_task_atomic_cmp_swp_allocate_init(rig->rdma, to, dst, result, compare, swap,
							     (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_atomic_cmp_swp_as_task(task));
}

static inline doca_error_t rig_add(struct rdma_rig *rig, struct doca_rdma_connection *to, struct doca_buf *dst,
				   struct doca_buf *result, uint64_t value, uint64_t mark)
{
	struct doca_rdma_task_atomic_fetch_add *task;

	CHECK_OK(doca_rdma_task_atomic_fetch_add_allocate_init(rig->rdma, to, dst, result, value, (union doca_data){.u64 = mark},
							       &task));
	return rig_submit(doca_rdma_task_atomic_fetch_add_as_task(task));
}

static inline doca_error_t rig_event_get(struct rdma_rig *rig, struct doca_rdma_connection *to,
					 const struct doca_sync_event_remote_net *event, struct doca_buf *dst, uint64_t mark)
{
	struct doca_rdma_task_remote_net_sync_event_get *task;

	CHECK_OK(doca_rdma_task_remote_net_sync_event_get_allocate_init(rig->rdma, to, event, dst, (union doca_data){.u64 = mark},
									&task));
	return rig_submit(doca_rdma_task_remote_net_sync_event_get_as_task(task));
}

static inline doca_error_t rig_event_set(struct rdma_rig *rig, struct doca_rdma_connection *to,
					 struct doca_sync_event_remote_net *event, const struct doca_buf *src, uint64_t mark)
{
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;

	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(rig->rdma, to, event, src,
									       (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
}

static inline doca_error_t rig_event_add(struct rdma_rig *rig, struct doca_rdma_connection *to,
					 struct doca_sync_event_remote_net *event, struct doca_buf *result, uint64_t value,
					 uint64_t mark)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task;

	CHECK_OK(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(rig->rdma, to, event, result, value,
									       (union doca_data){.u64 = mark}, &task));
	return rig_submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
}

#endif
