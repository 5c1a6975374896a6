/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are longer than a record:
 *
 *   mapped memory    the sender copies straight into the peer's buffer, then writes the record
 *   other memory     a system call (peer_memory.h) for long stretches where that is allowed; else in parts through the ring,
 *                    which the peer's poll puts in place; a message larger than the ring's room continues in our poll and submit
 */
#include <string.h>
#include <sys/uio.h>

#include "base/log.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/peer_memory.h"
#include "fabric/shm/submit.h"
#include "fabric/shm/trace.h"

#define PART_MAX 2048			 /* data bytes of one part, so that sender and reader work at the same time */
#define CALL_MIN 8192			 /* shorter stretches are faster in parts than by system call */
#define CALL_IOV_MAX 16			 /* local pieces of one system call */
#define CALL_LEN_MAX (UINT64_C(1) << 30) /* its bytes: the kernel moves a page less than 2 GiB at most */

/* The process at the other end, as an owner of memory; NULL if its agent does not answer. */
static struct shm_peer *conn_peer(struct shm_conn *conn)
{
	if (conn->peer != NULL || conn->peer_unknown)
		return conn->peer;
	pthread_mutex_lock(&sf_control_lock);
	if (sf_shm_peer_get(&conn->peer_id, &conn->peer) != DOCA_SUCCESS)
		conn->peer_unknown = true;
	pthread_mutex_unlock(&sf_control_lock);
	return conn->peer;
}

/* Requests a region that the connection has not used yet; it may be ready immediately or later. */
static struct shm_attach *lend_new(struct shm_conn *conn, uint64_t region)
{
	struct shm_peer *peer = conn_peer(conn);
	struct shm_attach *attach;
	doca_error_t error;
	uint32_t at;

	if (peer == NULL)
		return NULL;
	pthread_mutex_lock(&sf_control_lock);
	error = sf_shm_attach_get(peer, region, &conn->peer_key, true, &attach);
	if (error == DOCA_SUCCESS) {
		if (conn->lent_num < SHM_LENT_MAX) {
			at = conn->lent_num++;
		} else { /* the table is full: the place after the last used one */
			at = (conn->lent_last + 1) % SHM_LENT_MAX;
			sf_shm_attach_put(conn->lent[at]);
		}
		conn->lent[at] = attach;
		conn->lent_last = at;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error == DOCA_SUCCESS ? attach : NULL;
}

/* The local address of the claimed receive's memory; NULL if it is not mapped (yet). */
static struct shm_attach *memory_lend(struct shm_conn *conn, uint64_t region)
{
	struct shm_attach *attach = NULL;

	if (region == 0)
		return NULL;
	if (conn->lent_last < conn->lent_num && conn->lent[conn->lent_last]->region == region) {
		attach = conn->lent[conn->lent_last];
	} else {
		for (uint32_t i = 0; i < conn->lent_num && attach == NULL; i++) {
			if (conn->lent[i]->region != region)
				continue;
			attach = conn->lent[i];
			conn->lent_last = i;
		}
		if (attach == NULL)
			attach = lend_new(conn, region);
	}
	return attach != NULL && shm_attach_ready(attach) ? attach : NULL;
}

/* Begins the whole message again: through the mapping, or without one if attach is NULL. */
static void transfer_begin(struct shm_transfer *t, struct shm_attach *attach)
{
	t->at = t->piece_at = t->iov_at = 0;
	t->piece = t->iov = 0;
	t->attach = attach;
	t->by_call = false;
}

void sf_shm_conn_forget(struct shm_conn *conn)
{
	uint32_t kept = 0;

	if (conn->busy == SHM_BUSY_TRANSFER && conn->transfer.attach != NULL)
		transfer_begin(&conn->transfer, NULL);
	pthread_mutex_lock(&sf_control_lock);
	for (uint32_t i = 0; i < conn->lent_num; i++) {
		struct shm_attach *attach = conn->lent[i];

		if (attach->peer->generations != NULL &&
		    attach->peer->generations[attach->region % SHM_REGIONS_MAX] == attach->region)
			conn->lent[kept++] = attach;
		else
			sf_shm_attach_put(attach);
	}
	conn->lent_num = kept;
	pthread_mutex_unlock(&sf_control_lock);
}

/* Our next len bytes as pieces for a system call or a copy. Advances by the bytes that the pieces hold, and returns them. */
static uint64_t take_local(struct shm_transfer *t, uint64_t len, struct iovec *iov, int room, int *num)
{
	uint64_t taken = 0;

	*num = 0;
	while (taken < len && *num < room && t->iov < t->op->iov_num) {
		const struct sf_iov *piece = &t->op->iov[t->iov];
		uint64_t part = piece->len - t->iov_at < len - taken ? piece->len - t->iov_at : len - taken;

		if (part != 0)
			iov[(*num)++] = (struct iovec){.iov_base = (uint8_t *)piece->addr + t->iov_at, .iov_len = part};
		taken += part;
		t->iov_at += part;
		if (t->iov_at == piece->len) {
			t->iov++;
			t->iov_at = 0;
		}
	}
	return taken;
}

/* Copies from our pieces to memory that is mapped here, or into a record. */
static void copy_local(struct shm_transfer *t, uint8_t *to, uint64_t len)
{
	struct iovec iov;
	int num;

	while (len != 0) {
		uint64_t part = take_local(t, len, &iov, 1, &num);

		if (num == 0)
			return;
		memmove(to, iov.iov_base, part);
		to += part;
		len -= part;
	}
}

/* Writes by system call. Returns the bytes written; 0 if that is not permitted, or the owner is moving the first page. */
static uint64_t write_by_call(struct shm_conn *conn, struct shm_transfer *t, uint64_t addr, uint64_t len)
{
	struct shm_peer *peer = conn_peer(conn);
	struct shm_transfer before = *t;
	struct iovec local[CALL_IOV_MAX];
	uint64_t taken, done;
	int num;

	if (peer == NULL)
		return 0;
	done = taken = take_local(t, len < CALL_LEN_MAX ? len : CALL_LEN_MAX, local, CALL_IOV_MAX, &num);
	if (sf_shm_peer_memory_copy(peer, local, num, addr, &done, true) != SHM_MEMORY_DONE)
		done = 0;
	t->by_call = t->by_call || done != 0;
	if (done == taken)
		return taken;
	before.by_call = t->by_call;
	*t = before;
	return done != 0 ? take_local(t, done, local, CALL_IOV_MAX, &num) : 0;
}

/* Sends up to len bytes through the ring. Returns how many, 0 when it has no room. */
static uint64_t write_part(struct shm_conn *conn, struct shm_transfer *t, uint64_t len)
{
	struct shm_record *record = shm_tx_next(&conn->tx);
	uint32_t part = len < PART_MAX ? (uint32_t)len : PART_MAX;
	struct shm_head head = {.kind = SHM_RECORD_PART,
				.data_len = part,
				.msg_len = (uint32_t)t->at,
				.slot = t->claim.slot,
				.ticket = t->claim.ticket};

	if (!shm_tx_room(&conn->tx, shm_head_lines(&head)))
		return 0;
	copy_local(t, record->bytes, part);
	sf_shm_conn_publish(conn, &head, NULL);
	return part;
}

/* One step: a stretch of the receive that is accessed in one way. Returns the bytes moved. */
static uint64_t transfer_step(struct shm_conn *conn, struct shm_transfer *t)
{
	uint64_t len = t->claim.piece[t->piece].len - t->piece_at, addr = t->claim.piece[t->piece].addr + t->piece_at, moved = 0;
	uint8_t *to = NULL;

	if (len > t->len - t->at)
		len = t->len - t->at;
	if (t->attach != NULL)
		to = shm_attach_at(t->attach, addr, &len);
	if (to != NULL) {
		copy_local(t, to, len);
		return len;
	}
	if (len >= CALL_MIN || t->by_call)
		moved = write_by_call(conn, t, addr, len);
	return moved != 0 ? moved : write_part(conn, t, len);
}

/* Returns whether the bytes that were copied into mapped pages are where the receiver reads them. The owner ends a lend before it
 * takes the pages away: if the lend still exists, they are. */
static bool transfer_stands(const struct shm_conn *conn, const struct shm_transfer *t)
{
	if (t->attach == NULL)
		return true;
	if (conn->fence)
		SHM_FENCE(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
	return shm_attach_valid(t->attach);
}

/* Continues the message. Returns whether it is sent. */
static bool transfer_run(struct shm_conn *conn)
{
	struct shm_transfer *t = &conn->transfer;
	struct shm_head head = {.kind = SHM_RECORD_SEND,
				.header_len = t->op->header_len,
				.msg_len = (uint32_t)t->len,
				.slot = t->claim.slot,
				.ticket = t->claim.ticket};

	while (t->at < t->len || !transfer_stands(conn, t)) {
		uint64_t moved = 0;

		if (t->at == t->len) { /* all of it again, in another way */
			transfer_begin(t, NULL);
			continue;
		}

		if (t->piece < t->claim.pieces && t->piece_at < t->claim.piece[t->piece].len)
			moved = transfer_step(conn, t);
		else if (t->piece + 1 < t->claim.pieces) {
			t->piece++;
			t->piece_at = 0;
			continue;
		}
		if (moved == 0)
			return false; /* no room, or the receive's pieces have fewer bytes than announced: then it waits until the
					 connection ends */
		t->at += moved;
		t->piece_at += moved;
	}
	if (!shm_tx_room(&conn->tx, shm_head_lines(&head)))
		return false;
	if (t->op->header_len != 0)
		memcpy(shm_tx_next(&conn->tx)->bytes, t->op->header, t->op->header_len);
	sf_shm_conn_publish(conn, &head, NULL);
	return true;
}

_Static_assert((SF_SMALL_MAX + SF_HEADER_MAX) / SHM_LINE + 2 * (SF_SMALL_MAX / PART_MAX + 2) < SHM_RING_LINES - SHM_CREDIT_LINES,
	       "a ring without unread records has room for a small message");

/* The lines of all its records, if it goes through the ring. */
static uint32_t all_lines(const struct sf_op *op, uint64_t len)
{
	return (uint32_t)(len / PART_MAX) * shm_record_lines(0, PART_MAX) + shm_record_lines(0, (uint32_t)(len % PART_MAX)) +
	       shm_record_lines(op->header_len, 0);
}

doca_error_t sf_shm_conn_send_long(struct shm_conn *conn, struct sf_op *op, uint64_t len)
{
	const bool is_whole = op->must_not_wait && len <= SF_SMALL_MAX;
	struct shm_transfer *t = &conn->transfer;
	doca_error_t error;

	/* At least the end of the message must find room now, or nothing is claimed. */
	if (!shm_tx_room(&conn->tx, is_whole ? all_lines(op, len) : shm_record_lines(op->header_len, 0)))
		return DOCA_ERROR_AGAIN;
	error = sf_shm_conn_claim_recv(conn, len, true, &t->claim);
	if (error != DOCA_SUCCESS)
		return sf_shm_unclaimed(op, error);
	shm_trace_send(conn, op, t->claim.ticket, len);
	t->op = op;
	t->len = len;
	transfer_begin(t, memory_lend(conn, t->claim.region));
	if (transfer_run(conn))
		sf_shm_accept_done(conn, op, DOCA_SUCCESS);
	else
		sf_shm_accept_busy(conn, op, SHM_BUSY_TRANSFER);
	return DOCA_SUCCESS;
}

void sf_shm_conn_progress(struct shm_conn *conn)
{
	if (conn->busy == SHM_BUSY_JOB) {
		sf_shm_conn_job_progress(conn);
	} else if (conn->busy == SHM_BUSY_TRANSFER && transfer_run(conn)) {
		conn->busy = SHM_BUSY_NOT;
		shm_conn_complete(conn, conn->transfer.op, DOCA_SUCCESS);
	}
}

void sf_shm_conn_abort_busy(struct shm_conn *conn)
{
	struct sf_op *op = conn->busy == SHM_BUSY_JOB ? conn->job.op : conn->transfer.op;

	if (conn->busy == SHM_BUSY_NOT)
		return;
	sf_shm_conn_progress(conn);
	if (conn->busy == SHM_BUSY_NOT)
		return;
	if (conn->busy == SHM_BUSY_JOB) {
		pthread_mutex_lock(&sf_control_lock);
		sf_shm_job_cancel(&conn->job);
		pthread_mutex_unlock(&sf_control_lock);
	}
	conn->busy = SHM_BUSY_NOT;
	shm_conn_complete(conn, op, DOCA_ERROR_CONNECTION_ABORTED);
}
