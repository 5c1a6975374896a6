/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations: executed inside the submit, under the lock. */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <string.h>

#include "base/trace.h"
#include "fabric/atomic.h"
#include "fabric/iov.h"
#include "fabric/mapping.h"

/* Fills the peer's first receive and makes it due. */
static REQUIRES(loop_lock) void recv_complete(struct loop_conn *peer, const struct sf_op *op, uint64_t len)
{
	struct loop_ep *ep = (struct loop_ep *)peer->base.ep;
	struct sf_recv *recv = ep->posted;

	assert(recv != NULL && len <= recv->cookie);
	for (uint64_t i = 0, at = 0; at < len; at += op->iov[i++].len)
		sf_iov_scatter(recv->iov, recv->iov_num, at, op->iov[i].addr, op->iov[i].len);
	if (op->header_len != 0)
		memcpy(recv->header, op->header, op->header_len);
	recv->header_len = op->header_len;
	recv->len = (uint32_t)len;
	recv->kind = op->kind;
	recv->conn = &peer->base;
	recv->status = DOCA_SUCCESS;
	recv->place = ++ep->num_messages;
	SF_TRACE(send, SF_TRACE_SEND, op, sf_trace_flow((uintptr_t)ep, recv->place), (uint32_t)len, sf_op_name(op->kind));
	sf_loop_ep_recv_due(ep);
}

static REQUIRES(loop_lock) doca_error_t one_sided_run(const struct sf_region *base, const struct sf_op *op, uint64_t len)
{
	const struct loop_region *region = (const struct loop_region *)base;
	void *remote = (void *)(uintptr_t)op->remote_addr;

	if (base->imported && region->owner == NULL)
		return DOCA_ERROR_CONNECTION_ABORTED;
	if (op->kind == SF_OP_CAS || op->kind == SF_OP_FAA)
		sf_op_atomic_run(op, (uint64_t *)remote);
	else if (op->iov_num == 1 && op->kind == SF_OP_WRITE)
		sf_bytes_write(remote, op->iov[0].addr, len);
	else if (len == sizeof(uint64_t) && op->iov_num == 1)
		sf_word_read(op->iov[0].addr, remote);
	else if (op->kind == SF_OP_WRITE)
		sf_iov_gather(remote, op->iov, op->iov_num, 0, len);
	else
		sf_iov_scatter(op->iov, op->iov_num, 0, remote, len);
	return DOCA_SUCCESS;
}

static REQUIRES(loop_lock) doca_error_t op_submit(struct loop_conn *conn, struct sf_op *op, uint64_t len)
{
	bool takes_receive = sf_op_takes_receive(op);
	const struct loop_ep *peer_ep;

	/* The connection is usable when the peer has answered, not when our poll reports it. */
	if (conn->peer == NULL || conn->waits)
		return conn->base.state == SF_CONN_CONNECTING && !conn->opened.base.queued ? DOCA_ERROR_AGAIN
											   : DOCA_ERROR_NOT_CONNECTED;
	peer_ep = (const struct loop_ep *)conn->peer->base.ep;
	if (takes_receive && peer_ep->posted == NULL) {
		op->status = DOCA_ERROR_EMPTY;
		return DOCA_ERROR_AGAIN;
	}
	if (op->kind == SF_OP_SEND && len > peer_ep->posted->cookie)
		return DOCA_ERROR_TOO_BIG;

	op->conn = &conn->base;
	if (op->kind == SF_OP_SEND) {
		op->status = DOCA_SUCCESS;
		recv_complete(conn->peer, op, len);
	} else {
		op->status = one_sided_run(op->region, op, len);
		if (op->status == DOCA_SUCCESS && takes_receive)
			recv_complete(conn->peer, op, 0);
	}
	sf_ep_queue_op(&((struct loop_ep *)conn->base.ep)->queue, op);
	return DOCA_SUCCESS;
}

doca_error_t sf_loop_conn_submit(struct sf_conn *conn, struct sf_op *op)
{
	uint64_t len;
	doca_error_t result = sf_op_check(conn, op, &len);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&loop_lock);
	result = op_submit((struct loop_conn *)conn, op, len);
	pthread_mutex_unlock(&loop_lock);
	return result;
}

doca_error_t sf_loop_region_access(struct sf_region *region, struct sf_op *op)
{
	uint64_t len;
	doca_error_t result = sf_access_check(region, op, &len);

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&loop_lock);
	result = one_sided_run(region, op, len);
	pthread_mutex_unlock(&loop_lock);
	return result;
}
