/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive task: posted on the instance's endpoint, for the messages of all connections. */
#include "rdma/receive.h"

#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "mem/buf_checks.h"
#include "mem/mmap.h"
#include "rdma/check.h"
#include "rdma/cm.h"
#include "rdma/connection.h"
#include "rdma/rdma.h"
#include "rdma/request.h"

/* ---- what it does ---- */

bool rdma_header_read(const struct sf_recv *recv, enum doca_rdma_opcode *opcode, doca_be32_t *immediate)
{
	uint8_t said = recv->header[RDMA_HEADER_SIZE - 1];

	*opcode = DOCA_RDMA_OPCODE_RECV_SEND;
	*immediate = 0;
	if (recv->header_len == 0 && recv->kind == SF_OP_SEND)
		return true;
	if (recv->header_len != RDMA_HEADER_SIZE || said < DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM ||
	    said > DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM) {
		SF_LOG_ERR_LIMITED("rdma receive: the peer sent %u header bytes that are not RDMA's", recv->header_len);
		return false;
	}
	*opcode = (enum doca_rdma_opcode)said;
	memcpy(immediate, recv->header, sizeof(*immediate));
	return true;
}

/* dst is another process's memory: checks that the owner still has it, and writes the data there. */
static __attribute__((noinline)) doca_error_t receive_copy_back(struct doca_rdma_task_receive *task)
{
	struct sf_reg_cache *cache = &((struct doca_rdma *)task->base.ctx)->reg_cache;
	doca_error_t result = sf_reg_check_mapped(cache, task->dst);

	if (result == DOCA_SUCCESS)
		result = sf_reg_copy_back(cache, task->dst, task->recv.len);
	return result == DOCA_SUCCESS ? result : DOCA_ERROR_IO_FAILED;
}

static void receive_done(struct sf_recv *recv)
{
	struct doca_rdma_task_receive *task =
		(struct doca_rdma_task_receive *)(void *)((char *)recv - offsetof(struct doca_rdma_task_receive, recv));
	doca_error_t status = recv->status;

	/* The connection ended during the message: the receive is posted again for another. */
	if (status != DOCA_SUCCESS && task->base.ctx->state == DOCA_CTX_STATE_RUNNING &&
	    sf_ep_post_recv(((struct doca_rdma *)task->base.ctx)->ep, recv) == DOCA_SUCCESS)
		return;
	if (status == DOCA_SUCCESS)
		status = rdma_header_read(recv, &task->opcode, &task->immediate) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
	else if (task->base.ctx->state != DOCA_CTX_STATE_RUNNING)
		status = DOCA_ERROR_BAD_STATE;
	if (__builtin_expect(task->mapped, 0) && status == DOCA_SUCCESS)
		status = receive_copy_back(task);
	if (status == DOCA_SUCCESS) {
		struct doca_rdma_connection *connection = (struct doca_rdma_connection *)recv->conn->user;

		if (__builtin_expect(connection->state == RDMA_CONNECTION_ACCEPTED, 0))
			rdma_cm_report_accepted(connection);
		task->connection = connection;
		task->result_len = recv->len;
		sf_reg_grow(task->dst, recv->len);
	}
	sf_task_complete(&task->base, status);
}

static doca_error_t add_piece(struct doca_rdma_task_receive *task, const struct doca_buf *buf)
{
	struct doca_rdma *rdma = (struct doca_rdma *)task->base.ctx;
	const struct sf_reg *reg;
	uint8_t *tail = buf->data + buf->data_len;
	size_t room = sf_buf_tailroom(buf);
	doca_error_t result = sf_reg_get(&rdma->reg_cache, buf->mmap, &reg);

	if (result != DOCA_SUCCESS)
		return result;
	if (!reg->network && !reg->writable) {
		SF_LOG_ERR("rdma receive: a buffer's memory map lacks %s",
			   reg->region != NULL ? "its exporter's DOCA_ACCESS_FLAG_PCI_READ_WRITE"
					       : "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!sf_reg_contains(reg, tail, room) || buf->mmap != task->dst->mmap) {
		SF_LOG_ERR("rdma receive: a buffer %s", buf->mmap != task->dst->mmap
								? "belongs to another memory map than the first of its list"
								: "extends past its memory map");
		return DOCA_ERROR_INVALID_VALUE;
	}
	task->mapped = reg->region != NULL;
	result = sf_reg_map(&rdma->reg_cache, buf->mmap, &tail);
	if (result == DOCA_SUCCESS && room != 0)
		task->iov[task->recv.iov_num++] = (struct sf_iov){tail, room};
	return result;
}

/* Looked up once per memory map, because a receive is posted repeatedly. */
static doca_error_t region_resolve(struct doca_rdma_task_receive *task)
{
	struct doca_rdma *rdma = (struct doca_rdma *)task->base.ctx;
	struct doca_mmap *mmap = task->dst->mmap;
	doca_error_t result = DOCA_SUCCESS;

	if (__builtin_expect(task->region_of != sf_mmap_id(mmap), 0)) {
		task->region_of = 0;
		result = task->mapped ? sf_mmap_here_region(mmap, rdma->dev, &task->region)
				      : sf_mmap_region(mmap, rdma->dev, &task->region);
		if (result == DOCA_SUCCESS)
			task->region_of = sf_mmap_id(mmap);
	}
	task->recv.region = task->region;
	return result;
}

static doca_error_t receive_resolve(struct doca_rdma_task_receive *task)
{
	struct doca_rdma *rdma = (struct doca_rdma *)task->base.ctx;
	uint32_t num = 0;

	task->recv.iov_num = 0;
	task->recv.region = NULL;
	task->mapped = false;
	for (const struct doca_buf *buf = task->dst; buf != NULL; buf = buf->next) {
		if (++num > rdma->recv_list_len) {
			SF_LOG_ERR("rdma receive: the list has more than the configured %u buffers: "
				   "raise doca_rdma_task_receive_set_dst_buf_list_len",
				   rdma->recv_list_len);
			return DOCA_ERROR_INVALID_VALUE;
		}
		doca_error_t result = add_piece(task, buf);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return task->recv.iov_num != 0 ? region_resolve(task) : DOCA_SUCCESS;
}

static doca_error_t receive_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_rdma_task_receive *task = (struct doca_rdma_task_receive *)base;
	struct doca_rdma *rdma = (struct doca_rdma *)base->ctx;

	(void)flags;
	doca_error_t result = receive_resolve(task);
	if (result != DOCA_SUCCESS)
		return result;
	task->connection = NULL;
	task->opcode = DOCA_RDMA_OPCODE_RECV_SEND;
	task->result_len = 0;
	task->immediate = 0;
	task->recv.iov = task->iov;
	task->recv.done = receive_done;
	return sf_ep_post_recv(rdma->ep, &task->recv);
}

static void receive_inspect(const struct doca_task *base)
{
	sf_buf_check_list(base, ((const struct doca_rdma_task_receive *)base)->dst);
}

static const struct sf_task_class receive_class = {
	.name = "rdma receive",
	.size = sizeof(struct doca_rdma_task_receive),
	.may_wait = true,
	.submit = receive_submit,
	.inspect = receive_inspect,
};

/* ---- public ---- */

doca_error_t doca_rdma_task_receive_set_conf(struct doca_rdma *rdma,
					     doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
					     doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	return rdma_pool_configure(rdma, RDMA_POOL_RECEIVE, &receive_class,
				   (doca_task_completion_cb_t)successful_task_completion_cb,
				   (doca_task_completion_cb_t)error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t buf_list_len)
{
	if (rdma == NULL)
		return rdma_check_given(NULL, "rdma");
	doca_error_t result = sf_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (buf_list_len == 0 || buf_list_len > RDMA_RECV_LIST_MAX) {
		SF_LOG_ERR("rdma receive: dst_buf_list_len is %u: give 1 to %d", buf_list_len, RDMA_RECV_LIST_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	rdma->recv_list_len = buf_list_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma, uint32_t *buf_list_len)
{
	if (rdma == NULL || buf_list_len == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "buf_list_len");
	*buf_list_len = rdma->recv_list_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf, union doca_data user_data,
						  struct doca_rdma_task_receive **task)
{
	struct doca_task *base;

	if (rdma == NULL || task == NULL)
		return rdma_check_given(NULL, rdma == NULL ? "rdma" : "task");
	doca_error_t result = rdma_check_tasks(rdma);
	if (result == DOCA_SUCCESS)
		result = sf_task_alloc(&rdma->ctx, &rdma->pools[RDMA_POOL_RECEIVE], &base);
	if (result != DOCA_SUCCESS)
		return result;
	base->user_data = user_data;
	*task = (struct doca_rdma_task_receive *)base;
	(*task)->dst = dst_buf;
	(*task)->connection = NULL;
	(*task)->opcode = DOCA_RDMA_OPCODE_RECV_SEND;
	(*task)->result_len = 0;
	(*task)->immediate = 0;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task)
{
	return task != NULL ? &task->base : NULL;
}

void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task, struct doca_buf *dst_buf)
{
	if (task != NULL)
		task->dst = dst_buf;
}

struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task)
{
	return task != NULL ? task->dst : NULL;
}

enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task)
{
	return task != NULL ? task->opcode : DOCA_RDMA_OPCODE_RECV_SEND;
}

uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task)
{
	return task != NULL ? task->result_len : 0;
}

doca_be32_t doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task)
{
	return task != NULL ? task->immediate : 0;
}

const struct doca_rdma_connection *doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task)
{
	return task != NULL ? task->connection : NULL;
}
