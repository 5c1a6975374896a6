/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbound source by a GPU queue: a producer on the peer's GPU writes it, a consumer on the CPU reads it.
 *
 * Each source has credits for all receives that the consumer holds. If two sources use the same receive, the later message waits
 * in its GPU queue for the next one. So an idle source takes nothing from the others.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/trace.h"
#include "comch/gpu_path.h"
#include "comch/gpu_receiver.h"
#include "comch/gpu_trace.h"

#define PREFETCH_ARENA 256 /* bytes of one */
#define LOOK_NS 1000000	   /* poll interval of a real GPU's queue in event-driven mode: it cannot ring */

struct gpu_inbound {
	struct comch_inbound base;
	struct sf_region *region;
	struct gpu_receiver receiver;
	uint64_t offset;  /* of the GPU queue in the region */
	int timer;	  /* -1 unless the consumer was armed and the GPU is real, or the GPU queue not mapped yet */
	bool mapped;	  /* the owner has answered: receiver is there */
	const void *held; /* memory of this very process that is held, or NULL */
	bool broken;
};

/* ---- one message ---- */

static __attribute__((noinline)) void recv_scatter(struct doca_comch_consumer_task_post_recv *task, const uint8_t *from,
						   size_t len)
{
	for (uint32_t i = 0; len > 0 && i < task->recv.iov_num; i++) {
		size_t part = len < task->iov[i].len ? len : task->iov[i].len;

		memcpy(task->iov[i].addr, from, part);
		from += part;
		len -= part;
	}
}

static inline void recv_fill(struct doca_comch_consumer_task_post_recv *task, const struct gpu_arrival *arrived)
{
	if (arrived->arena == NULL && arrived->len <= SOFTFIELD_LINE_PAYLOAD && arrived->len <= task->iov[0].len)
		gpu_payload_copy((uint8_t *)task->iov[0].addr, arrived->line, arrived->len);
	else
		recv_scatter(task, arrived->arena != NULL ? arrived->arena : arrived->line, arrived->len);
}

/* The immediate data is stored where the header of a connection's message would be, so it stays valid as long. */
static void hand_over(struct gpu_inbound *in, struct doca_comch_consumer_task_post_recv *task, const struct gpu_arrival *arrived)
{
	struct comch_arrival arrival = {
		.len = arrived->len, .producer_id = in->base.producer_id, .imm_data_len = arrived->imm_len};

	recv_fill(task, arrived);
	if (__builtin_expect(arrived->imm_len != 0, 0)) {
		memcpy(task->recv.header, arrived->arena != NULL ? arrived->line : arrived->line + arrived->len,
		       arrived->imm_len);
		arrival.imm_data = task->recv.header;
	}
	gpu_queue_trace_deliver(&in->receiver.box, &task->recv, in->receiver.seq, arrived->len);
	gpu_receiver_next(&in->receiver);
	comch_task_post_recv_arrived(task, &arrival);
	if (sf_trace_on())
		sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}

static void inbound_cut(struct gpu_inbound *in)
{
	SF_LOG_ERR_LIMITED("consumer %u: producer %u wrote an invalid message into its GPU queue; its connection is closed",
			   in->base.consumer->child.id, in->base.producer_id);
	in->broken = true;
	sf_conn_disconnect(in->base.conn);
}

static void drop_timer(struct gpu_inbound *in)
{
	if (in->timer < 0)
		return;
	sf_ctx_unwatch_fd(&in->base.consumer->child.ctx, in->timer);
	close(in->timer);
	in->timer = -1;
}

/* Checks for the owner's answer without waiting, because the owner may be stopped. Returns whether the GPU queue can be read. */
static bool is_mapped(struct gpu_inbound *in)
{
	struct gpu_queue box;
	doca_error_t result;
	void *addr;

	if (__builtin_expect(in->mapped || in->broken, 1))
		return in->mapped;
	result = sf_region_ready(in->region);
	if (result == DOCA_ERROR_AGAIN)
		return false;
	if (result == DOCA_SUCCESS)
		result = sf_region_map(in->region, &addr);
	if (result == DOCA_SUCCESS)
		in->held = comch_gpu_memory_hold(addr) ? addr : NULL;
	if (result == DOCA_SUCCESS)
		result = comch_gpu_queue_view(addr, in->region->len, in->offset, false, &box);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("consumer %u: the GPU queue of producer %u cannot be used: %s; its connection is closed",
				   in->base.consumer->child.id, in->base.producer_id, doca_error_get_name(result));
		in->broken = true;
		sf_conn_disconnect(in->base.conn);
		return false;
	}
	comch_gpu_receiver_init(&in->receiver, &box);
	in->mapped = true;
	if ((in->receiver.box.flags & SOFTFIELD_GPU_QUEUE_HARDWARE) == 0)
		drop_timer(in); /* it waited for the owner's answer; a software GPU rings */
	return true;
}

static void inbound_give_credits(struct gpu_inbound *in)
{
	size_t room;
	uint32_t count = comch_consumer_held_alike(in->base.consumer, &room);

	if (__builtin_expect(count == 0, 0))
		comch_consumer_want_recvs(in->base.consumer);
	comch_gpu_receiver_give_credits(&in->receiver, count, room < UINT32_MAX ? (uint32_t)room : UINT32_MAX);
}

/* A kernel's messages come in bursts, one behind the other in the arena. */
static inline void recv_prefetch(const struct gpu_queue *box, uint32_t seq, const struct gpu_arrival *arrival)
{
	const uint8_t *next = arrival->arena;
	uint32_t room = softfield_arena_room(arrival->len), ahead = (seq + GPU_RECEIVER_AHEAD) & (box->depth - 1);

	__builtin_prefetch(&box->lines[ahead]);
	if (next == NULL && arrival->len + arrival->imm_len > SOFTFIELD_LINE_PAYLOAD)
		__builtin_prefetch(softfield_overflow_of(box->lines, box->depth, ahead));
	if (next == NULL || room > PREFETCH_ARENA ||
	    (size_t)(box->arena + box->arena_size - next) < (GPU_RECEIVER_AHEAD + 1) * (size_t)room)
		return;
	for (uint32_t i = 0; i < room; i += SOFTFIELD_ARENA_ALIGN)
		__builtin_prefetch(next + GPU_RECEIVER_AHEAD * (size_t)room + i);
}

/* Receives the next message, of any kind, if there is one. */
static __attribute__((noinline)) bool recv_any(struct gpu_inbound *in)
{
	struct doca_comch_consumer *consumer = in->base.consumer;
	struct doca_comch_consumer_task_post_recv *task;
	struct gpu_arrival arrival;
	doca_error_t result = comch_gpu_receiver_peek(&in->receiver, &arrival);

	if (result == DOCA_ERROR_AGAIN)
		return false;
	if (result != DOCA_SUCCESS || arrival.imm_len > consumer->imm_data_len) {
		inbound_cut(in);
		return false;
	}
	recv_prefetch(&in->receiver.box, in->receiver.seq, &arrival);
	task = comch_consumer_pop_recv(consumer, arrival.len);
	if (task == NULL)
		return false;
	hand_over(in, task, &arrival);
	return true;
}

/* Receives the next message if it is one of most small ones, without more copies and calls; else returns false. */
static inline __attribute__((always_inline)) bool recv_inline(struct gpu_inbound *in)
{
	struct comch_arrival arrival = {.producer_id = in->base.producer_id};
	const struct gpu_queue *box = &in->receiver.box;
	const uint32_t ahead = (in->receiver.seq + GPU_RECEIVER_AHEAD) & (box->depth - 1);
	struct doca_comch_consumer_task_post_recv *task;
	struct gpu_line line;

	if (!gpu_receiver_peek_inline(&in->receiver, &line, &arrival.len))
		return false;
	task = consumer_pop_alike(in->base.consumer, arrival.len);
	if (__builtin_expect(task == NULL, 0))
		return false;
	__builtin_prefetch(&box->lines[ahead]);
	gpu_receiver_copy_inline(&in->receiver, &line, (uint8_t *)task->iov[0].addr, arrival.len);
	SF_PROBE(deliver, &task->recv, 0, arrival.len);
	gpu_receiver_next(&in->receiver);
	task_post_recv_end(task, &arrival);
	return true;
}

static uint32_t take_in(struct gpu_inbound *in, uint32_t budget)
{
	const struct doca_ctx *ctx = &in->base.consumer->child.ctx;
	const bool is_traced = sf_trace_on(); /* that only recv_any does */
	uint32_t moved = 0;

	while (moved < budget && !in->broken && ctx->state == DOCA_CTX_STATE_RUNNING &&
	       ((!is_traced && recv_inline(in)) || recv_any(in)))
		moved++;
	return moved;
}

/* ---- the source ---- */

static uint32_t inbound_poll(struct comch_inbound *inbound, uint32_t budget)
{
	struct gpu_inbound *in = (struct gpu_inbound *)inbound;
	uint32_t moved = 0;

	if (is_mapped(in)) {
		moved = take_in(in, budget);
		if (!in->broken)
			inbound_give_credits(in);
	}
	return moved;
}

/* A poll does not change the timer, not even an expired one, because the program may sleep next. */
static bool arm_timer(struct gpu_inbound *in)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = LOOK_NS}};

	if (in->timer < 0) {
		in->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		if (in->timer >= 0 && sf_ctx_watch_fd(&in->base.consumer->child.ctx, in->timer) != DOCA_SUCCESS) {
			close(in->timer);
			in->timer = -1;
		}
	}
	/* Without a timer it always reports due: the program then polls, and loses nothing. */
	return in->timer < 0 || timerfd_settime(in->timer, 0, &soon, NULL) != 0;
}

static bool inbound_arm(struct comch_inbound *inbound)
{
	struct gpu_inbound *in = (struct gpu_inbound *)inbound;

	if (!is_mapped(in) && !in->broken)
		return arm_timer(in);
	if (in->broken) {
		drop_timer(in);
		return false;
	}
	inbound_give_credits(in);
	if (in->receiver.box.flags & SOFTFIELD_GPU_QUEUE_HARDWARE)
		return comch_gpu_receiver_ready(&in->receiver) || arm_timer(in);
	return comch_gpu_receiver_arm(&in->receiver);
}

static void inbound_close(struct comch_inbound *inbound)
{
	struct gpu_inbound *in = (struct gpu_inbound *)inbound;

	if (in->mapped) {
		while (take_in(in, COMCH_POLL_BUDGET) != 0) /* what the producer sent before it went */
			;
		comch_gpu_receiver_close(&in->receiver);
	}
	drop_timer(in);
	sf_region_close(in->region);
	if (in->held != NULL)
		comch_gpu_memory_release(in->held);
	free(in);
}

static void inbound_send_credits(struct comch_inbound *inbound)
{
	struct gpu_inbound *in = (struct gpu_inbound *)inbound;

	if (in->mapped && !in->broken && in->base.consumer->num_held > 0)
		inbound_give_credits(in);
}

static const struct comch_inbound_ops gpu_inbound_ops = {
	.name = "GPU queue",
	.poll = inbound_poll,
	.arm = inbound_arm,
	.send_credits = inbound_send_credits,
	.close = inbound_close,
};

/* ---- opening ---- */

static doca_error_t request_gpu_queue(struct gpu_inbound *in, struct sf_domain *domain, const struct comch_attach *attach)
{
	if (attach->descriptor_len <= COMCH_GPU_ATTACH_OFFSET_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(&in->offset, attach->descriptor, sizeof(in->offset));
	return sf_region_request(domain, attach->descriptor + COMCH_GPU_ATTACH_OFFSET_SIZE,
				 attach->descriptor_len - COMCH_GPU_ATTACH_OFFSET_SIZE, &in->region);
}

doca_error_t comch_inbound_open(struct doca_comch_consumer *consumer, struct sf_conn *conn, const struct comch_attach *attach,
				struct comch_inbound **inbound)
{
	struct gpu_inbound *in = calloc(1, sizeof(*in));
	doca_error_t result;

	if (in == NULL) {
		SF_LOG_ERR_LIMITED("consumer %u: no memory for producer %u", consumer->child.id, attach->producer_id);
		return DOCA_ERROR_NO_MEMORY;
	}
	in->timer = -1;
	result = request_gpu_queue(in, consumer->ep->domain, attach);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("consumer %u: the GPU queue of producer %u cannot be used: %s", consumer->child.id,
				   attach->producer_id, doca_error_get_name(result));
		free(in);
		return result;
	}
	in->base = (struct comch_inbound){
		.ops = &gpu_inbound_ops, .consumer = consumer, .conn = conn, .producer_id = attach->producer_id};
	*inbound = &in->base;
	return DOCA_SUCCESS;
}
