/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of a connection: from the submit to their work requests, and their completions. */
#include "fabric/verbs/ops.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/verbs/conn.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/mr.h"
#include "fabric/verbs/region.h"

static struct vb_op *op_at(struct vb_conn *conn, uint32_t number)
{
	return &conn->ops[number % VB_CONN_OPS];
}

static bool is_atomic(const struct sf_op *op)
{
	return op->kind == SF_OP_CAS || op->kind == SF_OP_FAA;
}

/* ---- where the bytes are ---- */

static void op_release(struct vb_op *it)
{
	for (uint32_t i = 0; i < VB_PIECES_MAX; i++) {
		sf_verbs_mr_put(it->mrs[i]);
		it->mrs[i] = NULL;
	}
	free(it->stage.addr);
	it->stage.addr = NULL;
	if (it->writes) {
		atomic_fetch_sub(&it->import->writers, 1);
		sf_verbs_import_moved(it->import);
	}
	if (it->import != NULL)
		sf_verbs_import_leave(it->import);
	it->import = NULL;
	it->writes = false;
}

static void iov_gather(const struct sf_op *op, uint8_t *to)
{
	for (uint32_t i = 0; i < op->iov_num; i++) {
		if (op->iov[i].len != 0)
			memcpy(to, op->iov[i].addr, op->iov[i].len);
		to += op->iov[i].len;
	}
}

static void iov_scatter(const struct sf_op *op, const uint8_t *from)
{
	for (uint32_t i = 0; i < op->iov_num; i++) {
		if (op->iov[i].len != 0)
			memcpy(op->iov[i].addr, from, op->iov[i].len);
		from += op->iov[i].len;
	}
}

/* Replaces many pieces by one. */
static doca_error_t op_stage(struct vb_op *it)
{
	it->stage.len = it->len;
	it->stage.addr = malloc(it->len != 0 ? it->len : 1);
	if (it->stage.addr == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (it->op->kind != SF_OP_READ)
		iov_gather(it->op, it->stage.addr);
	it->iov = &it->stage;
	it->iov_num = 1;
	return DOCA_SUCCESS;
}

/* Memory that the device cannot register, such as a mapped file, is copied too. */
static doca_error_t prepare_staged(struct vb_conn *conn, struct vb_op *it)
{
	doca_error_t error;

	for (uint32_t i = 0; i < VB_PIECES_MAX; i++) {
		sf_verbs_mr_put(it->mrs[i]);
		it->mrs[i] = NULL;
	}
	error = op_stage(it);
	if (error != DOCA_SUCCESS)
		return error;
	it->mrs[0] = sf_verbs_mr_make(vb_domain(conn->base.ep->domain), it->stage.addr, it->len, IBV_ACCESS_LOCAL_WRITE);
	return it->mrs[0] != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

/* The receiver reads a long message, so the message must be in one piece with a registration of its own. */
static doca_error_t prepare_pull(struct vb_conn *conn, struct vb_op *it)
{
	doca_error_t error = it->iov_num != 1 ? op_stage(it) : DOCA_SUCCESS;

	if (error != DOCA_SUCCESS)
		return error;
	assert(it->iov_num == 1);
	it->pull = true;
	it->mrs[0] = sf_verbs_mr_make(vb_domain(conn->base.ep->domain), it->iov[0].addr, it->len, IBV_ACCESS_REMOTE_READ);
	return it->mrs[0] != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static bool fits_inline(const struct vb_conn *conn, const struct vb_op *it)
{
	size_t record = it->op->kind == SF_OP_SEND ? sizeof(struct vb_record) : 0;

	return (it->op->kind == SF_OP_SEND || it->op->kind == SF_OP_WRITE) && record + it->len <= conn->inline_max;
}

static doca_error_t op_prepare(struct vb_conn *conn, struct vb_op *it)
{
	struct vb_domain *domain = vb_domain(conn->base.ep->domain);
	const struct sf_op *op = it->op;

	if (op->kind == SF_OP_SEND && it->len + sizeof(struct vb_record) > domain->msg_max)
		return prepare_pull(conn, it);
	if (op->iov_num > VB_PIECES_MAX) {
		doca_error_t error = op_stage(it);

		if (error != DOCA_SUCCESS)
			return error;
	}
	it->bounced = is_atomic(op) || (op->kind == SF_OP_READ && it->len <= VB_BOUNCE_SIZE);
	if (it->bounced || fits_inline(conn, it))
		return DOCA_SUCCESS;
	assert(it->iov_num <= VB_PIECES_MAX);
	for (uint32_t i = 0; i < it->iov_num; i++) {
		const struct sf_iov *piece = &it->iov[i];

		if (piece->len == 0)
			continue;
		it->mrs[i] = sf_verbs_mr_find(domain, piece->addr, piece->len);
		if (it->mrs[i] == NULL)
			it->mrs[i] = sf_verbs_mr_make(domain, piece->addr, piece->len, IBV_ACCESS_LOCAL_WRITE);
		if (it->mrs[i] == NULL)
			return it->stage.addr == NULL ? prepare_staged(conn, it) : DOCA_ERROR_OPERATING_SYSTEM;
	}
	return DOCA_SUCCESS;
}

/* ---- work requests ---- */

/* The next bytes of the operation, at most `most`, as *num pieces. */
static uint64_t take_pieces(struct vb_op *it, uint64_t most, struct ibv_sge *sge, int *num)
{
	uint64_t taken = 0;

	while (taken < most && it->piece < it->iov_num) {
		const struct sf_iov *piece = &it->iov[it->piece];
		uint64_t len = piece->len - it->piece_at;

		len = len < most - taken ? len : most - taken;
		if (len != 0) {
			sge[*num] = (struct ibv_sge){(uintptr_t)piece->addr + it->piece_at, (uint32_t)len, 0};
			if (it->mrs[it->piece] != NULL) /* not if they are sent inline */
				sge[*num].lkey = it->mrs[it->piece]->mr->lkey;
			(*num)++;
		}
		taken += len;
		it->piece_at += len;
		if (it->piece_at == piece->len) {
			it->piece++;
			it->piece_at = 0;
		}
	}
	it->at += taken;
	return taken;
}

static bool op_post(struct vb_conn *conn, uint32_t number, struct ibv_send_wr *wr)
{
	struct vb_op *it = op_at(conn, number);

	if (!sf_verbs_conn_post(conn, wr, VB_SEND_OP, number)) {
		SF_LOG_ERR("the RDMA device accepts no work request");
		return false;
	}
	it->out++;
	return true;
}

static bool post_message(struct vb_conn *conn, uint32_t number)
{
	struct vb_op *it = op_at(conn, number);
	const struct sf_op *op = it->op;
	struct vb_record *record = &conn->block->records[number % VB_CONN_OPS];
	struct ibv_sge sge[VB_SGE_MAX];
	struct ibv_send_wr wr = {.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	uint64_t len = op->kind == SF_OP_SEND && !it->pull ? it->len : 0;

	memset(record, 0, sizeof(*record));
	record->kind = op->kind == SF_OP_WRITE ? VB_RECORD_WRITE : it->pull ? VB_RECORD_PULL : VB_RECORD_SEND;
	record->header_len = (uint8_t)op->header_len;
	record->len = op->kind == SF_OP_SEND ? (uint32_t)it->len : 0;
	if (op->header_len != 0)
		memcpy(record->header, op->header, op->header_len);
	if (it->pull) {
		record->pull_addr = (uintptr_t)it->mrs[0]->mr->addr;
		record->pull_rkey = it->mrs[0]->mr->rkey;
		it->pull_number = ++conn->pulls_sent;
	}
	sge[0] = (struct ibv_sge){(uintptr_t)record, sizeof(*record), conn->block_mr->mr->lkey};
	if (len != 0)
		(void)take_pieces(it, len, sge, &wr.num_sge);
	if (sizeof(*record) + len <= conn->inline_max)
		wr.send_flags = IBV_SEND_INLINE;
	it->posted = true;
	return op_post(conn, number, &wr);
}

static bool post_sided(struct vb_conn *conn, uint32_t number)
{
	struct vb_op *it = op_at(conn, number);
	const struct sf_op *op = it->op;
	uint64_t remote = op->remote_addr + it->at;
	struct ibv_sge sge[VB_SGE_MAX];
	struct ibv_send_wr wr = {.sg_list = sge};

	if (it->bounced) {
		sge[0] = (struct ibv_sge){(uintptr_t)conn->block->bounces[number % VB_CONN_OPS], (uint32_t)it->len,
					  conn->block_mr->mr->lkey};
		wr.num_sge = it->len != 0;
		it->at = it->len;
	} else {
		(void)take_pieces(it, vb_domain(conn->base.ep->domain)->split, sge, &wr.num_sge);
		wr.send_flags = fits_inline(conn, it) ? IBV_SEND_INLINE : 0;
	}
	wr.opcode = op->kind == SF_OP_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = it->import->rkey;
	if (is_atomic(op)) {
		wr.opcode = op->kind == SF_OP_CAS ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = it->import->rkey;
		wr.wr.atomic.compare_add = op->kind == SF_OP_CAS ? op->compare : op->value;
		wr.wr.atomic.swap = op->value;
	}
	if (it->at == it->len)
		it->posted = !sf_op_takes_receive(op);
	return op_post(conn, number, &wr);
}

static bool post_next(struct vb_conn *conn, uint32_t number)
{
	struct vb_op *it = op_at(conn, number);

	if (it->op->kind == SF_OP_SEND || (it->op->kind == SF_OP_WRITE && it->at == it->len && it->len != 0))
		return post_message(conn, number);
	if (it->len == 0 && sf_op_takes_receive(it->op))
		return post_message(conn, number);
	return post_sided(conn, number);
}

void sf_verbs_ops_pump(struct vb_conn *conn)
{
	while (conn->ops_posted != conn->ops_tail && sf_verbs_conn_has_room(conn, false)) {
		struct vb_op *it = op_at(conn, conn->ops_posted);

		if (!it->posted && !post_next(conn, conn->ops_posted)) {
			sf_verbs_conn_suspect(conn);
			return;
		}
		if (it->posted)
			conn->ops_posted++;
	}
}

/* ---- back ---- */

void sf_verbs_op_sent(struct vb_conn *conn, uint32_t number, bool ok)
{
	struct vb_op *it = op_at(conn, number);

	it->out--;
	if (!ok)
		it->status = DOCA_ERROR_CONNECTION_ABORTED;
}

void sf_verbs_ops_pulled(struct vb_conn *conn, uint32_t done)
{
	conn->pulls_done = done;
	sf_verbs_conn_touch(conn);
}

/* Copies bytes that were read into other memory to their destination. */
static void op_scatter(struct vb_conn *conn, uint32_t number)
{
	const struct vb_op *it = op_at(conn, number);

	if (it->bounced)
		iov_scatter(it->op, conn->block->bounces[number % VB_CONN_OPS]);
	else if (it->stage.addr != NULL && it->op->kind == SF_OP_READ)
		iov_scatter(it->op, it->stage.addr);
}

static bool is_done(const struct vb_conn *conn, const struct vb_op *it)
{
	if (!it->posted || it->out != 0)
		return false;
	return !it->pull || it->status != DOCA_SUCCESS || (int32_t)(conn->pulls_done - it->pull_number) >= 0 || conn->broken;
}

void sf_verbs_ops_reap(struct vb_conn *conn)
{
	while (conn->ops_head != conn->ops_tail && is_done(conn, op_at(conn, conn->ops_head))) {
		struct vb_op *it = op_at(conn, conn->ops_head);

		if (it->pull && (int32_t)(conn->pulls_done - it->pull_number) < 0)
			it->status = DOCA_ERROR_CONNECTION_ABORTED;
		it->op->status = it->status;
		if (it->status == DOCA_SUCCESS)
			op_scatter(conn, conn->ops_head);
		op_release(it);
		conn->ops_head++;
		conn->moved_at = sf_now_ns();
		sf_ep_queue_op(&vb_conn_ep(conn)->queue, it->op);
	}
}

/* ---- submit ---- */

static doca_error_t check_peer(struct vb_conn *conn, const struct sf_op *op, uint64_t len)
{
	int64_t room;

	if (!sf_op_takes_receive(op))
		return DOCA_SUCCESS;
	(void)sf_verbs_view_read(&conn->block->view, &conn->view);
	room = sf_verbs_view_room(&conn->view, conn->sent);
	if (room < 0)
		return DOCA_ERROR_AGAIN;
	return op->kind == SF_OP_SEND && len > (uint64_t)room ? DOCA_ERROR_TOO_BIG : DOCA_SUCCESS;
}

static doca_error_t check_region(struct vb_conn *conn, struct vb_op *it)
{
	struct vb_import *import = (struct vb_import *)it->op->region;
	doca_error_t error = sf_verbs_import_enter(import);

	if (error == DOCA_ERROR_CONNECTION_ABORTED) { /* accepted, and completes with that error */
		it->status = error;
		it->posted = true;
		return DOCA_SUCCESS;
	}
	if (error != DOCA_SUCCESS)
		return error;
	it->import = import;
	if (sf_key_equal(&import->owner, &conn->peer.domain))
		return DOCA_SUCCESS;
	SF_LOG_ERR("the region is of another device than the connection's peer: an RDMA device reaches only what its peer "
		   "registered");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_verbs_op_submit(struct vb_conn *conn, struct sf_op *op, uint64_t len)
{
	struct vb_op *it = op_at(conn, conn->ops_tail);
	doca_error_t error;

	if (conn->leaving || conn->life == VB_CONN_OVER)
		return DOCA_ERROR_NOT_CONNECTED;
	if (conn->life != VB_CONN_UP || conn->ops_tail - conn->ops_head == VB_CONN_OPS)
		return DOCA_ERROR_AGAIN;
	error = check_peer(conn, op, len);
	if (error == DOCA_ERROR_AGAIN)
		op->status = DOCA_ERROR_EMPTY;
	if (error != DOCA_SUCCESS)
		return error;
	memset(it, 0, sizeof(*it));
	it->op = op;
	it->iov = op->iov;
	it->iov_num = op->iov_num;
	it->len = len;
	it->status = DOCA_SUCCESS;
	if (op->kind != SF_OP_SEND)
		error = check_region(conn, it);
	if (error == DOCA_SUCCESS && !it->posted)
		error = op_prepare(conn, it);
	if (error != DOCA_SUCCESS) {
		op_release(it);
		return error;
	}
	op->conn = &conn->base;
	conn->sent += sf_op_takes_receive(op) && !it->posted;
	conn->ops_tail++;
	it->writes = it->import != NULL && op->kind != SF_OP_READ;
	if (it->writes)
		atomic_fetch_add(&it->import->writers, 1);
	sf_verbs_ops_pump(conn);
	if (it->writes)
		sf_verbs_import_moved(it->import);
	sf_verbs_conn_touch(conn);
	return DOCA_SUCCESS;
}
