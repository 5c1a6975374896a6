/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives of a port: posting, arrival, the fetching of long messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/conn.h"

#define PULLS_OUT 4 /* work requests of one long message at a time */

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

void sf_verbs_order_pop(struct vb_port *port)
{
	struct vb_run *first = &port->runs[port->runs_head & port->order.mask];

	(void)ring_pop(&port->order);
	if (--first->num != 0)
		return;
	port->runs_head++;
	port->runs_num--;
}

static void order_push(struct vb_port *port, uint32_t slot)
{
	uint32_t len = port->slots[slot].len;
	struct vb_run *last = &port->runs[(port->runs_head + port->runs_num - 1) & port->order.mask];

	if (ring_num(&port->order) > port->order.mask) /* one that was posted long ago is still held: forget its place */
		sf_verbs_order_pop(port);
	port->slots[slot].place = port->order.tail;
	ring_push(&port->order, slot + 1);
	if (port->runs_num != 0 && last->len == len) {
		last->num++;
		return;
	}
	port->runs[(port->runs_head + port->runs_num++) & port->order.mask] = (struct vb_run){1, len};
}

static void order_take(struct vb_port *port, uint32_t slot)
{
	uint32_t place = port->slots[slot].place;

	if (place - port->order.head < ring_num(&port->order))
		port->order.at[place & port->order.mask] = 0;
	while (ring_num(&port->order) != 0 && port->order.at[port->order.head & port->order.mask] == 0)
		sf_verbs_order_pop(port);
	if (port->conns_num > 1 || port->runs_num > VB_RUNS_MAX)
		port->views_stale = true; /* what other senders know is too much, or what this one knows too little */
}

uint32_t sf_verbs_recvs_view(const struct vb_port *port, struct vb_view *view)
{
	uint32_t num = port->runs_num < VB_RUNS_MAX ? port->runs_num : VB_RUNS_MAX;

	for (uint32_t i = 0; i < num; i++) {
		const struct vb_run *run = &port->runs[(port->runs_head + i) & port->order.mask];

		view->runs[i].num = run->num;
		view->runs[i].len = run->len;
	}
	return num;
}

/* ---- posting ---- */

/* Hands a slot to the device. */
static bool slot_post(struct vb_port *port, uint32_t index)
{
	struct vb_slot *slot = &port->slots[index];
	const struct sf_recv *recv = slot->recv;
	struct ibv_sge sge[VB_RECV_IOV_MAX + 1];
	struct ibv_recv_wr wr = {.wr_id = VB_WR_RECEIVE | index, .sg_list = sge, .num_sge = 1}, *bad;

	sge[0] = (struct ibv_sge){(uintptr_t)&port->records[index], sizeof(struct vb_record), port->records_mr->mr->lkey};
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		if (recv->iov[i].len != 0)
			sge[wr.num_sge++] =
				(struct ibv_sge){(uintptr_t)recv->iov[i].addr, (uint32_t)recv->iov[i].len, slot->mr->mr->lkey};
	}
	if (ibv_post_srq_recv(port->srq, &wr, &bad) != 0)
		return false;
	slot->state = VB_SLOT_POSTED;
	slot->conn = NULL;
	order_push(port, index);
	return true;
}

static void slot_free(struct vb_port *port, uint32_t index)
{
	struct vb_slot *slot = &port->slots[index];

	sf_verbs_mr_put(slot->mr);
	slot->mr = NULL;
	slot->recv = NULL;
	slot->state = VB_SLOT_FREE;
	ring_push(&port->free_slots, index);
}

static void views_changed(struct vb_port *port)
{
	port->views_stale = true;
	if (!port->polling)
		sf_verbs_port_settle(port);
}

doca_error_t sf_verbs_port_post_recv(struct sf_port *base, struct sf_recv *recv)
{
	struct vb_port *port = vb_port(base);
	struct vb_mr *mr = NULL;
	uint64_t len;
	doca_error_t error = sf_recv_check(base, recv, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (!vb_port_is_ours(port))
		return DOCA_ERROR_FULL;
	if (recv->iov_num != 0) {
		mr = sf_verbs_region_mr((struct vb_region *)recv->region);
		if (mr == NULL)
			return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_mutex_lock(&port->lock);
	if (port->posted == port->recv_max || ring_num(&port->free_slots) == 0) {
		error = DOCA_ERROR_FULL;
		sf_verbs_mr_put(mr);
	} else {
		uint32_t index = ring_pop(&port->free_slots);

		port->slots[index].recv = recv;
		port->slots[index].mr = mr;
		port->slots[index].len = (uint32_t)len;
		if (slot_post(port, index)) {
			port->posted++;
			views_changed(port);
		} else {
			SF_LOG_ERR("the RDMA device takes no further receive");
			slot_free(port, index);
			error = DOCA_ERROR_FULL;
		}
	}
	pthread_mutex_unlock(&port->lock);
	return error;
}

/* ---- the end of a receive ---- */

void sf_verbs_slot_give_back(struct vb_port *port, uint32_t index)
{
	struct sf_recv *recv = port->slots[index].recv;

	sf_recv_abort(recv);
	slot_free(port, index);
	recv->next = NULL;
	*port->flushed_end = recv;
	port->flushed_end = &recv->next;
}

/* Nothing came into it after all: posted again, or taken back. */
static void slot_again(struct vb_port *port, uint32_t index)
{
	if (!port->flushing && slot_post(port, index)) {
		port->views_stale = true;
		return;
	}
	sf_verbs_slot_give_back(port, index);
	port->flushing = true; /* which reports it */
}

static void slot_ready(struct vb_port *port, uint32_t index)
{
	port->slots[index].state = VB_SLOT_READY;
	ring_push(&port->arrived, index);
}

static void message_arrived(struct vb_port *port, struct vb_conn *conn, uint32_t index)
{
	const struct vb_record *record = &port->records[index];
	struct vb_slot *slot = &port->slots[index];
	struct sf_recv *recv = slot->recv;

	conn->heard++;
	slot->conn = conn;
	recv->status = DOCA_SUCCESS;
	recv->conn = &conn->base;
	recv->kind = record->kind == VB_RECORD_WRITE ? SF_OP_WRITE : SF_OP_SEND;
	recv->len = record->len;
	recv->header_len = record->header_len;
	memcpy(recv->header, record->header, record->header_len);
	slot_ready(port, index);
	if (record->kind != VB_RECORD_PULL)
		return;
	slot->state = VB_SLOT_WAITS_PULL;
	slot->pull_addr = record->pull_addr;
	slot->pull_rkey = record->pull_rkey;
	slot->pull_len = record->len;
	slot->pulled = slot->pull_posted = slot->pull_out = 0;
}

static bool message_is_sound(const struct vb_port *port, uint32_t index, uint32_t bytes)
{
	const struct vb_record *record = &port->records[index];

	if (bytes < sizeof(*record) || !sf_verbs_record_check(record, bytes - sizeof(*record)))
		return false;
	return record->len <= port->slots[index].len;
}

void sf_verbs_recv_arrived(struct vb_port *port, struct vb_conn *conn, const struct ibv_wc *wc)
{
	uint32_t index = (uint32_t)(wc->wr_id & ~VB_WR_RECEIVE);
	struct vb_slot *slot = &port->slots[index];

	if (slot->state != VB_SLOT_POSTED)
		return; /* given up before */
	order_take(port, index);
	if (wc->qp_num == port->self->qp_num) {
		if (port->flushing && (int32_t)(slot->place - port->flush_end) < 0)
			sf_verbs_slot_give_back(port, index);
		else
			slot_again(port, index);
		return;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		if (conn != NULL && wc->status != IBV_WC_WR_FLUSH_ERR) {
			SF_LOG_ERR_LIMITED("a message did not fit its receive, or broke on the way: %s",
					   sf_verbs_lib.wc_status_str(wc->status));
			sf_verbs_conn_suspect(conn);
		}
		slot_again(port, index);
		return;
	}
	if (conn == NULL) { /* of a connection that is closed */
		sf_recv_abort(slot->recv);
		slot_ready(port, index);
	} else if (message_is_sound(port, index, wc->byte_len)) {
		message_arrived(port, conn, index);
	} else {
		SF_LOG_ERR_LIMITED("a peer's message of %u bytes is malformed; its connection is closed", wc->byte_len);
		sf_verbs_conn_lose(conn, DOCA_ERROR_CONNECTION_ABORTED, 0);
		slot_again(port, index);
	}
}

void sf_verbs_recvs_forget(struct vb_port *port, struct vb_conn *conn)
{
	sf_port_queue_forget(&port->queue, &conn->base);
	for (uint32_t i = port->arrived.head; i != port->arrived.tail; i++) {
		struct vb_slot *slot = &port->slots[port->arrived.at[i & port->arrived.mask]];

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
		slot->conn->pulls_made++; /* the agent tells the peer */
	else
		sf_recv_abort(slot->recv);
	sf_control_wake();
}

/* One work request: as much of a piece of the receive as one takes. */
static bool pull_post(struct vb_port *port, uint32_t index)
{
	struct vb_slot *slot = &port->slots[index];
	const struct sf_iov *piece = slot->recv->iov;
	uint64_t at = slot->pull_posted, len = slot->pull_len - at;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};

	while (at >= piece->len)
		at -= (piece++)->len;
	len = len < piece->len - at ? len : piece->len - at;
	len = len < vb_domain(port->base.domain)->split ? len : vb_domain(port->base.domain)->split;
	sge = (struct ibv_sge){(uintptr_t)piece->addr + at, (uint32_t)len, slot->mr->mr->lkey};
	wr.wr.rdma.remote_addr = slot->pull_addr + slot->pull_posted;
	wr.wr.rdma.rkey = slot->pull_rkey;
	if (!sf_verbs_conn_has_room(slot->conn, true) || !sf_verbs_conn_post(slot->conn, &wr, VB_SEND_PULL, index))
		return false;
	slot->pull_posted += len;
	slot->pull_out++;
	return true;
}

static void pull_step(struct vb_port *port, uint32_t index)
{
	struct vb_slot *slot = &port->slots[index];

	slot->state = VB_SLOT_PULLING;
	while (slot->conn->life == VB_CONN_UP && slot->pull_out < PULLS_OUT && slot->pull_posted < slot->pull_len) {
		if (!pull_post(port, index))
			break;
	}
	if (slot->pull_out != 0)
		return;
	if (slot->pull_posted == slot->pull_len)
		pull_end(slot, true);
	else if (slot->conn->life == VB_CONN_OVER)
		pull_end(slot, false);
}

void sf_verbs_recv_pulled(struct vb_port *port, uint32_t index, bool ok)
{
	struct vb_slot *slot = &port->slots[index];

	if (slot->state != VB_SLOT_PULLING)
		return; /* its connection was closed meanwhile */
	slot->pull_out--;
	if (!ok)
		slot->pull_posted = 0; /* whatever else came: it is not whole; the connection has broken */
}

/* ---- in order ---- */

void sf_verbs_recvs_step(struct vb_port *port)
{
	while (ring_num(&port->arrived) != 0) {
		uint32_t index = port->arrived.at[port->arrived.head & port->arrived.mask];
		struct vb_slot *slot = &port->slots[index];

		if (slot->state == VB_SLOT_WAITS_PULL || slot->state == VB_SLOT_PULLING)
			pull_step(port, index);
		if (slot->state != VB_SLOT_READY)
			break;
		(void)ring_pop(&port->arrived);

		struct sf_recv *recv = slot->recv;

		slot_free(port, index);
		sf_verbs_port_recv_due(port, recv);
	}
	if (port->flushing)
		sf_verbs_flush_step(port);
}

/* ---- life ---- */

static doca_error_t open_memory(struct vb_port *port)
{
	uint32_t num = port->recv_max != 0 ? port->recv_max : 1;
	size_t size = ((size_t)num * sizeof(struct vb_record) + 4095) & ~(size_t)4095;

	port->slots = calloc(num, sizeof(*port->slots));
	port->records = aligned_alloc(4096, size);
	if (port->slots == NULL || port->records == NULL || !ring_open(&port->free_slots, num) ||
	    !ring_open(&port->arrived, num) || !ring_open(&port->order, 4 * num + 64))
		return DOCA_ERROR_NO_MEMORY;
	memset(port->records, 0, size);
	port->runs = calloc(port->order.mask + 1, sizeof(*port->runs));
	if (port->runs == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < port->recv_max; i++)
		ring_push(&port->free_slots, i);
	port->records_mr = sf_verbs_mr_make(vb_domain(port->base.domain), port->records, size, IBV_ACCESS_LOCAL_WRITE);
	return port->records_mr != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t sf_verbs_recvs_open(struct vb_port *port)
{
	struct vb_domain *domain = vb_domain(port->base.domain);
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = port->recv_max + 1, .max_sge = VB_RECV_IOV_MAX + 1}};
	doca_error_t error = open_memory(port);
	uint32_t inline_max;

	if (error != DOCA_SUCCESS)
		return error;
	port->srq = sf_verbs_lib.create_srq(domain->pd, &attr);
	if (port->srq == NULL) {
		SF_LOG_ERR("RDMA device %s gives no queue of %u shared receives: %s", domain->device->name, port->recv_max,
			   strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	error = sf_verbs_qp_create(domain, port->cq, port->srq, VB_SELF_DEPTH, &port->self, &inline_max);
	return error == DOCA_SUCCESS ? sf_verbs_self_join(port) : error;
}

void sf_verbs_recvs_close(struct vb_port *port)
{
	if (port->self != NULL)
		sf_verbs_lib.destroy_qp(port->self);
	if (port->srq != NULL)
		sf_verbs_lib.destroy_srq(port->srq);
	sf_verbs_mr_put(port->records_mr);
	for (uint32_t i = 0; port->slots != NULL && i < port->recv_max; i++)
		sf_verbs_mr_put(port->slots[i].mr);
	free(port->slots);
	free(port->records);
	free(port->runs);
	free(port->free_slots.at);
	free(port->order.at);
	free(port->arrived.at);
}
