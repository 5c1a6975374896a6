/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer's data path on the CPU: an endpoint, receives posted on it, and inbound sources besides (inbound.h). */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/inbound.h"
#include "mem/mmap.h"

/* ---- receives ---- */

static __attribute__((noinline)) size_t list_room(const struct doca_comch_consumer_task_post_recv *task)
{
	size_t room = 0;

	for (uint32_t i = 0; i < task->recv.iov_num; i++)
		room += task->iov[i].len;
	return room;
}

static inline size_t recv_room(const struct doca_comch_consumer_task_post_recv *task)
{
	return __builtin_expect(task->recv.iov_num == 1, 1) ? task->iov[0].len : list_room(task);
}

static struct doca_comch_consumer_task_post_recv *recv_unhold(struct doca_comch_consumer *consumer)
{
	return consumer->held_first != NULL ? consumer_unhold(consumer) : NULL;
}

/* Sources may have credits for receives of several sizes: returns the first receive that is large enough. */
static struct doca_comch_consumer_task_post_recv *unhold_fitting(struct doca_comch_consumer *consumer, size_t len)
{
	struct doca_task **slot = &consumer->held_first, *before = NULL, *task;

	while (*slot != NULL && recv_room((const struct doca_comch_consumer_task_post_recv *)*slot) < len) {
		before = *slot;
		slot = &before->next;
	}
	task = *slot;
	if (task == NULL)
		return NULL;
	assert(consumer->num_held > 0);
	*slot = task->next;
	if (task->next == NULL)
		consumer->held_last = before;
	consumer->num_held--;
	return (struct doca_comch_consumer_task_post_recv *)task;
}

uint32_t comch_consumer_held_alike(const struct doca_comch_consumer *consumer, size_t *room)
{
	uint32_t alike = 0;

	*room = consumer->held_room;
	if (!consumer->held_mixed || consumer->num_held == 0)
		return consumer->num_held;
	*room = recv_room((const struct doca_comch_consumer_task_post_recv *)consumer->held_first);
	for (const struct doca_task *task = consumer->held_first; task != NULL; task = task->next, alike++) {
		if (recv_room((const struct doca_comch_consumer_task_post_recv *)task) != *room)
			break;
	}
	return alike;
}

void comch_consumer_want_recvs(struct doca_comch_consumer *consumer)
{
	if (consumer->num_held > 0 || consumer->num_posted == 0 || consumer->reclaiming)
		return;
	consumer->reclaiming = true;
	sf_ep_flush_recvs(consumer->ep);
}

struct doca_comch_consumer_task_post_recv *comch_consumer_pop_recv(struct doca_comch_consumer *consumer, size_t len)
{
	struct doca_comch_consumer_task_post_recv *task = __builtin_expect(!consumer->held_mixed && len <= consumer->held_room, 1)
								  ? recv_unhold(consumer)
								  : unhold_fitting(consumer, len);

	if (task == NULL)
		comch_consumer_want_recvs(consumer);
	return task;
}

doca_error_t comch_consumer_queue_recv(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task)
{
	doca_error_t result;

	if (__builtin_expect(consumer_is_to_hold(consumer), 0)) {
		consumer_hold(consumer, task, recv_room(task));
		return DOCA_SUCCESS;
	}
	result = sf_ep_post_recv(consumer->ep, &task->recv);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		consumer->num_posted++;
	else
		SF_LOG_ERR("consumer %u: the receive cannot be posted: %s", consumer->child.id, doca_error_get_name(result));
	return result;
}

/* The peer sent what no producer sends: its connection is closed, and the receive is kept. */
static void message_broken(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task)
{
	SF_LOG_ERR_LIMITED(
		"consumer %u: a message of %u bytes with a header of %u is not from a producer; its connection is closed",
		consumer->child.id, task->recv.len, task->recv.header_len);
	sf_conn_disconnect(task->recv.conn);
	if (comch_consumer_queue_recv(consumer, task) != DOCA_SUCCESS)
		comch_task_post_recv_flushed(task, DOCA_ERROR_IO_FAILED);
}

/* A receive that the endpoint has returned: the consumer ends, or an inbound source needs it. */
static __attribute__((noinline)) void recv_returned(struct doca_comch_consumer *consumer,
						    struct doca_comch_consumer_task_post_recv *task)
{
	if (consumer->child.ctx.state == DOCA_CTX_STATE_STOPPING) {
		comch_task_post_recv_flushed(task, comch_child_flush_status(&consumer->child));
		return;
	}
	if (consumer->inbound != NULL)
		consumer_hold(consumer, task, recv_room(task));
	else if (comch_consumer_queue_recv(consumer, task) != DOCA_SUCCESS)
		comch_task_post_recv_flushed(task, DOCA_ERROR_IO_FAILED);
	if (consumer->num_posted == 0)
		consumer->reclaiming = false;
}

static void recv_done(struct sf_recv *recv)
{
	struct doca_comch_consumer_task_post_recv *task =
		(struct doca_comch_consumer_task_post_recv *)((char *)recv -
							      offsetof(struct doca_comch_consumer_task_post_recv, recv));
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)task->base.ctx;
	const struct comch_data_header *header = (const struct comch_data_header *)recv->header;
	struct comch_arrival arrival;

	assert(consumer->num_posted > 0);
	consumer->num_posted--;
	if (__builtin_expect(recv->status != DOCA_SUCCESS, 0)) {
		recv_returned(consumer, task);
		return;
	}
	if (__builtin_expect(recv->kind != SF_OP_SEND || !comch_data_header_valid(header, recv->header_len) ||
				     header->imm_len > consumer->imm_data_len,
			     0)) {
		message_broken(consumer, task);
		return;
	}
	arrival = (struct comch_arrival){
		.len = recv->len,
		.producer_id = header->producer_id,
		.imm_data = header->imm_len > 0 ? header->imm : NULL,
		.imm_data_len = header->imm_len,
	};
	comch_task_post_recv_arrived(task, &arrival);
}

void comch_consumer_prepare_recv(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task)
{
	task->recv = (struct sf_recv){.done = recv_done, .region = consumer->region, .iov = task->iov};
}

/* ---- producers ---- */

static void producer_attached(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)listener->user;
	struct comch_inbound_conn *inbound_conn;
	struct comch_attach attach;
	doca_error_t result;

	conn->user = NULL;
	result = comch_attach_parse(data, len, &attach);
	if (result != DOCA_SUCCESS || consumer->num_conns == COMCH_PRODUCERS_MAX) {
		SF_LOG_ERR_LIMITED("consumer %u: rejected a producer: %s", consumer->child.id,
				   result != DOCA_SUCCESS ? "its attach request is invalid" : "there are too many producers");
		sf_conn_close(conn);
		return;
	}
	inbound_conn = (struct comch_inbound_conn *)calloc(1, sizeof(*inbound_conn));
	if (inbound_conn == NULL) {
		SF_LOG_ERR_LIMITED("consumer %u: no memory for producer %u: rejected it", consumer->child.id, attach.producer_id);
		sf_conn_close(conn);
		return;
	}
	if (attach.path == COMCH_PATH_GPU_QUEUE &&
	    comch_inbound_open(consumer, conn, &attach, &inbound_conn->inbound) != DOCA_SUCCESS) {
		free(inbound_conn);
		sf_conn_close(conn);
		return;
	}
	inbound_conn->consumer = consumer;
	inbound_conn->conn = conn;
	inbound_conn->producer_id = attach.producer_id;
	inbound_conn->next = consumer->conns;
	consumer->conns = inbound_conn;
	assert(consumer->num_conns < COMCH_PRODUCERS_MAX);
	consumer->num_conns++;
	conn->user = inbound_conn;
	if (inbound_conn->inbound != NULL) {
		inbound_conn->inbound->next = consumer->inbound;
		consumer->inbound = inbound_conn->inbound;
		consumer->num_inbound++;
	}
}

static void close_inbound(struct doca_comch_consumer *consumer, struct comch_inbound *inbound)
{
	struct comch_inbound **slot = &consumer->inbound;

	while (*slot != inbound) {
		assert(*slot != NULL);
		slot = &(*slot)->next;
	}
	*slot = inbound->next;
	assert(consumer->num_inbound > 0);
	consumer->num_inbound--;
	inbound->ops->close(inbound);
}

static void close_conn(struct doca_comch_consumer *consumer, struct comch_inbound_conn *inbound_conn)
{
	struct comch_inbound_conn **slot = &consumer->conns;

	while (*slot != inbound_conn) {
		assert(*slot != NULL);
		slot = &(*slot)->next;
	}
	*slot = inbound_conn->next;
	assert(consumer->num_conns > 0);
	consumer->num_conns--;
	if (inbound_conn->inbound != NULL)
		close_inbound(consumer, inbound_conn->inbound);
	sf_conn_close(inbound_conn->conn);
	free(inbound_conn);
}

/* Held receives go back to the endpoint when the last source has gone. */
static void release_held(struct doca_comch_consumer *consumer)
{
	struct doca_comch_consumer_task_post_recv *task;

	while (consumer->inbound == NULL && consumer->child.ctx.state == DOCA_CTX_STATE_RUNNING &&
	       (task = recv_unhold(consumer)) != NULL) {
		if (comch_consumer_queue_recv(consumer, task) != DOCA_SUCCESS)
			comch_task_post_recv_flushed(task, DOCA_ERROR_IO_FAILED);
	}
}

static void producer_left(struct sf_conn *conn, doca_error_t reason)
{
	struct comch_inbound_conn *inbound_conn = (struct comch_inbound_conn *)conn->user;
	struct doca_comch_consumer *consumer;

	(void)reason; /* the control connection reports it to the program */
	if (inbound_conn == NULL)
		return;
	consumer = inbound_conn->consumer;
	close_conn(consumer, inbound_conn);
	release_held(consumer);
}

static const struct sf_ep_handler consumer_handler = {
	.accepted = producer_attached,
	.closed = producer_left,
};

/* ---- the path ---- */

static doca_error_t cpu_start(struct doca_comch_consumer *consumer, struct comch_advertisement *ad)
{
	struct doca_dev *dev = consumer->child.connection->endpoint->dev;
	uint32_t recv_max = consumer->recv_pool.num_tasks > 0 ? consumer->recv_pool.num_tasks : 1;
	doca_error_t result;

	if (sf_mmap_is_gpu_memory(consumer->mmap)) {
		SF_LOG_ERR("consumer %u: the mmap is memory of a GPU; put its data path there with doca_ctx_set_datapath_on_gpu",
			   consumer->child.id);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	result = sf_mmap_region(consumer->mmap, dev, &consumer->region);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->num_posted = consumer->num_conns = consumer->num_inbound = consumer->num_held = 0;
	consumer->held_first = consumer->held_last = NULL;
	consumer->reclaiming = false;
	ad->path = COMCH_PATH_CONN;
	result = comch_consumer_listen(consumer, &consumer_handler, recv_max, sf_ctx_event_fd(&consumer->child.ctx), ad);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->list_max = consumer->ep->ops->recv_iov_max < COMCH_LIST_MAX ? consumer->ep->ops->recv_iov_max : COMCH_LIST_MAX;
	return DOCA_SUCCESS;
}

static void cpu_cancel(struct doca_comch_consumer *consumer)
{
	if (consumer->num_posted > 0)
		sf_ep_flush_recvs(consumer->ep);
}

static bool cpu_drained(struct doca_comch_consumer *consumer)
{
	return consumer->num_posted == 0 && consumer->num_held == 0;
}

static void cpu_stop(struct doca_comch_consumer *consumer)
{
	while (consumer->conns != NULL)
		close_conn(consumer, consumer->conns);
	comch_consumer_unlisten(consumer);
	consumer->region = NULL;
}

static uint32_t poll_inbound(struct doca_comch_consumer *consumer)
{
	uint32_t moved = 0;

	for (struct comch_inbound *it = consumer->inbound; it != NULL && consumer->child.ctx.state == DOCA_CTX_STATE_RUNNING;
	     it = it->next)
		moved += it->ops->poll(it, COMCH_POLL_BUDGET);
	return moved;
}

/* The held receives only: the endpoint returns its own in its poll. */
static uint32_t flush_held(struct doca_comch_consumer *consumer)
{
	struct doca_comch_consumer_task_post_recv *task;
	uint32_t flushed = 0;

	while ((task = recv_unhold(consumer)) != NULL) {
		comch_task_post_recv_flushed(task, comch_child_flush_status(&consumer->child));
		flushed++;
	}
	return flushed;
}

static bool cpu_progress(struct doca_comch_consumer *consumer)
{
	uint32_t moved = sf_ep_poll(consumer->ep, COMCH_POLL_BUDGET);

	if (__builtin_expect(consumer->inbound != NULL, 0))
		moved += poll_inbound(consumer);
	if (__builtin_expect(consumer->num_held > 0, 0) && consumer->child.ctx.state == DOCA_CTX_STATE_STOPPING)
		moved += flush_held(consumer);
	return moved > 0;
}

/*
 * The endpoint first: an armed source rings, and a ring on an endpoint that is not armed is lost. When a source is armed it may
 * take receives back from the endpoint; polling completes that.
 */
static bool cpu_arm(struct doca_comch_consumer *consumer)
{
	bool due = sf_ep_arm(consumer->ep);

	for (struct comch_inbound *it = consumer->inbound; it != NULL; it = it->next)
		due |= it->ops->arm == NULL || it->ops->arm(it);
	return due || consumer->reclaiming || (consumer->num_held > 0 && consumer->child.ctx.state == DOCA_CTX_STATE_STOPPING);
}

const struct comch_consumer_path comch_consumer_cpu_path = {
	.start = cpu_start,
	.cancel = cpu_cancel,
	.drained = cpu_drained,
	.stop = cpu_stop,
	.progress = cpu_progress,
	.arm = cpu_arm,
};
