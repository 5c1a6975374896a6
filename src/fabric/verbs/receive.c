/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives of an endpoint: posting, arrival, and fetching of long messages. */
#include "fabric/verbs/receive.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/mr.h"

#define PULLS_OUT 4 /* work requests of one long message at a time */

void sf_verbs_recv_due(struct vb_ep *ep, struct sf_recv *recv)
{
	assert(ep->posted > 0);
	ep->posted--;
	sf_ep_queue_recv(&ep->queue, recv);
}

/* ---- rings ---- */

static bool ring_open(struct vb_ring *ring, uint32_t num)
{
	uint32_t size = 1;

	while (size < num)
		size *= 2;
	ring->at = calloc(size, sizeof(*ring->at));
	ring->mask = size - 1;
	return ring->at != NULL;
}

static void ring_push(struct vb_ring *ring, uint32_t value)
{
	ring->at[ring->tail++ & ring->mask] = value;
}

static uint32_t ring_pop(struct vb_ring *ring)
{
	return ring->at[ring->head++ & ring->mask];
}

static uint32_t ring_num(const struct vb_ring *ring)
{
	return ring->tail - ring->head;
}

/* ---- the order of posting, and its runs of equal lengths ---- */

void sf_verbs_order_pop(struct vb_ep *ep)
{
	struct vb_run *first = &ep->runs[ep->runs_head & ep->order.mask];

	(void)ring_pop(&ep->order);
	assert(first->num > 0);
	if (--first->num != 0)
		return;
	ep->runs_head++;
	assert(ep->runs_num > 0);
	ep->runs_num--;
}

static void order_push(struct vb_ep *ep, uint32_t slot)
{
	uint32_t len = ep->slots[slot].len;
	struct vb_run *last = &ep->runs[(ep->runs_head + ep->runs_num - 1) & ep->order.mask];

	if (ring_num(&ep->order) > ep->order.mask) /* one that was posted long ago is still held: its place is dropped */
		sf_verbs_order_pop(ep);
	ep->slots[slot].place = ep->order.tail;
	ring_push(&ep->order, slot + 1);
	if (ep->runs_num != 0 && last->len == len) {
		last->num++;
		return;
	}
	ep->runs[(ep->runs_head + ep->runs_num++) & ep->order.mask] = (struct vb_run){1, len};
}

static void order_take(struct vb_ep *ep, uint32_t slot)
{
	uint32_t place = ep->slots[slot].place;

	if (place - ep->order.head < ring_num(&ep->order))
		ep->order.at[place & ep->order.mask] = 0;
	while (ring_num(&ep->order) != 0 && ep->order.at[ep->order.head & ep->order.mask] == 0)
		sf_verbs_order_pop(ep);
	if (ep->conns_num > 1 || ep->runs_num > VB_RUNS_MAX)
		ep->views_stale = true; /* other senders believe there are more, or this one believes there are fewer */
}

uint32_t sf_verbs_recvs_view(const struct vb_ep *ep, struct vb_view *view)
{
	uint32_t num = ep->runs_num < VB_RUNS_MAX ? ep->runs_num : VB_RUNS_MAX;

	for (uint32_t i = 0; i < num; i++) {
		const struct vb_run *run = &ep->runs[(ep->runs_head + i) & ep->order.mask];

		view->runs[i].num = run->num;
		view->runs[i].len = run->len;
	}
	return num;
}

/* ---- posting ---- */

/* Posts a slot to the device. */
static bool slot_post(struct vb_ep *ep, uint32_t index)
{
	struct vb_slot *slot = &ep->slots[index];
	const struct sf_recv *recv = slot->recv;
	struct ibv_sge sge[VB_RECV_IOV_MAX + 1];
	struct ibv_recv_wr wr = {.wr_id = VB_WR_RECEIVE | index, .sg_list = sge, .num_sge = 1}, *bad;

	sge[0] = (struct ibv_sge){(uintptr_t)&ep->records[index], sizeof(struct vb_record), ep->records_mr->mr->lkey};
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		if (recv->iov[i].len != 0)
			sge[wr.num_sge++] =
				(struct ibv_sge){(uintptr_t)recv->iov[i].addr, (uint32_t)recv->iov[i].len, slot->mr->mr->lkey};
	}
	if (ibv_post_srq_recv(ep->srq, &wr, &bad) != 0)
		return false;
	slot->state = VB_SLOT_POSTED;
	slot->conn = NULL;
	order_push(ep, index);
	return true;
}

static void slot_free(struct vb_ep *ep, uint32_t index)
{
	struct vb_slot *slot = &ep->slots[index];

	sf_verbs_mr_put(slot->mr);
	slot->mr = NULL;
	slot->recv = NULL;
	slot->state = VB_SLOT_FREE;
	ring_push(&ep->free_slots, index);
}

doca_error_t sf_verbs_recv_post(struct vb_ep *ep, struct sf_recv *recv, struct vb_mr *mr, uint32_t len)
{
	if (ep->posted == ep->recv_max || ring_num(&ep->free_slots) == 0) {
		sf_verbs_mr_put(mr);
		return DOCA_ERROR_FULL;
	}
	uint32_t index = ring_pop(&ep->free_slots);

	ep->slots[index].recv = recv;
	ep->slots[index].mr = mr;
	ep->slots[index].len = len;
	if (!slot_post(ep, index)) {
		SF_LOG_ERR("the RDMA device accepts no more receives");
		slot_free(ep, index);
		return DOCA_ERROR_FULL;
	}
	ep->posted++;
	ep->views_stale = true;
	return DOCA_SUCCESS;
}

/* ---- the end of a receive ---- */

void sf_verbs_slot_give_back(struct vb_ep *ep, uint32_t index)
{
	struct sf_recv *recv = ep->slots[index].recv;

	sf_recv_abort(recv);
	slot_free(ep, index);
	recv->next = NULL;
	*ep->flushed_end = recv;
	ep->flushed_end = &recv->next;
}

/* Nothing was received into it: posts it again, or cancels it. */
static void slot_again(struct vb_ep *ep, uint32_t index)
{
	if (!ep->flushing && slot_post(ep, index)) {
		ep->views_stale = true;
		return;
	}
	sf_verbs_slot_give_back(ep, index);
	ep->flushing = true; /* which reports it */
}

static void slot_ready(struct vb_ep *ep, uint32_t index)
{
	ep->slots[index].state = VB_SLOT_READY;
	ring_push(&ep->arrived, index);
}

static void message_arrived(struct vb_ep *ep, struct vb_conn *conn, uint32_t index)
{
	const struct vb_record *record = &ep->records[index];
	struct vb_slot *slot = &ep->slots[index];
	struct sf_recv *recv = slot->recv;

	recv->place = ++conn->heard;
	slot->conn = conn;
	recv->status = DOCA_SUCCESS;
	recv->conn = &conn->base;
	recv->kind = record->kind == VB_RECORD_WRITE ? SF_OP_WRITE : SF_OP_SEND;
	recv->len = record->len;
	recv->header_len = record->header_len;
	memcpy(recv->header, record->header, record->header_len);
	slot_ready(ep, index);
	if (record->kind != VB_RECORD_PULL)
		return;
	slot->state = VB_SLOT_WAITS_PULL;
	slot->pull_addr = record->pull_addr;
	slot->pull_rkey = record->pull_rkey;
	slot->pull_len = record->len;
	slot->pulled = slot->pull_posted = slot->pull_out = 0;
}

static bool message_is_sound(const struct vb_ep *ep, uint32_t index, uint32_t bytes)
{
	const struct vb_record *record = &ep->records[index];

	if (bytes < sizeof(*record) || !sf_verbs_record_check(record, bytes - sizeof(*record)))
		return false;
	return record->len <= ep->slots[index].len;
}

void sf_verbs_recv_arrived(struct vb_ep *ep, struct vb_conn *conn, const struct ibv_wc *wc)
{
	uint32_t index = (uint32_t)(wc->wr_id & ~VB_WR_RECEIVE);
	struct vb_slot *slot = &ep->slots[index];

	if (slot->state != VB_SLOT_POSTED)
		return; /* given up before */
	order_take(ep, index);
	if (wc->qp_num == ep->self->qp_num) {
		if (ep->flushing && (int32_t)(slot->place - ep->flush_end) < 0)
			sf_verbs_slot_give_back(ep, index);
		else
			slot_again(ep, index);
		return;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		if (conn != NULL && wc->status != IBV_WC_WR_FLUSH_ERR) {
			SF_LOG_ERR_LIMITED("a message did not fit its receive, or was lost: %s",
					   sf_verbs_lib.wc_status_str(wc->status));
			sf_verbs_conn_suspect(conn);
		}
		slot_again(ep, index);
		return;
	}
	if (conn == NULL) { /* of a connection that is closed */
		sf_recv_abort(slot->recv);
		slot_ready(ep, index);
	} else if (message_is_sound(ep, index, wc->byte_len)) {
		message_arrived(ep, conn, index);
	} else {
		SF_LOG_ERR_LIMITED("a peer sent a malformed message of %u bytes: closed its connection", wc->byte_len);
		sf_verbs_conn_lose(conn, DOCA_ERROR_CONNECTION_ABORTED, 0);
		slot_again(ep, index);
	}
}

void sf_verbs_recvs_forget(struct vb_ep *ep, struct vb_conn *conn)
{
	sf_ep_queue_forget(&ep->queue, &conn->base);
	for (uint32_t i = ep->arrived.head; i != ep->arrived.tail; i++) {
		struct vb_slot *slot = &ep->slots[ep->arrived.at[i & ep->arrived.mask]];

		if (slot->conn != conn)
			continue;
		slot->conn = NULL;
		slot->state = VB_SLOT_READY;
		sf_recv_abort(slot->recv);
	}
}

/* ---- long messages ---- */

static void pull_end(struct vb_slot *slot, bool ok)
{
	slot->state = VB_SLOT_READY;
	if (ok)
		slot->conn->pulls_made++; /* the agent reports it to the peer */
	else
		sf_recv_abort(slot->recv);
	sf_control_wake();
}

/* One work request: as much of a receive's piece as it can hold. */
static bool pull_post(struct vb_ep *ep, uint32_t index)
{
	struct vb_slot *slot = &ep->slots[index];
	const struct sf_iov *piece = slot->recv->iov;
	uint64_t at = slot->pull_posted, len = slot->pull_len - at;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};

	while (at >= piece->len)
		at -= (piece++)->len;
	len = len < piece->len - at ? len : piece->len - at;
	len = len < vb_domain(ep->base.domain)->split ? len : vb_domain(ep->base.domain)->split;
	sge = (struct ibv_sge){(uintptr_t)piece->addr + at, (uint32_t)len, slot->mr->mr->lkey};
	wr.wr.rdma.remote_addr = slot->pull_addr + slot->pull_posted;
	wr.wr.rdma.rkey = slot->pull_rkey;
	if (!sf_verbs_conn_has_room(slot->conn, true) || !sf_verbs_conn_post(slot->conn, &wr, VB_SEND_PULL, index))
		return false;
	slot->pull_posted += len;
	slot->pull_out++;
	return true;
}

static void pull_step(struct vb_ep *ep, uint32_t index)
{
	struct vb_slot *slot = &ep->slots[index];

	slot->state = VB_SLOT_PULLING;
	while (slot->conn->life == VB_CONN_UP && slot->pull_out < PULLS_OUT && slot->pull_posted < slot->pull_len) {
		if (!pull_post(ep, index))
			break;
	}
	if (slot->pull_out != 0)
		return;
	if (slot->pull_posted == slot->pull_len)
		pull_end(slot, true);
	else if (slot->conn->life == VB_CONN_OVER)
		pull_end(slot, false);
}

void sf_verbs_recv_pulled(struct vb_ep *ep, uint32_t index, bool ok)
{
	struct vb_slot *slot = &ep->slots[index];

	if (slot->state != VB_SLOT_PULLING)
		return; /* its connection was closed meanwhile */
	slot->pull_out--;
	if (!ok)
		slot->pull_posted = 0; /* even if more arrives, the message is incomplete: the connection has failed */
}

/* ---- in order ---- */

void sf_verbs_recvs_step(struct vb_ep *ep)
{
	while (ring_num(&ep->arrived) != 0) {
		uint32_t index = ep->arrived.at[ep->arrived.head & ep->arrived.mask];
		struct vb_slot *slot = &ep->slots[index];

		if (slot->state == VB_SLOT_WAITS_PULL || slot->state == VB_SLOT_PULLING)
			pull_step(ep, index);
		if (slot->state != VB_SLOT_READY)
			break;
		(void)ring_pop(&ep->arrived);

		struct sf_recv *recv = slot->recv;

		slot_free(ep, index);
		sf_verbs_recv_due(ep, recv);
	}
}

/* ---- life ---- */

static doca_error_t open_memory(struct vb_ep *ep)
{
	uint32_t num = ep->recv_max != 0 ? ep->recv_max : 1;
	size_t size = ((size_t)num * sizeof(struct vb_record) + 4095) & ~(size_t)4095;

	ep->slots = calloc(num, sizeof(*ep->slots));
	ep->records = aligned_alloc(4096, size);
	if (ep->slots == NULL || ep->records == NULL || !ring_open(&ep->free_slots, num) || !ring_open(&ep->arrived, num) ||
	    !ring_open(&ep->order, 4 * num + 64))
		return DOCA_ERROR_NO_MEMORY;
	memset(ep->records, 0, size);
	ep->runs = calloc(ep->order.mask + 1, sizeof(*ep->runs));
	if (ep->runs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < ep->recv_max; i++)
		ring_push(&ep->free_slots, i);
	ep->records_mr = sf_verbs_mr_make(vb_domain(ep->base.domain), ep->records, size, IBV_ACCESS_LOCAL_WRITE);
	return ep->records_mr != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t sf_verbs_recvs_open(struct vb_ep *ep)
{
	struct vb_domain *domain = vb_domain(ep->base.domain);
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = ep->recv_max + 1, .max_sge = VB_RECV_IOV_MAX + 1}};
	doca_error_t error = open_memory(ep);
	uint32_t inline_max;

	if (error != DOCA_SUCCESS)
		return error;
	ep->srq = sf_verbs_lib.create_srq(domain->pd, &attr);
	if (ep->srq == NULL) {
		SF_LOG_ERR("RDMA device %s: cannot create a queue of %u shared receives: %s", domain->device->name, ep->recv_max,
			   strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	return sf_verbs_qp_create(domain, ep->cq, ep->srq, VB_SELF_DEPTH, &ep->self, &inline_max);
}

void sf_verbs_recvs_close(struct vb_ep *ep)
{
	if (ep->self != NULL)
		sf_verbs_lib.destroy_qp(ep->self);
	if (ep->srq != NULL)
		sf_verbs_lib.destroy_srq(ep->srq);
	sf_verbs_mr_put(ep->records_mr);
	for (uint32_t i = 0; ep->slots != NULL && i < ep->recv_max; i++)
		sf_verbs_mr_put(ep->slots[i].mr);
	free(ep->slots);
	free(ep->records);
	free(ep->runs);
	free(ep->free_slots.at);
	free(ep->order.at);
	free(ep->arrived.at);
}
