/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/conn.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/shm/connect.h"
#include "fabric/iov.h"
#include "fabric/shm/trace.h"
#include "fabric/tcp/ep.h"

#define END_LIMIT_NS UINT64_C(1000000000) /* time for the peer of a disconnect to detect it */

/* A record, copied from shared memory once. */
struct record {
	enum shm_record_kind kind;
	uint32_t header_len, data_len, lines, slot, msg_len;
	uint64_t ticket;
	const uint8_t *bytes;
};

/* Every number in a record is untrusted and checked before use. */
static bool record_read(const struct shm_rx *rx, uint32_t mark, struct record *record)
{
	struct shm_record *shared = shm_rx_next(rx);

	record->kind = (enum shm_record_kind)(mark & 0xff);
	record->header_len = mark >> 8 & 0xff;
	record->lines = mark >> 16;
	record->data_len = atomic_load_explicit(&shared->data_len, memory_order_relaxed);
	record->slot = atomic_load_explicit(&shared->slot, memory_order_relaxed);
	record->msg_len = atomic_load_explicit(&shared->msg_len, memory_order_relaxed);
	record->ticket = atomic_load_explicit(&shared->ticket, memory_order_relaxed);
	record->bytes = shared->bytes;
	return record->kind <= SHM_RECORD_BYE && record->header_len <= SF_HEADER_MAX && record->data_len <= SHM_RECORD_DATA_MAX &&
	       record->lines >= shm_record_lines(record->header_len, record->data_len) && record->lines <= SHM_RECORD_LINES_MAX;
}

/* Fills and finishes a receive. */
static void recv_complete(struct shm_conn *conn, const struct record *record, struct shm_slot *slot)
{
	struct shm_recvq *queue = &shm_ep(conn->base.ep)->recvq;
	struct sf_recv *recv = shm_recvq_finish(queue, slot);

	shm_recvq_prefetch(queue); /* the receive will soon be posted again */

	if (record->kind == SHM_RECORD_SEND) {
		if (record->data_len != 0)
			sf_iov_scatter(recv->iov, recv->iov_num, record->msg_len - record->data_len,
				       record->bytes + record->header_len, record->data_len);
		recv->kind = SF_OP_SEND;
		recv->len = record->msg_len;
	} else {
		recv->kind = SF_OP_WRITE;
		recv->len = 0;
	}
	recv->status = DOCA_SUCCESS;
	recv->conn = &conn->base;
	recv->header_len = record->header_len;
	memcpy(recv->header, record->bytes, record->header_len);
	shm_rx_advance(&conn->rx, record->lines);
	shm_deliver(conn, recv, record->ticket, record->msg_len);
}

static void receive_again(struct shm_ep *ep, struct shm_slot *slot)
{
	bool again;

	if (ep->far != NULL)
		sf_tcp_ep_lock(ep->far);
	again = sf_shm_recvq_again(&ep->recvq, slot);
	if (ep->far != NULL)
		sf_tcp_ep_posted(ep->far);
	if (!again)
		sf_shm_ep_abort_recv(ep, shm_recvq_finish(&ep->recvq, slot));
}

/* Handles one record. Returns the callbacks run (0 or 1), or -1 if the record is invalid. */
static int handle_record(struct shm_conn *conn, uint32_t mark)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);
	struct record record;
	struct shm_slot *slot;

	if (!record_read(&conn->rx, mark, &record))
		return -1;
	if (record.kind == SHM_RECORD_BYE) {
		conn->bye = true;
		sf_shm_conn_attend(conn);
		conn->sending = false;
		return 0;
	}
	slot = shm_recvq_slot(&ep->recvq, record.slot, record.ticket);
	if (slot == NULL || (ep->has_rivals && !shm_recvq_claimed_by(&ep->recvq, slot, conn->id)))
		return -1;
	if (record.kind == SHM_RECORD_RELEASE || conn->released) {
		/* The program has closed the connection: its messages are dropped and use no receive. */
		if (record.kind != SHM_RECORD_PART)
			receive_again(ep, slot);
	} else if (record.kind == SHM_RECORD_PART) {
		if (!sf_range_inside(record.msg_len, record.data_len, 0, slot->len))
			return -1;
		sf_iov_scatter(slot->recv->iov, slot->recv->iov_num, record.msg_len, record.bytes + record.header_len,
			       record.data_len);
	} else {
		if (record.kind == SHM_RECORD_SEND && (record.msg_len > slot->len || record.data_len > record.msg_len))
			return -1;
		recv_complete(conn, &record, slot);
		return 1;
	}
	shm_rx_advance(&conn->rx, record.lines);
	return 0;
}

static uint32_t conn_receive(struct shm_conn *conn, uint32_t budget)
{
	uint32_t ran = 0, mark = 0;

	/* Records without a callback are bounded by the ring. */
	for (uint32_t i = 0; i < SHM_RING_LINES && ran < budget && !conn->bye && !conn->broken; i++) {
		mark = shm_rx_mark(&conn->rx);
		if (mark == 0)
			break;
		SHM_ORDER();

		int handled = handle_record(conn, mark);

		if (handled < 0) {
			SF_LOG_WARN_LIMITED("a peer wrote an invalid record: closed its connection");
			conn->broken = true;
			sf_shm_conn_attend(conn);
			break;
		}
		ran += (uint32_t)handled;
	}
	if (conn->rx.published != conn->rx.count && mark == 0)
		shm_rx_credit(&conn->rx);
	return ran;
}

bool sf_shm_conn_used(const struct shm_conn *conn)
{
	unsigned char there;

	if (conn->segment == NULL || conn->life == SHM_LIFE_OVER)
		return false;
	return conn->rx.count != 0 || mincore(conn->segment, SHM_PAGE, &there) != 0 || (there & 1) != 0;
}

void sf_shm_conn_each_unread(const struct shm_conn *conn, void (*unread)(struct shm_recvq *queue, uint32_t slot, uint64_t ticket))
{
	struct shm_rx rx = conn->rx;
	struct record record;
	uint32_t mark;

	if (conn->bye || conn->broken)
		return;
	while (rx.count - conn->rx.count < SHM_RING_LINES && (mark = shm_rx_mark(&rx)) != 0 && record_read(&rx, mark, &record) &&
	       record.kind != SHM_RECORD_BYE) {
		unread(&shm_ep(conn->base.ep)->recvq, record.slot, record.ticket);
		rx.count += record.lines;
		rx.pos = (rx.pos + record.lines) % SHM_RING_LINES;
	}
}

static void close_socket(struct shm_conn *conn)
{
	pthread_mutex_lock(&sf_control_lock);
	sf_handshake_end(&conn->handshake);
	pthread_mutex_unlock(&sf_control_lock);
}

uint32_t sf_shm_conn_end(struct shm_conn *conn, doca_error_t reason)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);
	bool report = conn->life == SHM_LIFE_READY;

	conn->life = SHM_LIFE_OVER;
	conn->attention = false;
	conn->sending = false;
	conn->base.state = SF_CONN_CLOSED;
	close_socket(conn);
	sf_shm_lends_conn_ended(conn);
	ep->suspect = true;
	if (!conn->bye)
		ep->recvq.damaged = true; /* it may have claimed a receive */
	if (conn->released)
		ep->reap = true;
	if (!report || ep->handler.closed == NULL)
		return 0;
	ep->handler.closed(&conn->base, reason);
	return 1;
}

/* Returns true if the connection has ended: the peer disconnected, or its socket is closed and everything it wrote was read. */
static bool conn_over(struct shm_conn *conn, uint64_t *now_ns)
{
	if (conn->bye || conn->broken || (conn->hangup && shm_rx_mark(&conn->rx) == 0))
		return true;
	if (conn->life != SHM_LIFE_ENDING || !conn->released)
		return false;
	if (*now_ns == 0)
		*now_ns = sf_now_ns();
	return *now_ns >= conn->end_deadline_ns;
}

uint32_t sf_shm_conn_poll(struct shm_conn *conn, uint32_t budget, uint64_t *now_ns)
{
	uint32_t ran = 0;

	if (conn->life != SHM_LIFE_READY && conn->life != SHM_LIFE_ENDING)
		return 0;
	ran += conn_receive(conn, budget);
	if (!conn->attention)
		return ran;
	if (conn->busy != SHM_BUSY_NOT)
		sf_shm_conn_progress(conn);
	if (conn_over(conn, now_ns)) {
		conn->sending = false;
		sf_shm_conn_abort_busy(conn);
		/* Operations complete before the end is reported. */
		if (conn->in_flight == 0 && ran < budget)
			ran += sf_shm_conn_end(conn, conn->bye ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_CONNECTION_ABORTED);
	} else if (conn->busy == SHM_BUSY_NOT && conn->life == SHM_LIFE_READY && !conn->hangup) {
		conn->attention = false;
	}
	return ran;
}

bool sf_shm_conn_due(const struct shm_conn *conn)
{
	if (conn->life != SHM_LIFE_READY && conn->life != SHM_LIFE_ENDING)
		return false;
	if (shm_rx_mark(&conn->rx) != 0)
		return true;
	/* A message sent in parts continues when the peer reads, which the peer does not report. */
	return conn->attention && (conn->bye || conn->hangup || conn->busy == SHM_BUSY_TRANSFER);
}

static void bye_send(struct shm_conn *conn)
{
	struct shm_head bye = {.kind = SHM_RECORD_BYE};

	shm_tx_publish(&conn->tx, &bye, NULL);
}

static void cancel_connecting(struct shm_conn *conn)
{
	bye_send(conn); /* for a peer that has just accepted */
	pthread_mutex_lock(&sf_control_lock);
	sf_handshake_end(&conn->handshake);
	conn->answer = DOCA_ERROR_CONNECTION_ABORTED;
	conn->data_len = 0;
	if (((conn->events | conn->todo) & SHM_EVENT_CONNECTED) == 0)
		sf_shm_conn_post(conn, SHM_EVENT_CONNECTED);
	pthread_mutex_unlock(&sf_control_lock);
	conn->base.state = SF_CONN_CLOSED;
	conn->life = SHM_LIFE_OVER;
}

static void conn_leave(struct shm_conn *conn)
{
	bye_send(conn);
	shm_ready_set(conn->peer_ep->segment, conn->peer_slot);
	atomic_store_explicit(&conn->rang, 0, memory_order_relaxed);
	sf_shm_conn_ring(&conn->base);
	pthread_mutex_lock(&sf_control_lock);
	if (conn->handshake.channel != NULL)
		shutdown(conn->handshake.channel->stream.fd,
			 SHUT_WR); /* the peer's agent detects it; we still detect the peer's end */
	pthread_mutex_unlock(&sf_control_lock);
}

void sf_shm_conn_disconnect(struct sf_conn *base)
{
	struct shm_conn *conn = shm_conn(base);

	if (conn->life == SHM_LIFE_CONNECTING && conn->sending) {
		conn->life = SHM_LIFE_READY; /* the peer has accepted and must receive what was sent */
		sf_shm_ep_meet(shm_ep(conn->base.ep), conn);
	}
	if (conn->life == SHM_LIFE_CONNECTING)
		cancel_connecting(conn);
	if (conn->life != SHM_LIFE_READY)
		return;
	sf_shm_conn_abort_busy(conn);
	conn->sending = false;
	conn->life = SHM_LIFE_ENDING;
	sf_shm_conn_attend(conn);
	conn->end_deadline_ns = sf_now_ns() + END_LIMIT_NS;
	base->state = SF_CONN_CLOSED;
	conn_leave(conn);
}

/* Receives with unreported messages of the connection end as if flushed. */
static void drop_unread(struct shm_conn *conn)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);
	struct record record;
	uint32_t mark;

	while (!conn->bye && (mark = shm_rx_mark(&conn->rx)) != 0 && record_read(&conn->rx, mark, &record)) {
		struct shm_slot *slot = shm_recvq_slot(&ep->recvq, record.slot, record.ticket);

		if (record.kind == SHM_RECORD_BYE) {
			conn->bye = true;
		} else if (slot == NULL) {
			break;
		} else if (record.kind == SHM_RECORD_RELEASE) {
			receive_again(ep, slot);
		} else if (record.kind != SHM_RECORD_PART) {
			sf_shm_ep_abort_recv(ep, shm_recvq_finish(&ep->recvq, slot));
		}
		shm_rx_advance(&conn->rx, record.lines);
	}
	shm_rx_credit(&conn->rx);
}

void sf_shm_conn_close(struct sf_conn *base)
{
	struct shm_conn *conn = shm_conn(base);
	struct shm_ep *ep = shm_ep(base->ep);

	sf_shm_conn_disconnect(base);
	if (conn->life == SHM_LIFE_ENDING)
		drop_unread(conn);
	conn->released = true;
	sf_shm_conn_attend(conn);
	ep->reap = true;
	if (ep->polling)
		return;
	/* Frees what is unused now; what the peer may still use is freed by the peer's end or at the deadline. */
	sf_shm_ep_reap(ep);
}

void sf_shm_conn_ring(struct sf_conn *base)
{
	struct shm_conn *conn = shm_conn(base);

	if (conn->peer_ep == NULL)
		return;
	SHM_FENCE(memory_order_seq_cst);
	shm_conn_wake(conn);
}
