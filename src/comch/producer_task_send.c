/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/producer_task_send.h"

#include <string.h>

#include <doca_mmap.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/consumer.h"
#include "comch/producer.h"
#include "mem/buf_checks.h"
#include "mem/mmap.h"
#include "validation/validation.h"

/* ---- completion ---- */

void comch_task_send_done(struct doca_comch_producer_task_send *task, doca_error_t status)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)task->base.ctx;

	if (__builtin_expect(producer->quiet, 0)) {
		comch_task_send_end_later(task, status);
		return;
	}
	if (__builtin_expect(status != DOCA_SUCCESS && producer->child.ctx.state == DOCA_CTX_STATE_STOPPING, 0))
		status = comch_child_flush_status(&producer->child);
	sf_task_complete(&task->base, status);
}

void comch_task_send_end_later(struct doca_comch_producer_task_send *task, doca_error_t status)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)task->base.ctx;

	task->base.status = status;
	task->base.next = NULL;
	if (producer->ended_last != NULL)
		producer->ended_last->next = &task->base;
	else
		producer->ended_first = &task->base;
	producer->ended_last = &task->base;
}

/* ---- submit ---- */

/* Checks that the CPU can send this memory; once for each change of mmap, by its id. */
static __attribute__((noinline)) doca_error_t check_mmap(struct doca_comch_producer *producer, const struct doca_mmap *mmap)
{
	const struct doca_dev *dev = producer->child.connection->endpoint->dev;
	uint8_t from_export = 0;

	if (sf_mmap_id(mmap) == 0) {
		SF_LOG_ERR("producer %u: the buffer's mmap is stopped; start it, and make the buffer after that",
			   producer->child.id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (doca_mmap_get_from_export(mmap, &from_export) == DOCA_SUCCESS && from_export != 0) {
		SF_LOG_ERR("producer %u: the buffer is in an mmap made from an export, whose memory is another node's; copy it "
			   "here first",
			   producer->child.id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_mmap_has_dev(mmap, dev)) {
		SF_LOG_ERR("producer %u: the buffer's mmap lacks the device %s; doca_mmap_add_dev it before start",
			   producer->child.id, sf_dev_desc(dev)->key);
		SF_BROKEN(MMAP_005, mmap, "doca_task_submit",
			  "a producer of device %s sends a buffer of it, and it lacks the device", sf_dev_desc(dev)->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_mmap_is_gpu_memory(mmap)) {
		SF_LOG_ERR("producer %u: the buffer is memory of a GPU, which a producer on the CPU cannot read",
			   producer->child.id);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	producer->sound_mmap = sf_mmap_id(mmap);
	return DOCA_SUCCESS;
}

static __attribute__((noinline)) doca_error_t gather_list(struct doca_comch_producer *producer,
							  struct doca_comch_producer_task_send *task)
{
	uint32_t num = 0;
	uint64_t len = 0;

	for (const struct doca_buf *buf = task->buf; buf != NULL; buf = buf->next) {
		doca_error_t result =
			sf_mmap_id(buf->mmap) == producer->sound_mmap ? DOCA_SUCCESS : check_mmap(producer, buf->mmap);

		if (result != DOCA_SUCCESS)
			return result;
		if (num == producer->list_max) {
			SF_LOG_ERR("producer %u: a list of more than %u buffers; shorten it", producer->child.id,
				   producer->list_max);
			return DOCA_ERROR_INVALID_VALUE;
		}
		if (buf->data_len == 0)
			continue;
		task->iov[num++] = (struct sf_iov){buf->data, buf->data_len};
		len += buf->data_len;
	}
	if (len > COMCH_BUF_SIZE_MAX) {
		SF_LOG_ERR("producer %u: %llu bytes in one message: the maximum is %u", producer->child.id,
			   (unsigned long long)len, COMCH_BUF_SIZE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	task->op.iov_num = num;
	return DOCA_SUCCESS;
}

/* Most messages: one buffer with data, up to max bytes, of an mmap that was checked. */
static inline bool is_one_buf(const struct doca_comch_producer *producer, const struct doca_buf *buf, uint32_t max)
{
	return buf != NULL && buf->next == NULL && sf_mmap_id(buf->mmap) == producer->sound_mmap && buf->data_len - 1 < max;
}

static inline doca_error_t task_gather(struct doca_comch_producer *producer, struct doca_comch_producer_task_send *task)
{
	const struct doca_buf *buf = task->buf;

	if (__builtin_expect(is_one_buf(producer, buf, COMCH_BUF_SIZE_MAX), 1)) {
		task->iov[0] = (struct sf_iov){buf->data, buf->data_len};
		task->op.iov_num = 1;
		return DOCA_SUCCESS;
	}
	return gather_list(producer, task);
}

static inline struct comch_route *cached_route(struct doca_comch_producer *producer, uint32_t consumer_id)
{
	struct comch_route *route = producer->cache[consumer_id % COMCH_ROUTE_CACHE];

	if (__builtin_expect(route != NULL && route->consumer->id == consumer_id &&
				     !atomic_load_explicit(&route->consumer->expired, memory_order_relaxed),
			     1))
		return route;
	return NULL;
}

/* A program may submit in a loop until AGAIN clears, without progress calls. So that it does not loop for ever when the consumer
 * has ended, this polls the endpoint from time to time; completions are kept for the next progress call. */
static doca_error_t task_reject_for_now(struct doca_comch_producer *producer)
{
	if (++producer->num_again % COMCH_AGAIN_LOOK == 0 && !producer->child.ctx.in_progress_call) {
		producer->quiet = true;
		(void)sf_ep_poll(producer->ep, COMCH_POLL_BUDGET);
		producer->quiet = false;
		sf_ctx_kick(&producer->child.ctx); /* the poll's completions are due, and no armed event reports them */
	}
	return DOCA_ERROR_AGAIN;
}

/* A send that the peer's state makes impossible is accepted and fails through the error callback, as on hardware. */
static __attribute__((noinline)) doca_error_t send_impossible(struct doca_comch_producer *producer,
							      struct doca_comch_producer_task_send *task, doca_error_t why)
{
	switch (why) {
	case DOCA_ERROR_AGAIN:
		return task_reject_for_now(producer);
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NO_MEMORY:
		return why;
	case DOCA_ERROR_NOT_FOUND:
		SF_LOG_ERR_LIMITED("producer %u: no consumer %u on this connection: it was never started, or has stopped",
				   producer->child.id, task->consumer_id);
		break;
	case DOCA_ERROR_TOO_BIG:
		SF_LOG_ERR_LIMITED(
			"producer %u: the message or its %u bytes of immediate data exceed what consumer %u accepts; it "
			"must post larger buffers",
			producer->child.id, task->header.imm_len, task->consumer_id);
		break;
	default:
		SF_LOG_ERR_LIMITED("producer %u: consumer %u cannot be reached: %s", producer->child.id, task->consumer_id,
				   doca_error_get_name(why));
	}
	comch_task_send_end_later(task, why);
	return DOCA_SUCCESS;
}

doca_error_t comch_task_send_any(struct doca_comch_producer_task_send *task)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)task->base.ctx;
	struct comch_route *route = cached_route(producer, task->consumer_id);
	doca_error_t result;

	if (__builtin_expect(task->imm_invalid, 0)) {
		SF_LOG_ERR("producer %u: the immediate data is longer than %d bytes", producer->child.id, COMCH_IMM_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = task_gather(producer, task);
	if (__builtin_expect(result != DOCA_SUCCESS, 0))
		return result;
	if (__builtin_expect(route == NULL, 0)) {
		result = comch_route_find(producer, task->consumer_id, &route);
		if (result != DOCA_SUCCESS)
			return send_impossible(producer, task, result);
	}
	if (__builtin_expect(task->header.imm_len > route->consumer->imm_len_max, 0))
		return send_impossible(producer, task, DOCA_ERROR_TOO_BIG);
	result = __builtin_expect(route->waiting_first == NULL, 1) ? route->ops->send(route, task) : DOCA_ERROR_AGAIN;
	if (__builtin_expect(result == DOCA_ERROR_AGAIN, 0))
		result = comch_route_send_late(route, task);
	if (__builtin_expect(result != DOCA_SUCCESS, 0))
		return send_impossible(producer, task, result);
	return DOCA_SUCCESS;
}

static doca_error_t send_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_comch_producer_task_send *task = (struct doca_comch_producer_task_send *)base;
	struct doca_comch_producer *producer = (struct doca_comch_producer *)base->ctx;
	struct comch_route *route = cached_route(producer, task->consumer_id);
	const struct doca_buf *buf = task->buf;

	(void)flags;
	if (route != NULL && route->waiting_first == NULL && task->header.imm_len == 0 && !task->imm_invalid &&
	    is_one_buf(producer, buf, route->ops->one_max))
		return route->ops->send_one(route, task, buf->data, buf->data_len);
	return comch_task_send_any(task);
}

static doca_error_t send_validate(const struct doca_task *base)
{
	const struct doca_comch_producer_task_send *task = (const struct doca_comch_producer_task_send *)base;

	if (task->consumer_id == 0) {
		SF_LOG_ERR("consumer id 0 is invalid: ids begin with 1");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (task->buf == NULL ? task->header.imm_len == 0 : task->buf->refcount == 0 || task->buf->first != task->buf) {
		SF_LOG_ERR("the message's buffer is %s", task->buf == NULL	    ? "NULL, and there is no immediate data"
							 : task->buf->refcount == 0 ? "free"
										    : "not the head of its list");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* ---- public ---- */

/* A message may consist of immediate data alone; a buffer that is sent should have data. */
static void send_inspect(const struct doca_task *base)
{
	const struct doca_comch_producer_task_send *task = (const struct doca_comch_producer_task_send *)base;

	if (task->header.imm_len == 0)
		sf_buf_check_message(base, task->buf);
	else
		sf_buf_check_list(base, task->buf);
}

static const struct sf_task_class send_class = {
	.name = "comch producer send",
	.size = sizeof(struct doca_comch_producer_task_send),
	.submit = send_submit,
	.validate = send_validate,
	.inspect = send_inspect,
};

doca_error_t doca_comch_producer_task_send_set_conf(struct doca_comch_producer *producer,
						    doca_comch_producer_task_send_completion_cb_t completed,
						    doca_comch_producer_task_send_completion_cb_t failed, uint32_t num_send_tasks)
{
	if (producer == NULL) {
		SF_LOG_ERR("producer is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_task_pool_configure(&producer->child.ctx, &producer->send_pool, &send_class,
				      (doca_task_completion_cb_t)completed, (doca_task_completion_cb_t)failed, num_send_tasks,
				      COMCH_DATA_TASKS_MAX);
}

static doca_error_t check_alloc(const struct doca_comch_producer *producer, const struct doca_buf *buf, const uint8_t *imm_data,
				uint32_t imm_data_len, struct doca_comch_producer_task_send **task)
{
	if (producer == NULL || task == NULL) {
		SF_LOG_ERR("%s is NULL", producer == NULL ? "producer" : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (imm_data_len > COMCH_IMM_MAX || (imm_data == NULL && imm_data_len > 0)) {
		SF_LOG_ERR("%u bytes of immediate data%s: give 0 to %d", imm_data_len, imm_data == NULL ? " at NULL" : "",
			   COMCH_IMM_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (buf == NULL && imm_data_len == 0) {
		SF_LOG_ERR("buf is NULL, and without immediate data there is nothing to send");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Connects ahead of the first submit, when the consumer is known. Submit reports errors. */
static void prepare_route(struct doca_comch_producer *producer, uint32_t consumer_id)
{
	struct comch_route *route;

	if (producer->child.ctx.state == DOCA_CTX_STATE_RUNNING && cached_route(producer, consumer_id) == NULL)
		(void)comch_route_find(producer, consumer_id, &route);
}

static void copy_imm(struct doca_comch_producer_task_send *task, const uint8_t *imm_data, uint32_t imm_data_len)
{
	task->imm_invalid = imm_data_len > COMCH_IMM_MAX || (imm_data == NULL && imm_data_len > 0);
	task->header.imm_len = task->imm_invalid ? 0 : (uint8_t)imm_data_len;
	if (task->header.imm_len > 0)
		memmove(task->header.imm, imm_data, imm_data_len);
	task->op.header_len = COMCH_DATA_HEADER_SIZE + task->header.imm_len;
}

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer, const struct doca_buf *buf,
						      uint8_t *imm_data, uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **out)
{
	struct doca_comch_producer_task_send *task;
	struct doca_task *base;
	doca_error_t result;

	result = check_alloc(producer, buf, imm_data, imm_data_len, out);
	if (result == DOCA_SUCCESS && producer->child.ctx.gpu != NULL) {
		SF_LOG_ERR("producer %u has its data path on a GPU, whose kernels send: it has no tasks", producer->child.id);
		result = DOCA_ERROR_BAD_STATE;
	}
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_task_alloc(&producer->child.ctx, &producer->send_pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	task = (struct doca_comch_producer_task_send *)base;
	task->buf = buf;
	task->consumer_id = consumer_id;
	task->header.mark = COMCH_DATA_MARK;
	task->header.reserved = 0;
	task->header.producer_id = producer->child.id;
	task->op = (struct sf_op){.kind = SF_OP_SEND, .iov = task->iov, .header = &task->header};
	copy_imm(task, imm_data, imm_data_len);
	prepare_route(producer, consumer_id);
	*out = task;
	return DOCA_SUCCESS;
}

const struct doca_buf *doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	return task != NULL ? task->buf : NULL;
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task, const struct doca_buf *buf)
{
	if (task != NULL)
		task->buf = buf;
}

uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	return task != NULL ? task->consumer_id : 0;
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task, const uint32_t consumer_id)
{
	if (task == NULL || task->consumer_id == consumer_id)
		return;
	task->consumer_id = consumer_id;
	prepare_route((struct doca_comch_producer *)task->base.ctx, consumer_id);
}

uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	return task != NULL && task->header.imm_len > 0 ? (uint8_t *)(uintptr_t)task->header.imm : NULL;
}

uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	return task != NULL ? task->header.imm_len : 0;
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task, uint8_t *imm_data,
						uint32_t imm_data_len)
{
	if (task != NULL)
		copy_imm(task, imm_data, imm_data_len);
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return task != NULL ? &task->base : NULL;
}
