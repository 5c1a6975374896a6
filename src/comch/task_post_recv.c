/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/task_post_recv.h"

#include "base/log.h"
#include "comch/consumer.h"
#include "comch/inbound.h"
#include "mem/buf_checks.h"

/* Collects the tail of each buffer of the list. INVALID_VALUE, logged, for a buffer outside the mmap, or too many buffers. */
static doca_error_t gather_list(struct doca_comch_consumer_task_post_recv *task, const struct doca_comch_consumer *consumer)
{
	uint32_t num = 0;

	for (const struct doca_buf *buf = task->buf; buf != NULL; buf = buf->next) {
		if (buf->mmap != consumer->mmap) {
			SF_LOG_ERR("consumer %u: the buffer at %p is not in the mmap that the consumer was created with",
				   consumer->child.id, (const void *)buf->head);
			return DOCA_ERROR_INVALID_VALUE;
		}
		if (num == consumer->list_max) {
			SF_LOG_ERR("consumer %u: a list of more than %u buffers; shorten it", consumer->child.id,
				   consumer->list_max);
			return DOCA_ERROR_INVALID_VALUE;
		}
		task->iov[num++] = (struct sf_iov){buf->data + buf->data_len, sf_buf_tailroom(buf)};
	}
	task->recv.iov_num = num;
	return DOCA_SUCCESS;
}

/* A receive that is a list, or cannot be posted. */
static __attribute__((noinline)) doca_error_t submit_list(struct doca_comch_consumer_task_post_recv *task,
							  struct doca_comch_consumer *consumer)
{
	doca_error_t result;

	if (task->buf == NULL) {
		SF_LOG_ERR("consumer %u: the receive has no buffer", consumer->child.id);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = gather_list(task, consumer);
	return result == DOCA_SUCCESS ? comch_consumer_queue_recv(consumer, task) : result;
}

static doca_error_t post_recv_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_comch_consumer_task_post_recv *task = (struct doca_comch_consumer_task_post_recv *)base;
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)base->ctx;
	const struct doca_buf *buf = task->buf;
	size_t room;

	(void)flags;
	if (__builtin_expect(buf == NULL || buf->next != NULL || buf->mmap != consumer->mmap, 0))
		return submit_list(task, consumer);
	room = sf_buf_tailroom(buf);
	task->iov[0] = (struct sf_iov){buf->data + buf->data_len, room};
	task->recv.iov_num = 1;
	if (!consumer_is_to_hold(consumer))
		return comch_consumer_queue_recv(consumer, task);
	consumer_hold(consumer, task, room);
	return DOCA_SUCCESS;
}

static doca_error_t post_recv_validate(const struct doca_task *base)
{
	const struct doca_comch_consumer_task_post_recv *task = (const struct doca_comch_consumer_task_post_recv *)base;
	size_t room = 0;

	for (const struct doca_buf *buf = task->buf; buf != NULL; buf = buf->next)
		room += sf_buf_tailroom(buf);
	if (task->buf == NULL || task->buf->refcount == 0 || task->buf->first != task->buf || room > COMCH_BUF_SIZE_MAX) {
		SF_LOG_ERR("the receive's buffer is %s", task->buf == NULL	    ? "NULL"
							 : task->buf->refcount == 0 ? "free"
							 : task->buf->first != task->buf
								 ? "not the head of its list"
								 : "larger than the maximum of a message");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

void comch_bufs_extend(struct doca_buf *buf, size_t len)
{
	while (len > 0 && buf != NULL) {
		size_t room = sf_buf_tailroom(buf);
		size_t part = len < room ? len : room;

		buf->data_len += part;
		len -= part;
		buf = buf->next;
	}
}

void comch_task_post_recv_arrived(struct doca_comch_consumer_task_post_recv *task, const struct comch_arrival *arrival)
{
	task_post_recv_end(task, arrival);
}

void comch_task_post_recv_flushed(struct doca_comch_consumer_task_post_recv *task, doca_error_t status)
{
	task->producer_id = 0;
	task->imm_data = NULL;
	task->imm_data_len = 0;
	sf_task_complete(&task->base, status);
}

static void post_recv_inspect(const struct doca_task *base)
{
	sf_buf_check_list(base, ((const struct doca_comch_consumer_task_post_recv *)base)->buf);
}

static const struct sf_task_class post_recv_class = {
	.name = "comch consumer post receive",
	.size = sizeof(struct doca_comch_consumer_task_post_recv),
	.may_wait = true,
	.submit = post_recv_submit,
	.validate = post_recv_validate,
	.inspect = post_recv_inspect,
};

doca_error_t doca_comch_consumer_task_post_recv_set_conf(struct doca_comch_consumer *consumer,
							 doca_comch_consumer_task_post_recv_completion_cb_t completed,
							 doca_comch_consumer_task_post_recv_completion_cb_t failed,
							 uint32_t num_post_recv_tasks)
{
	if (consumer == NULL) {
		SF_LOG_ERR("consumer is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_task_pool_configure(&consumer->child.ctx, &consumer->recv_pool, &post_recv_class,
				      (doca_task_completion_cb_t)completed, (doca_task_completion_cb_t)failed,
				      num_post_recv_tasks, COMCH_DATA_TASKS_MAX);
}

doca_error_t doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer, struct doca_buf *buf,
							   struct doca_comch_consumer_task_post_recv **out)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_task *base;
	doca_error_t result;

	if (consumer == NULL || buf == NULL || out == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : buf == NULL ? "buf" : "task");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (consumer->child.ctx.gpu != NULL) {
		SF_LOG_ERR("consumer %u has its data path on a GPU, whose kernels receive: it has no tasks", consumer->child.id);
		return DOCA_ERROR_BAD_STATE;
	}
	result = sf_task_alloc(&consumer->child.ctx, &consumer->recv_pool, &base);
	if (result != DOCA_SUCCESS)
		return result;
	task = (struct doca_comch_consumer_task_post_recv *)base;
	task->buf = buf;
	task->producer_id = 0;
	task->imm_data = NULL;
	task->imm_data_len = 0;
	comch_consumer_prepare_recv(consumer, task);
	*out = task;
	return DOCA_SUCCESS;
}

struct doca_buf *doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
	return task != NULL ? task->buf : NULL;
}

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task, struct doca_buf *buf)
{
	if (task != NULL)
		task->buf = buf;
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task)
{
	return task != NULL ? task->producer_id : 0;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task)
{
	return task != NULL ? task->imm_data : NULL;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task)
{
	return task != NULL ? task->imm_data_len : 0;
}

struct doca_task *doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
	return task != NULL ? &task->base : NULL;
}
