/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA instance of DOCA 2.5 with all its tasks and a memory map, on a progress engine. Checks end the process. */
#ifndef TESTS_LEGACY25_RIG_H
#define TESTS_LEGACY25_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <doca_buf_inventory.h>
#include <doca_rdma.h>

#include "support/check.h"
#include "support/test_dev.h"

#define RIG_SIZE 65536
#define RIG_TASKS 16
#define RIG_WAIT_S 30
#define RIG_BUFS 64
#define RIG_ALL                                                                                                                  \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                          \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap, *remote;
	uint8_t *memory, *remote_memory;
	enum doca_ctx_states states[8]; /* in the order of the callbacks */
	uint32_t num_states;
	uint32_t num_submitted; /* by RIG_SUBMIT */
	uint32_t num_good, num_failed, num_received;
	doca_error_t status; /* of the last task that failed */
	/* the last receive */
	uint32_t len;
	enum doca_rdma_opcode opcode;
	doca_be32_t immediate;
	bool keep; /* tasks are not freed when they end */
	/* what the state callback does in STARTING, or NULL */
	void (*starting)(struct rig *rig);
	const void *peer;
	size_t peer_size;
	struct doca_buf *bufs[RIG_BUFS]; /* released at the end */
	uint32_t num_bufs;
};

static inline void rig_ended(struct rig *rig, struct doca_task *task, bool good)
{
	if (good)
		rig->num_good++;
	else
		rig->num_failed++;
	if (!good)
		rig->status = doca_task_get_status(task);
	if (!rig->keep)
		doca_task_free(task);
}

#define RIG_CALLBACKS(name, received)                                                                                            \
	static inline void rig_##name##_good(struct doca_rdma_task_##name *task, union doca_data data, union doca_data ctx_data) \
	{                                                                                                                        \
		struct rig *rig = (struct rig *)ctx_data.ptr;                                                                    \
                                                                                                                                 \
		(void)data;                                                                                                      \
		received;                                                                                                        \
		rig_ended(rig, doca_rdma_task_##name##_as_task(task), true);                                                     \
	}                                                                                                                        \
	static inline void rig_##name##_failed(struct doca_rdma_task_##name *task, union doca_data data,                         \
					       union doca_data ctx_data)                                                         \
	{                                                                                                                        \
		(void)data;                                                                                                      \
		rig_ended((struct rig *)ctx_data.ptr, doca_rdma_task_##name##_as_task(task), false);                             \
	}
RIG_CALLBACKS(send, (void)0)
RIG_CALLBACKS(send_imm, (void)0)
RIG_CALLBACKS(read, rig->len = doca_rdma_task_read_get_result_length(task))
RIG_CALLBACKS(write, (void)0)
RIG_CALLBACKS(write_imm, (void)0)
RIG_CALLBACKS(atomic_cmp_swp, (void)0)
RIG_CALLBACKS(atomic_fetch_add, (void)0)
RIG_CALLBACKS(remote_net_sync_event_get, rig->len = doca_rdma_task_remote_net_sync_event_get_get_result_length(task))
RIG_CALLBACKS(remote_net_sync_event_notify_set, (void)0)
RIG_CALLBACKS(remote_net_sync_event_notify_add, (void)0)
RIG_CALLBACKS(receive, {
	rig->num_received++;
	rig->len = doca_rdma_task_receive_get_result_length(task);
	rig->opcode = doca_rdma_task_receive_get_result_opcode(task);
	rig->immediate = doca_rdma_task_receive_get_result_immediate_data(task);
})

static inline void rig_state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
				     enum doca_ctx_states next)
{
	struct rig *rig = (struct rig *)user_data.ptr;
	enum doca_ctx_states now;

	(void)prev;
	CHECK_OK(doca_ctx_get_state(ctx, &now));
	CHECK(now == next);
	CHECK(rig->num_states < sizeof(rig->states) / sizeof(rig->states[0]));
	rig->states[rig->num_states++] = next;
	if (next == DOCA_CTX_STATE_STARTING && rig->starting != NULL)
		rig->starting(rig);
}

#define RIG_CONF(name) CHECK_OK(doca_rdma_task_##name##_set_conf(rig->rdma, rig_##name##_good, rig_##name##_failed, RIG_TASKS))

static inline void rig_prepare(struct rig *rig, uint32_t device)
{
	union doca_data data;

	data.ptr = rig;
	memset(rig, 0, sizeof(*rig));
	rig->dev = test_dev_open(device);
	CHECK(rig->dev != NULL);
	CHECK_OK(doca_pe_create(&rig->pe));
	CHECK_OK(doca_rdma_create(rig->dev, &rig->rdma));
	rig->ctx = doca_rdma_as_ctx(rig->rdma);
	CHECK_OK(doca_ctx_set_user_data(rig->ctx, data));
	CHECK_OK(doca_ctx_set_state_changed_cb(rig->ctx, rig_state_changed));
	CHECK_OK(doca_pe_connect_ctx(rig->pe, rig->ctx));
	CHECK_OK(doca_rdma_set_permissions(rig->rdma, RIG_ALL));
	CHECK_OK(doca_rdma_set_grh_enabled(rig->rdma, true));
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
	RIG_CONF(receive);
	CHECK_OK(doca_buf_inventory_create(RIG_BUFS, &rig->inventory));
	CHECK_OK(doca_buf_inventory_start(rig->inventory));
	CHECK(posix_memalign((void **)&rig->memory, 4096, RIG_SIZE) == 0);
	memset(rig->memory, 0, RIG_SIZE);
	CHECK_OK(doca_mmap_create(&rig->mmap));
	CHECK_OK(doca_mmap_set_memrange(rig->mmap, rig->memory, RIG_SIZE));
	CHECK_OK(doca_mmap_set_permissions(rig->mmap, RIG_ALL));
	CHECK_OK(doca_mmap_add_dev(rig->mmap, rig->dev));
	CHECK_OK(doca_mmap_start(rig->mmap));
}

/* Progresses both (b may be NULL) until the condition holds. */
#define RIG_WAIT(a, b, condition)                                                                                                \
	do {                                                                                                                     \
		time_t begin_ = time(NULL);                                                                                      \
		struct rig *a_ = (a), *b_ = (b);                                                                                 \
                                                                                                                                 \
		while (!(condition)) {                                                                                           \
			(void)doca_pe_progress(a_->pe);                                                                          \
			if (b_ != NULL)                                                                                          \
				(void)doca_pe_progress(b_->pe);                                                                  \
			CHECK(time(NULL) - begin_ < RIG_WAIT_S);                                                                 \
		}                                                                                                                \
	} while (0)

static inline enum doca_ctx_states rig_state(const struct rig *rig)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(rig->ctx, &state));
	return state;
}

static inline struct doca_buf *rig_keep(struct rig *rig, struct doca_buf *buf)
{
	CHECK(rig->num_bufs < RIG_BUFS);
	rig->bufs[rig->num_bufs++] = buf;
	return buf;
}

/* A buf of own memory: with data, or with room for some. */
static inline struct doca_buf *rig_data(struct rig *rig, size_t offset, size_t len)
{
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->mmap, rig->memory + offset, len, &buf));
	return rig_keep(rig, buf);
}

static inline struct doca_buf *rig_room(struct rig *rig, size_t offset, size_t len)
{
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(rig->inventory, rig->mmap, rig->memory + offset, len, &buf));
	return rig_keep(rig, buf);
}

static inline void rig_import(struct rig *rig, const void *descriptor, size_t size)
{
	void *address;
	size_t len;

	CHECK_OK(doca_mmap_create_from_export(NULL, descriptor, size, rig->dev, &rig->remote));
	CHECK_OK(doca_mmap_get_memrange(rig->remote, &address, &len));
	CHECK(len == RIG_SIZE);
	rig->remote_memory = (uint8_t *)address;
}

static inline struct doca_buf *rig_remote_data(struct rig *rig, size_t offset, size_t len)
{
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_data(rig->inventory, rig->remote, rig->remote_memory + offset, len, &buf));
	return rig_keep(rig, buf);
}

static inline struct doca_buf *rig_remote_room(struct rig *rig, size_t offset, size_t len)
{
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(rig->inventory, rig->remote, rig->remote_memory + offset, len, &buf));
	return rig_keep(rig, buf);
}

/* Posts a receive into own memory. */
static inline void rig_receive(struct rig *rig, struct doca_buf *buf)
{
	struct doca_rdma_task_receive *task;
	union doca_data data;

	data.u64 = 0;
	CHECK_OK(doca_rdma_task_receive_allocate_init(rig->rdma, buf, data, &task));
	CHECK_OK(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

/* Allocates a task of the type and submits it. */
#define RIG_SUBMIT(rig, name, ...)                                                                                               \
	do {                                                                                                                     \
		struct doca_rdma_task_##name *task_;                                                                             \
		union doca_data data_;                                                                                           \
                                                                                                                                 \
		data_.u64 = 0;                                                                                                   \
		CHECK_OK(doca_rdma_task_##name##_allocate_init((rig)->rdma, __VA_ARGS__, data_, &task_));                        \
		CHECK_OK(doca_task_submit(doca_rdma_task_##name##_as_task(task_)));                                              \
		(rig)->num_submitted++;                                                                                          \
	} while (0)

static inline void rig_stop(struct rig *rig)
{
	doca_error_t result = doca_ctx_stop(rig->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	RIG_WAIT(rig, NULL, rig_state(rig) == DOCA_CTX_STATE_IDLE);
}

static inline void rig_end(struct rig *rig)
{
	rig_stop(rig);
	for (uint32_t i = 0; i < rig->num_bufs; i++)
		CHECK_OK(doca_buf_dec_refcount(rig->bufs[i], NULL));
	CHECK_OK(doca_buf_inventory_destroy(rig->inventory));
	if (rig->remote != NULL)
		CHECK_OK(doca_mmap_destroy(rig->remote));
	CHECK_OK(doca_rdma_destroy(rig->rdma));
	CHECK_OK(doca_mmap_destroy(rig->mmap));
	CHECK_OK(doca_pe_destroy(rig->pe));
	CHECK_OK(doca_dev_close(rig->dev));
	free(rig->memory);
}

#endif
