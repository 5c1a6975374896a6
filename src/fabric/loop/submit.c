/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations: executed inside the submit, under the lock. */
#include "fabric/loop/loop.h"

#include <assert.h>
#include <string.h>

#include "base/trace.h"
#include "fabric/atomic.h"
#include "fabric/mapping.h"

/* Copies between two lists; the destination has room. */
static void iov_copy(const struct sf_iov *to, const struct sf_iov *from, uint64_t len)
{
	size_t to_at = 0, from_at = 0;

	while (len != 0) {
		size_t n = to->len - to_at < from->len - from_at ? to->len - to_at : from->len - from_at;

		n = n < len ? n : len;
		if (n != 0)
			memcpy((char *)to->addr + to_at, (const char *)from->addr + from_at, n);
		len -= n;
		to_at += n;
		from_at += n;
		if (to_at == to->len && len != 0) {
			to++;
			to_at = 0;
		}
		if (from_at == from->len && len != 0) {
			from++;
			from_at = 0;
		}
	}
}

/* Fills the peer's first receive and makes it due. */
static REQUIRES(loop_lock) void recv_complete(struct loop_conn *peer, const struct sf_op *op, uint64_t len)
{
	struct loop_ep *ep = (struct loop_ep *)peer->base.ep;
	struct sf_recv *recv = ep->posted;

	assert(recv != NULL && len <= recv->cookie);
	if (len != 0)
		iov_copy(recv->iov, op->iov, len);
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
	const struct sf_iov remote = {(void *)(uintptr_t)op->remote_addr, len};

	if (base->imported && region->owner == NULL)
		return DOCA_ERROR_CONNECTION_ABORTED;
	if (op->kind == SF_OP_CAS || op->kind == SF_OP_FAA)
		sf_op_atomic_run(op, (uint64_t *)(uintptr_t)op->remote_addr); // NOLINT: the address was checked
	else if (len == sizeof(uint64_t) && op->iov_num == 1 && op->kind == SF_OP_WRITE)
		sf_word_write(remote.addr, op->iov[0].addr);
	else if (len == sizeof(uint64_t) && op->iov_num == 1)
		sf_word_read(op->iov[0].addr, remote.addr);
	else if (len != 0 && op->kind == SF_OP_WRITE)
		iov_copy(&remote, op->iov, len);
	else if (len != 0)
		iov_copy(op->iov, &remote, len);
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
