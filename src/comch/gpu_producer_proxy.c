/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel has credits for the receives that the peer has posted: so a send that completes for the kernel has a receive.
 * Another producer may use it first; then the message, and all behind it, wait in the GPU queue. Long messages are sent from the
 * GPU queue's arena, so the kernel gets its bytes back when the connection is done with them, in the order of sending.
 */
#include "comch/gpu_producer_proxy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/control.h"
#include "comch/gpu_receiver.h"
#include "comch/gpu_trace.h"

#define FORWARD_SENDS_MAX 256u /* in flight on a connection */

struct forward_send {
	struct sf_op op;
	struct sf_iov iov;
	struct comch_data_header header;
	uint8_t bytes[SOFTFIELD_INLINE_MAX];
	struct gpu_forward *forward;
	bool done;
};

struct gpu_forward {
	struct gpu_forward *next;
	struct gpu_producer_proxy *proxy;
	struct sf_conn *conn;
	struct gpu_receiver receiver;
	uint32_t num_sends; /* a power of two */
	bool blocked;	    /* the connection does not accept the next message yet */
	bool ended;	    /* forwards no more */
	struct forward_send sends[];
};

struct gpu_producer_proxy {
	struct gpu_proxy base;
	struct doca_comch_producer *producer;
	struct gpu_forward *forwards;
	uint32_t num_inflight;
	bool cancelled;
};

/* ---- one message ---- */

static struct forward_send *send_at(struct gpu_forward *forward, uint32_t seq)
{
	return &forward->sends[seq & (forward->num_sends - 1)];
}

static void send_done(struct sf_op *op)
{
	struct forward_send *send = (struct forward_send *)((char *)op - offsetof(struct forward_send, op));
	struct gpu_forward *forward = send->forward;
	struct gpu_receiver *receiver = &forward->receiver;

	send->done = true;
	assert(forward->proxy->num_inflight > 0);
	forward->proxy->num_inflight--;
	while (receiver->released != receiver->seq && send_at(forward, receiver->released)->done)
		receiver->released++;
}

static void send_prepare(struct gpu_forward *forward, const struct gpu_arrival *arrival, struct forward_send *send)
{
	const uint8_t *imm = arrival->arena != NULL ? arrival->line : arrival->line + arrival->len;

	send->forward = forward;
	send->done = false;
	send->header = (struct comch_data_header){
		.mark = COMCH_DATA_MARK, .imm_len = (uint8_t)arrival->imm_len, .producer_id = forward->proxy->producer->child.id};
	memcpy(send->header.imm, imm, arrival->imm_len);
	if (arrival->arena == NULL)
		memcpy(send->bytes, arrival->line, arrival->len);
	send->iov = (struct sf_iov){arrival->arena != NULL ? (void *)(uintptr_t)arrival->arena : send->bytes, arrival->len};
	send->op = (struct sf_op){.done = send_done,
				  .kind = SF_OP_SEND,
				  .iov = &send->iov,
				  .iov_num = arrival->len != 0,
				  .header = &send->header,
				  .header_len = COMCH_DATA_HEADER_SIZE + arrival->imm_len};
}

/* The kernel wrote an invalid message, or the connection can never take it. */
static void forward_cut(struct gpu_forward *forward, const char *why)
{
	SF_LOG_ERR_LIMITED("producer %u: a message of its kernel cannot be sent: %s; its connection is closed",
			   forward->proxy->producer->child.id, why);
	forward->ended = true;
	sf_conn_disconnect(forward->conn);
}

/* Returns whether one was sent. */
static bool forward_one(struct gpu_forward *forward)
{
	struct gpu_receiver *receiver = &forward->receiver;
	struct forward_send *send = send_at(forward, receiver->seq);
	struct gpu_arrival arrival;
	doca_error_t result;

	forward->blocked = receiver->seq - receiver->released == forward->num_sends;
	if (forward->ended || forward->blocked)
		return false;
	result = comch_gpu_receiver_peek(receiver, &arrival);
	if (result != DOCA_SUCCESS) {
		if (result != DOCA_ERROR_AGAIN)
			forward_cut(forward, "what it wrote is not a message");
		return false;
	}
	send_prepare(forward, &arrival, send);
	result = sf_conn_submit(forward->conn, &send->op);
	if (result == DOCA_SUCCESS) {
		gpu_queue_trace_deliver(&receiver->box, send, receiver->seq, arrival.len);
		if (sf_trace_on())
			sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
		receiver->seq++; /* released when it is done */
		forward->proxy->num_inflight++;
		return true;
	}
	/* AGAIN, TOO_BIG: other producers took the receives that its credits stood for. It waits for one that fits. */
	forward->blocked = true;
	if (result == DOCA_ERROR_NOT_CONNECTED)
		forward->ended = true;
	else if (result != DOCA_ERROR_AGAIN && result != DOCA_ERROR_TOO_BIG)
		forward_cut(forward, doca_error_get_name(result));
	return false;
}

static void forward_give_credits(struct gpu_forward *forward)
{
	uint32_t len, credits = sf_conn_credits(forward->conn, &len);

	comch_gpu_receiver_give_credits(&forward->receiver, credits, len);
}

/* ---- the proxy ---- */

static bool producer_poll(struct gpu_proxy *base)
{
	struct gpu_producer_proxy *proxy = (struct gpu_producer_proxy *)base;
	uint32_t before = proxy->num_inflight, sent = 0;
	bool moved = sf_ep_poll(proxy->producer->ep, COMCH_POLL_BUDGET) > 0;

	if (before != 0 && proxy->num_inflight == 0 && proxy->cancelled)
		comch_ctx_wake(&proxy->producer->child.ctx); /* it is drained */
	for (struct gpu_forward *it = proxy->forwards; it != NULL; it = it->next) {
		if (it->ended || it->conn->state != SF_CONN_READY)
			continue;
		for (sent = 0; sent < COMCH_POLL_BUDGET && forward_one(it); sent++)
			moved = true;
		if (!it->ended)
			forward_give_credits(it);
	}
	return moved;
}

/* A message may wait long for a receive, so it is checked again only at the end of the sleep. */
static bool forward_arm(struct gpu_forward *forward)
{
	const bool hardware = (forward->receiver.box.flags & SOFTFIELD_GPU_QUEUE_HARDWARE) != 0;
	const bool ready = hardware ? comch_gpu_receiver_ready(&forward->receiver) : comch_gpu_receiver_arm(&forward->receiver);

	return ready && !forward->blocked && forward->conn->state == SF_CONN_READY;
}

static bool producer_arm(struct gpu_proxy *base)
{
	struct gpu_producer_proxy *proxy = (struct gpu_producer_proxy *)base;
	bool due = sf_ep_arm(proxy->producer->ep);

	for (struct gpu_forward *it = proxy->forwards; it != NULL; it = it->next) {
		if (!it->ended)
			due |= forward_arm(it);
	}
	return due;
}

doca_error_t comch_gpu_producer_proxy_open(struct doca_comch_producer *producer, const struct sf_ep_handler *handler,
					   struct gpu_producer_proxy **out)
{
	struct gpu_producer_proxy *proxy = calloc(1, sizeof(*proxy));
	struct sf_domain *domain;
	int event_fd;
	doca_error_t result;

	if (proxy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	proxy->base.poll = producer_poll;
	proxy->base.arm = producer_arm;
	proxy->base.hardware = producer->child.ctx.gpu->ops->hardware;
	proxy->producer = producer;
	result = sf_dev_domain(producer->child.connection->endpoint->dev, &domain);
	if (result == DOCA_SUCCESS)
		result = comch_gpu_proxy_acquire(&event_fd);
	if (result != DOCA_SUCCESS) {
		free(proxy);
		return result;
	}
	result = sf_ep_open(domain, handler, 1, event_fd, &producer->ep);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("producer %u: no endpoint: %s", producer->child.id, doca_error_get_name(result));
		comch_gpu_proxy_release();
		free(proxy);
		return result;
	}
	comch_gpu_proxy_lock();
	comch_gpu_proxy_add(&proxy->base);
	comch_gpu_proxy_unlock();
	*out = proxy;
	return DOCA_SUCCESS;
}

void comch_gpu_producer_proxy_close(struct gpu_producer_proxy *proxy)
{
	bool ours = comch_gpu_proxy_is_ours(&proxy->base);

	comch_gpu_proxy_lock();
	comch_gpu_proxy_remove(&proxy->base);
	sf_ep_close(proxy->producer->ep);
	proxy->producer->ep = NULL;
	comch_gpu_proxy_unlock();
	if (ours)
		comch_gpu_proxy_release();
	free(proxy);
}

void comch_gpu_producer_proxy_cancel(struct gpu_producer_proxy *proxy)
{
	proxy->cancelled = true;
	for (struct gpu_forward *it = proxy->forwards; it != NULL; it = it->next) {
		while (it->conn->state == SF_CONN_READY && forward_one(it))
			;
		it->ended = true;
	}
}

bool comch_gpu_producer_proxy_drained(struct gpu_producer_proxy *proxy)
{
	bool drained;

	if (!comch_gpu_proxy_is_ours(&proxy->base))
		return true;
	comch_gpu_proxy_lock();
	drained = proxy->num_inflight == 0;
	comch_gpu_proxy_unlock();
	return drained;
}

/* ---- forwards ---- */

doca_error_t comch_gpu_forward_open(struct gpu_producer_proxy *proxy, const struct gpu_memory *memory, size_t offset,
				    struct sf_conn *conn, struct gpu_forward **out)
{
	struct gpu_forward *forward;
	struct gpu_queue box;
	uint32_t num_sends;
	doca_error_t result = comch_gpu_queue_view(memory->addr, memory->len, offset, false, &box);

	if (result != DOCA_SUCCESS)
		return result;
	num_sends = box.depth < FORWARD_SENDS_MAX ? box.depth : FORWARD_SENDS_MAX;
	forward = calloc(1, sizeof(*forward) + num_sends * sizeof(forward->sends[0]));
	if (forward == NULL) {
		SF_LOG_ERR_LIMITED("producer %u: no memory for another consumer", proxy->producer->child.id);
		return DOCA_ERROR_NO_MEMORY;
	}
	forward->proxy = proxy;
	forward->conn = conn;
	forward->num_sends = num_sends;
	comch_gpu_receiver_init(&forward->receiver, &box);
	forward->next = proxy->forwards;
	proxy->forwards = forward;
	*out = forward;
	return DOCA_SUCCESS;
}

void comch_gpu_forward_close(struct gpu_forward *forward)
{
	struct gpu_forward **slot = &forward->proxy->forwards;

	while (*slot != forward) {
		assert(*slot != NULL);
		slot = &(*slot)->next;
	}
	*slot = forward->next;
	free(forward);
}
