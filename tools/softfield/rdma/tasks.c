/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "rdma/tasks.h"

#include <doca_error.h>
#include <stdio.h>

#define TRY_TASKS 1

/* ---- callbacks ---- */

static void task_done(union doca_data task_data, union doca_data ctx_data)
{
	struct bench_side *side = (struct bench_side *)ctx_data.ptr;
	struct bench_slot *slot = (struct bench_slot *)task_data.ptr;

	side->completed++;
	if (side->to_submit != 0) {
		side->to_submit--;
		bench_slot_submit(side, slot);
		return;
	}
	slot->next = side->free;
	side->free = slot;
}

static void receive_done(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_side *side = (struct bench_side *)ctx_data.ptr;
	struct bench_slot *slot = (struct bench_slot *)task_data.ptr;

	if (side->plan.op == BENCH_SEND && doca_rdma_task_receive_get_result_len(task) != side->size_now)
		bench_die("received a message of %u bytes, %u were sent", doca_rdma_task_receive_get_result_len(task),
			  side->size_now);
	if (++side->received == side->mark)
		side->marked_ns = sf_now_ns();
	if (!side->puts_off) {
		bench_receive_post(side, slot);
		return;
	}
	slot->next = side->to_post;
	side->to_post = slot;
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
	struct bench_slot *slot = (struct bench_slot *)task_data.ptr;

	(void)ctx_data;
	if (doca_task_get_status(slot->task) != DOCA_ERROR_BAD_STATE) /* not flushed by the stop */
		bench_check(doca_task_get_status(slot->task), "receiving");
	doca_task_free(doca_rdma_task_receive_as_task(task));
	if (slot->local != NULL)
		bench_check(doca_buf_dec_refcount(slot->local, NULL), "releasing a buffer");
}

/* ---- task types ---- */

struct kind {
	doca_error_t (*configure)(struct doca_rdma *rdma, uint32_t num_tasks);
	doca_error_t (*allocate)(struct doca_rdma *rdma, struct doca_rdma_connection *connection, struct bench_slot *slot);
	void (*set_connection)(struct doca_task *task, struct doca_rdma_connection *connection);
};

/* The doca_task is the first member of each task, so as_task and the callbacks can convert between them. */
#define KIND(name, ...)                                                                                                          \
	static void name##_good(struct doca_rdma_task_##name *task, union doca_data task_data, union doca_data ctx_data)         \
	{                                                                                                                        \
		(void)task;                                                                                                      \
		task_done(task_data, ctx_data);                                                                                  \
	}                                                                                                                        \
	static void name##_failed(struct doca_rdma_task_##name *task, union doca_data task_data, union doca_data ctx_data)       \
	{                                                                                                                        \
		(void)task_data;                                                                                                 \
		(void)ctx_data;                                                                                                  \
		bench_check(doca_task_get_status(doca_rdma_task_##name##_as_task(task)), "task of kind " #name);                 \
	}                                                                                                                        \
	static doca_error_t name##_configure(struct doca_rdma *rdma, uint32_t num_tasks)                                         \
	{                                                                                                                        \
		return doca_rdma_task_##name##_set_conf(rdma, name##_good, name##_failed, num_tasks);                            \
	}                                                                                                                        \
	static void name##_set_connection(struct doca_task *task, struct doca_rdma_connection *connection)                       \
	{                                                                                                                        \
		doca_rdma_task_##name##_set_rdma_connection((struct doca_rdma_task_##name *)(void *)task, connection);           \
	}                                                                                                                        \
	static doca_error_t name##_allocate(struct doca_rdma *rdma, struct doca_rdma_connection *connection,                     \
					    struct bench_slot *slot)                                                             \
	{                                                                                                                        \
		union doca_data data = {.ptr = slot};                                                                            \
		struct doca_rdma_task_##name *task;                                                                              \
		doca_error_t result = doca_rdma_task_##name##_allocate_init(rdma, connection, __VA_ARGS__, data, &task);         \
		if (result == DOCA_SUCCESS)                                                                                      \
			slot->task = doca_rdma_task_##name##_as_task(task);                                                      \
		return result;                                                                                                   \
	}

KIND(write, slot->local, slot->remote)
KIND(read, slot->remote, slot->local)
KIND(send, slot->local)
KIND(write_imm, slot->local, slot->remote, 7)
KIND(atomic_cmp_swp, slot->remote, slot->local, 0, 0)
KIND(atomic_fetch_add, slot->remote, slot->local, 1)

#define ENTRY(name)                                                                                                              \
	{                                                                                                                        \
		name##_configure, name##_allocate, name##_set_connection                                                         \
	}

static const struct kind kinds[BENCH_OPS] = {
	[BENCH_WRITE] = ENTRY(write),	      [BENCH_READ] = ENTRY(read),	   [BENCH_SEND] = ENTRY(send),
	[BENCH_WRITE_IMM] = ENTRY(write_imm), [BENCH_CAS] = ENTRY(atomic_cmp_swp), [BENCH_FAA] = ENTRY(atomic_fetch_add),
};

void bench_tasks_configure(struct bench_side *side)
{
	const struct bench_plan *plan = &side->plan;

	if (plan->op != BENCH_WRITE)
		bench_check(write_configure(side->rdma, TRY_TASKS), "configuring tasks");
	bench_check(kinds[plan->op].configure(side->rdma, plan->depth + TRY_TASKS), "configuring tasks");
	if (bench_op_receives((enum bench_op)plan->op))
		bench_check(doca_rdma_task_receive_set_conf(side->rdma, receive_done, receive_ended, plan->receives),
			    "configuring receives");
}

/* ---- submitting ---- */

static inline void set_back(const struct bench_side *side, struct doca_buf *buf)
{
	(void)doca_buf_reset_data_len(buf);
	for (uint32_t i = 1; i < side->plan.list && buf != NULL; i++) {
		struct doca_buf *next = NULL;

		(void)doca_buf_get_next_in_list(buf, &next);
		buf = next;
		if (buf != NULL)
			(void)doca_buf_reset_data_len(buf);
	}
}

void bench_slot_submit(struct bench_side *side, struct bench_slot *slot)
{
	if (slot->grows != NULL)
		set_back(side, slot->grows);
	if (side->num_connections > 1) {
		kinds[side->plan.op].set_connection(slot->task, side->connections[side->next_connection]);
		if (++side->next_connection == side->num_connections)
			side->next_connection = 0;
	}
	bench_check(doca_task_submit(slot->task), "submitting a task");
}

void bench_receive_post(struct bench_side *side, struct bench_slot *slot)
{
	if (slot->local != NULL)
		set_back(side, slot->local);
	bench_check(doca_task_submit(slot->task), "posting a receive");
}

/* ---- buffers ---- */

static struct doca_buf *make_buf(struct bench_side *side, struct doca_mmap *mmap, uint8_t *addr, size_t len, bool data)
{
	struct doca_buf *buf;

	bench_check(data ? doca_buf_inventory_buf_get_by_data(side->inventory, mmap, addr, len, &buf)
			 : doca_buf_inventory_buf_get_by_addr(side->inventory, mmap, addr, len, &buf),
		    "getting a buffer");
	return buf;
}

/* Creates a list of the plan's length, with contiguous buffers. */
static struct doca_buf *make_list(struct bench_side *side, uint8_t *addr, uint32_t size, bool data)
{
	uint32_t num = side->plan.list, part = size / num;
	struct doca_buf *head = make_buf(side, side->mmap, addr, num == 1 ? size : part, data);

	for (uint32_t i = 1; i < num; i++) {
		uint32_t len = i + 1 < num ? part : size - i * part;

		bench_check(doca_buf_chain_list(head, make_buf(side, side->mmap, addr + i * part, len, data)),
			    "chaining buffers");
	}
	return head;
}

static void make_slot(struct bench_side *side, struct bench_slot *slot, uint32_t size)
{
	enum bench_op op = (enum bench_op)side->plan.op;
	bool writes = op == BENCH_WRITE || op == BENCH_WRITE_IMM;

	slot->local = make_list(side, side->local, size, op != BENCH_READ);
	slot->remote = op == BENCH_SEND ? NULL : make_buf(side, side->remote_mmap, side->remote, size, !writes);
	slot->grows = writes ? slot->remote : op == BENCH_READ ? slot->local : NULL;
	bench_check(kinds[op].allocate(side->rdma, side->connections[0], slot), "allocating a task");
	slot->next = side->free;
	side->free = slot;
}

static void free_slot(struct bench_slot *slot)
{
	doca_task_free(slot->task);
	bench_check(doca_buf_dec_refcount(slot->local, NULL), "releasing a buffer");
	if (slot->remote != NULL)
		bench_check(doca_buf_dec_refcount(slot->remote, NULL), "releasing a buffer");
}

static void post_receives(struct bench_side *side)
{
	for (uint32_t i = 0; i < side->plan.receives; i++) {
		struct bench_slot *slot = &side->receives[i];
		struct doca_rdma_task_receive *task;

		/* Receives of write_imm get no data. */
		slot->local = side->plan.op == BENCH_SEND ? make_list(side, side->target, (uint32_t)side->size, false) : NULL;
		bench_check(doca_rdma_task_receive_allocate_init(side->rdma, slot->local, (union doca_data){.ptr = slot}, &task),
			    "allocating a receive");
		slot->task = doca_rdma_task_receive_as_task(task);
		bench_receive_post(side, slot);
	}
}

void bench_side_prepare(struct bench_side *side, uint32_t size, uint32_t num_slots)
{
	side->size_now = size;
	side->free = NULL;
	side->num_slots = num_slots;
	for (uint32_t i = num_slots; i-- > 0;)
		make_slot(side, &side->slots[i], size);
	if (bench_op_receives((enum bench_op)side->plan.op) && side->receives[0].task == NULL)
		post_receives(side);
}

void bench_side_release(struct bench_side *side)
{
	for (uint32_t i = 0; i < side->num_slots; i++)
		free_slot(&side->slots[i]);
	side->num_slots = 0;
	side->free = NULL;
}

/* ---- one write, to test a connection ---- */

void bench_tasks_try(struct bench_side *side, struct doca_rdma_connection *connection)
{
	struct bench_slot slot = {.local = make_buf(side, side->mmap, side->local, sizeof(uint64_t), true),
				  .remote = make_buf(side, side->remote_mmap, side->remote, sizeof(uint64_t), false)};
	uint64_t completed = side->completed;

	bench_check(write_allocate(side->rdma, connection, &slot), "allocating a task");
	bench_check(doca_task_submit(slot.task), "writing through a new connection");
	while (side->completed == completed) {
		if (doca_pe_progress(side->pe) == 0)
			bench_channel_check(side->channel);
	}
	free_slot(&slot);
	side->free = NULL;
}
