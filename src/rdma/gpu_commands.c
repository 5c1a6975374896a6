/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations requested by kernels: from the command to the count that reports its completion. */
#include "rdma/gpu_commands.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "rdma/connection.h"
#include "rdma/gpu.h"
#include "rdma/gpu_memory.h"
#include "rdma/rnr.h"

#define WORDS (SOFTFIELD_RDMA_CMD_SLOTS16 * 3)

static const char *const names[] = {
	[SOFTFIELD_RDMA_SEND] = "send",	    [SOFTFIELD_RDMA_WRITE] = "write",	  [SOFTFIELD_RDMA_READ] = "read",
	[SOFTFIELD_RDMA_WRITTEN] = "write", [SOFTFIELD_RDMA_REFUSED] = "refusal",
};

static struct rdma_gpu_op *op_at(struct rdma_gpu_queue *queue, uint32_t number)
{
	return &queue->ops[number & (queue->gpu->depth - 1)];
}

/* ---- the end ---- */

void rdma_gpu_commands_flush(struct rdma_gpu_queue *queue)
{
	queue->finished += queue->taken - queue->submitted;
	queue->submitted = queue->taken;
}

static void queue_fail(struct rdma_gpu_queue *queue, doca_error_t status)
{
	if (queue->status == DOCA_SUCCESS)
		queue->status = status;
	rdma_connection_fail(queue->connection, status);
	rdma_gpu_commands_flush(queue);
}

static void op_done(struct sf_op *base)
{
	struct rdma_gpu_op *op = (struct rdma_gpu_op *)(void *)base;
	struct rdma_gpu_queue *queue = op->queue;

	queue->finished++;
	assert(queue->connection->num_out > 0);
	queue->connection->num_out--;
	if (base->status == DOCA_SUCCESS || queue->connection->state == RDMA_CONNECTION_FAILED)
		return;
	SF_LOG_ERR_LIMITED(
		"an operation of a kernel on connection %u: the peer is gone, or ended the export of its memory, during "
		"the operation",
		queue->connection->id);
	queue_fail(queue, DOCA_ERROR_CONNECTION_ABORTED);
}

/* The status of an operation that can never be sent. */
static doca_error_t op_failure(const struct rdma_gpu_queue *queue, const struct rdma_gpu_op *op, doca_error_t why)
{
	return rdma_connection_send_failure(queue->connection, "a kernel's send", "an operation of a kernel", op->len, why);
}

/* ---- from a command ---- */

static uint32_t shift_of(const struct rdma_gpu_queue *queue)
{
	return (uint32_t)__builtin_ctz(queue->gpu->depth);
}

static struct softfield_slot16 *slots16_of_next(const struct rdma_gpu_queue *queue)
{
	return queue->cmds[queue->taken & (queue->gpu->depth - 1)].slot16;
}

static bool is_store(const struct rdma_gpu_queue *queue, struct softfield_slot16 first)
{
	return (first.w[3] & SOFTFIELD_RDMA_STORE_MARK_MASK) == softfield_rdma_store_mark(queue->taken, shift_of(queue));
}

static bool is_other(const struct rdma_gpu_queue *queue, struct softfield_slot16 first)
{
	return first.w[3] == softfield_rdma_mark(queue->taken, shift_of(queue));
}

/* Copies a command that is no write of a word; returns false if it is incomplete. */
static bool read_command(const struct rdma_gpu_queue *queue, uint32_t words[WORDS])
{
	uint32_t mark = softfield_rdma_mark(queue->taken, shift_of(queue)), num = 1;
	const struct softfield_slot16 *slots16 = slots16_of_next(queue);

	for (uint32_t i = 0; i < num; i++) {
		struct softfield_slot16 slot16 = softfield_load_slot16(slots16 + i);

		if (slot16.w[3] != mark)
			return false;
		memcpy(words + 3 * i, slot16.w, 3 * sizeof(uint32_t));
		if (i == 0) {
			uint32_t inline_len = words[SOFTFIELD_RDMA_CMD_KIND] >> 16;

			num = (SOFTFIELD_RDMA_CMD_HEADER + inline_len + 11) / 12;
			num = num > SOFTFIELD_RDMA_CMD_SLOTS16 ? SOFTFIELD_RDMA_CMD_SLOTS16 : num;
		}
	}
	softfield_observed(slots16);
	return true;
}

/* The local bytes. */
static void set_local(struct rdma_gpu_op *op, const uint32_t words[WORDS])
{
	struct rdma_gpu_queue *queue = op->queue;
	uint32_t kind = words[SOFTFIELD_RDMA_CMD_KIND];
	uint64_t at = words[SOFTFIELD_RDMA_CMD_AT] | (uint64_t)words[SOFTFIELD_RDMA_CMD_AT + 1] << 32;

	op->len = words[SOFTFIELD_RDMA_CMD_LEN];
	op->iov.len = op->len;
	if (kind & SOFTFIELD_RDMA_IN_COMMAND) {
		op->len = op->iov.len = kind >> 16 < sizeof(op->data) ? kind >> 16 : sizeof(op->data);
		memcpy(op->data, words + SOFTFIELD_RDMA_CMD_HEADER / 4, op->len);
		op->iov.addr = op->data;
	} else if (kind & SOFTFIELD_RDMA_IN_ARENA) {
		op->iov.addr = queue->arena + (at & (queue->gpu->arena_size - 1));
	} else {
		op->iov.addr = (void *)(uintptr_t)at;
	}
}

/* The kernel reports why it stops: the peer's rights. */
static void command_rejected(struct rdma_gpu_queue *queue, const uint32_t words[WORDS])
{
	uint32_t kind = words[SOFTFIELD_RDMA_CMD_LEN];

	SF_LOG_ERR_LIMITED(
		"a kernel's %s on connection %u is not permitted: doca_rdma_set_permissions of the peer's instance gave 0x%x and "
		"doca_mmap_set_permissions of its memory 0x%x: both must give DOCA_ACCESS_FLAG_RDMA_%s",
		kind < sizeof(names) / sizeof(names[0]) && names[kind] != NULL ? names[kind] : "operation", queue->connection->id,
		words[SOFTFIELD_RDMA_CMD_ID], words[SOFTFIELD_RDMA_CMD_AT], kind == SOFTFIELD_RDMA_READ ? "READ" : "WRITE");
	queue_fail(queue, (doca_error_t)words[SOFTFIELD_RDMA_CMD_IMM]);
}

static doca_error_t fill_op(struct rdma_gpu_op *op, const uint32_t words[WORDS])
{
	uint32_t kind = words[SOFTFIELD_RDMA_CMD_KIND] & 0xff;

	set_local(op, words);
	op->op = (struct sf_op){.done = op_done,
				.kind = kind == SOFTFIELD_RDMA_WRITE  ? SF_OP_WRITE
					: kind == SOFTFIELD_RDMA_READ ? SF_OP_READ
								      : SF_OP_SEND,
				.iov = &op->iov,
				.iov_num = op->len != 0 ? 1 : 0,
				.header = op->header};
	if (words[SOFTFIELD_RDMA_CMD_KIND] & SOFTFIELD_RDMA_HAS_IMM) {
		op->op.header_len = RDMA_HEADER_SIZE;
		memcpy(op->header, &words[SOFTFIELD_RDMA_CMD_IMM], sizeof(uint32_t));
		op->header[RDMA_HEADER_SIZE - 1] =
			kind == SOFTFIELD_RDMA_SEND ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM : DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM;
	}
	if (kind != SOFTFIELD_RDMA_WRITE && kind != SOFTFIELD_RDMA_READ)
		return DOCA_SUCCESS;
	op->op.remote_addr = words[SOFTFIELD_RDMA_CMD_REMOTE] | (uint64_t)words[SOFTFIELD_RDMA_CMD_REMOTE + 1] << 32;
	return rdma_gpu_memory_get(op->queue, words[SOFTFIELD_RDMA_CMD_ID], &op->op.remote_addr, &op->op.region);
}

static doca_error_t fill_store(struct rdma_gpu_op *op, struct softfield_slot16 slot16)
{
	op->len = op->iov.len = slot16.w[3] & SOFTFIELD_RDMA_STORE_4 ? 4 : 8;
	op->iov.addr = op->data;
	memcpy(op->data, slot16.w, sizeof(uint64_t));
	op->op = (struct sf_op){.done = op_done,
				.kind = SF_OP_WRITE,
				.iov = &op->iov,
				.iov_num = 1,
				.remote_addr = slot16.w[2] | (uint64_t)(slot16.w[3] & 0xffff) << 32};
	op->is_empty = op->op.remote_addr == 0;
	return op->is_empty ? DOCA_SUCCESS : rdma_gpu_memory_get(op->queue, 0, &op->op.remote_addr, &op->op.region);
}

static bool take_command(struct rdma_gpu_queue *queue)
{
	uint32_t words[WORDS];
	struct rdma_gpu_op *op = op_at(queue, queue->taken);
	const struct softfield_slot16 first = softfield_load_slot16(slots16_of_next(queue));
	const bool stores = is_store(queue, first);

	if (queue->taken - queue->finished == queue->gpu->depth || (!stores && !read_command(queue, words)))
		return false;
	if (stores)
		softfield_observed(slots16_of_next(queue));
	op->queue = queue;
	op->is_empty = false;
	const bool is_refused = !stores && (words[SOFTFIELD_RDMA_CMD_KIND] & 0xff) == SOFTFIELD_RDMA_REFUSED;
	if (is_refused && queue->finished != queue->taken)
		return false; /* earlier operations complete first */
	doca_error_t result = is_refused ? DOCA_SUCCESS : stores ? fill_store(op, first) : fill_op(op, words);
	if (result == DOCA_ERROR_AGAIN)
		return false;
	queue->taken++;
	if (is_refused) {
		command_rejected(queue, words);
	} else if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("a kernel's operation on connection %u: the buf array of the remote memory was stopped",
			   queue->connection->id);
		queue_fail(queue, DOCA_ERROR_INVALID_VALUE);
	}
	return true;
}

bool rdma_gpu_commands_due(const struct rdma_gpu_queue *queue)
{
	const struct softfield_slot16 first = softfield_load_slot16(slots16_of_next(queue));

	return queue->submitted != queue->taken || is_store(queue, first) || is_other(queue, first);
}

/* ---- on its way ---- */

/* SUCCESS: it was sent. AGAIN: retry later. Others: it failed. */
static doca_error_t send_out(struct rdma_gpu_queue *queue, struct rdma_gpu_op *op)
{
	struct doca_rdma_connection *connection = queue->connection;
	doca_error_t result;

	if (connection->state != RDMA_CONNECTION_CONNECTED || connection->out == NULL)
		return connection->num_out != 0 ? DOCA_ERROR_AGAIN : op_failure(queue, op, DOCA_ERROR_NOT_CONNECTED);
	op->op.status = DOCA_SUCCESS;
	result = sf_conn_submit(connection->out, &op->op);
	if (result == DOCA_ERROR_AGAIN && rdma_rnr_is_over(connection, op->op.status, &queue->not_ready_since))
		result = DOCA_ERROR_TIME_OUT;
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN) /* earlier operations complete first */
		return connection->num_out != 0 ? DOCA_ERROR_AGAIN : op_failure(queue, op, result);
	return result;
}

static bool submit_commands(struct rdma_gpu_queue *queue)
{
	bool moved = false;

	while (queue->submitted != queue->taken) {
		struct rdma_gpu_op *op = op_at(queue, queue->submitted);

		if (op->is_empty) {
			if (queue->connection->num_out != 0) /* finished is a count: earlier ones first */
				return moved;
			queue->submitted++;
			queue->finished++;
			moved = true;
			continue;
		}
		doca_error_t result = send_out(queue, op);

		if (result == DOCA_ERROR_AGAIN)
			return moved;
		moved = true;
		queue->not_ready_since = 0;
		if (result != DOCA_SUCCESS) {
			queue_fail(queue, result);
			return true;
		}
		queue->submitted++;
		queue->connection->num_out++;
	}
	return moved;
}

static void progress_publish(struct rdma_gpu_queue *queue)
{
	struct softfield_slot16 progress = {{queue->finished, (uint32_t)queue->status, 0, 0}};

	softfield_published(queue->progress);
	softfield_fence_release(); /* publishes the bytes of a read */
	softfield_store_slot16(queue->progress, progress);
	queue->published = queue->finished;
	queue->published_status = queue->status;
}

bool rdma_gpu_commands_run(struct rdma_gpu_queue *queue)
{
	bool moved = false;

	while (queue->status == DOCA_SUCCESS && take_command(queue))
		moved = true;
	if (queue->submitted != queue->taken)
		moved |= submit_commands(queue);
	if (queue->published != queue->finished || queue->published_status != queue->status) {
		progress_publish(queue);
		moved = true;
	}
	return moved;
}
