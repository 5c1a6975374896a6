/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of a session. Every number in a frame is untrusted and checked before use. Long data is received
 * in place; short data goes through `in`.
 */
#include "fabric/tcp/session.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "fabric/mapping.h"
#include "fabric/shm/pages.h"
#include "fabric/shm/region.h"
#include "fabric/tcp/request.h"

#define STRAIGHT_MIN 4096	     /* bytes that justify a call of their own */
#define TURN_MAX (UINT64_C(4) << 20) /* bytes read from one session before others have their turn */

/* ---- what the peer has done ---- */

static void op_pop(struct tcp_session *session, doca_error_t status)
{
	struct sf_op *op = session->first;

	session->first = op->next;
	if (session->first == NULL)
		session->end = &session->first;
	session->first_seq++;
	session->first_message += sf_op_takes_receive(op);
	session->read_at = 0;
	sf_op_set_status(op, status);
	session->ops->done(session, op);
}

/* The operations below this number were sent, and not rejected. */
static uint32_t sent_end(const struct tcp_session *session)
{
	return session->rewind ? session->rewind_seq : session->unsent_seq;
}

/* Returns true if the first operation was sent completely. */
static bool first_is_sent(const struct tcp_session *session)
{
	return session->first_seq != sent_end(session) && !(session->bulk.left != 0 && session->bulk.op == session->first);
}

static void frame_acknowledged(struct tcp_session *session, uint32_t ack)
{
	if (ack - session->first_seq > sent_end(session) - session->first_seq) {
		sf_tcp_session_break(session, "ack");
		return;
	}
	while (session->first_seq != ack) {
		if (!first_is_sent(session) || (session->first->kind != SF_OP_SEND && session->first->kind != SF_OP_WRITE)) {
			sf_tcp_session_break(session, "ack");
			return;
		}
		op_pop(session, DOCA_SUCCESS);
	}
}

static bool answers_first(const struct tcp_session *session)
{
	return first_is_sent(session) && session->reading.head.seq == session->first_seq;
}

static void data_begin(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;
	const struct sf_op *op = session->first;

	if (!answers_first(session) || op->kind == SF_OP_SEND || op->kind == SF_OP_WRITE ||
	    reading->left > sf_iov_len(op->iov, op->iov_num) - session->read_at) {
		sf_tcp_session_break(session, "data");
		return;
	}
	reading->place = TCP_PLACE_OP;
	reading->at = session->read_at;
}

static void data_end(struct tcp_session *session)
{
	session->read_at = session->reading.at;
	if (session->read_at == sf_iov_len(session->first->iov, session->first->iov_num))
		op_pop(session, DOCA_SUCCESS);
}

static void frame_rejected(struct tcp_session *session)
{
	const uint32_t seq = session->reading.head.seq;

	if (session->refused || session->rewind || seq - session->first_seq >= session->unsent_seq - session->first_seq) {
		sf_tcp_session_break(session, "refusal");
		return;
	}
	session->room.num = 0; /* until it reports others */
	session->rewind = true;
	session->rewind_seq = seq;
}

static void receives_update(struct tcp_session *session)
{
	if (session->reading.head.seq != session->asked)
		return; /* out of date */
	memcpy(&session->room, session->reading.fixed, sizeof(session->room));
	if (session->room.num > TCP_RUNS_MAX)
		sf_tcp_session_break(session, "receives");
}

/* ---- frames ---- */

static void frame_begin(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;

	frame_acknowledged(session, reading->head.ack);
	if (session->is_broken)
		return;
	if (tcp_is_request(reading->head.kind))
		sf_tcp_request_begin(session);
	else if (reading->head.kind == TCP_DATA)
		data_begin(session);
}

static void frame_end(struct tcp_session *session)
{
	const struct tcp_head *head = &session->reading.head;

	switch ((enum tcp_kind)head->kind) {
	case TCP_DATA:
		data_end(session);
		break;
	case TCP_FAIL:
		if (answers_first(session))
			op_pop(session, DOCA_ERROR_CONNECTION_ABORTED);
		else
			sf_tcp_session_break(session, "failure");
		break;
	case TCP_REFUSED:
		frame_rejected(session);
		break;
	case TCP_RESUME:
		if (!session->discards || head->seq != session->executed)
			sf_tcp_session_break(session, "resumption");
		session->discards = false;
		break;
	case TCP_RECEIVES:
		receives_update(session);
		break;
	case TCP_ACK:
		break;
	case TCP_RING:
		if (session->ops->rung != NULL)
			session->ops->rung(session);
		break;
	case TCP_ASK:
		session->asks++;
		session->credits_due = session->ops->receives != NULL;
		break;
	case TCP_BYE:
		sf_tcp_session_end(session, DOCA_ERROR_CONNECTION_RESET);
		break;
	default:
		sf_tcp_request_end(session);
		break;
	}
}

/* Where to store the next bytes of a frame, as pieces; 0: nowhere. Enters the region. */
static int place_pieces(struct tcp_session *session, struct iovec *pieces, uint64_t len)
{
	struct tcp_reading *reading = &session->reading;
	const struct tcp_target *target = (const struct tcp_target *)(const void *)reading->fixed;
	void *bytes;

	if (reading->place == TCP_PLACE_RECEIVE)
		return sf_tcp_iov_slice(reading->recv->iov, reading->recv->iov_num, reading->at, len, pieces, TCP_IOV_MAX);
	if (reading->place == TCP_PLACE_OP)
		return sf_tcp_iov_slice(session->first->iov, session->first->iov_num, reading->at, len, pieces, TCP_IOV_MAX);
	if (reading->place != TCP_PLACE_REGION)
		return 0;
	bytes = sf_shm_region_enter(target->region, target->addr + reading->at, len);
	if (bytes == NULL) { /* the region has ended meanwhile */
		reading->place = TCP_PLACE_NOWHERE;
		reading->is_failed = true;
		return 0;
	}
	pieces[0] = (struct iovec){.iov_base = bytes, .iov_len = len};
	return 1;
}

static void place_done(struct tcp_session *session, int num)
{
	const struct tcp_target *target = (const struct tcp_target *)(const void *)session->reading.fixed;

	if (num == 0 || session->reading.place != TCP_PLACE_REGION)
		return;
	sf_shm_region_leave(target->region);
	sf_tcp_session_changed(session, target->region);
}

/* Copies what is in `in`. */
static void place_copy(struct tcp_session *session, uint64_t len)
{
	struct tcp_reading *reading = &session->reading;
	const uint8_t *from = session->in + session->in_at;
	struct iovec pieces[TCP_IOV_MAX];
	int num = len != 0 ? place_pieces(session, pieces, len) : 0;

	sf_pages_hold();
	for (int i = 0; i < num; i++) {
		if (reading->place == TCP_PLACE_REGION)
			sf_bytes_write(pieces[i].iov_base, from, pieces[i].iov_len);
		else
			memcpy(pieces[i].iov_base, from, pieces[i].iov_len);
		from += pieces[i].iov_len;
	}
	sf_pages_release();
	place_done(session, num);
	session->in_at += (uint32_t)len;
	reading->at += len;
	assert(len <= reading->left);
	reading->left -= len;
}

/* Copies len bytes from `in`, if all of them are there. */
static bool bytes_pop(struct tcp_session *session, void *bytes, size_t len)
{
	if (session->in_len - session->in_at < len)
		return false;
	memcpy(bytes, session->in + session->in_at, len);
	session->in_at += (uint32_t)len;
	return true;
}

/* A heartbeat that was sent before the channel became a session. */
static bool is_control_message(const struct tcp_head *head)
{
	const struct sf_msg alive = sf_msg_head(SF_MSG_ALIVE, sizeof(alive), 0);

	_Static_assert(sizeof(alive) == sizeof(*head), "it is as long as a head");
	return memcmp(head, &alive, sizeof(alive)) == 0;
}

/* Parses the frame as far as its data has arrived. Returns whether it is complete. */
static bool frame_parse(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;
	uint32_t fixed;

	if (!reading->has_head) {
		do {
			if (!bytes_pop(session, &reading->head, sizeof(reading->head)))
				return false;
		} while (is_control_message(&reading->head));
		if (!sf_tcp_head_check(&reading->head)) {
			sf_tcp_session_break(session, "head");
			return false;
		}
		reading->has_head = true;
	}
	if (!reading->has_fixed) {
		fixed = tcp_fixed_len(&reading->head);
		if (!bytes_pop(session, reading->fixed, fixed))
			return false;
		reading->has_fixed = true;
		reading->left = reading->head.len - fixed;
	}
	if (!reading->has_begun) {
		frame_begin(session);
		reading->has_begun = !session->is_waiting;
	}
	if (session->is_broken || session->stream.fd < 0 || session->is_waiting)
		return false;
	if (reading->left != 0) {
		uint64_t there = session->in_len - session->in_at;

		place_copy(session, there < reading->left ? there : reading->left);
	}
	return reading->left == 0;
}

static void frames_parse(struct tcp_session *session)
{
	while (!session->is_broken && session->stream.fd >= 0 && session->changed_num < TCP_CHANGED_MAX && frame_parse(session)) {
		frame_end(session);
		session->reading = (struct tcp_reading){0};
	}
	if (session->in_at != 0 && session->in_at < session->in_len)
		memmove(session->in, session->in + session->in_at, session->in_len - session->in_at);
	session->in_len -= session->in_at;
	session->in_at = 0;
}

/* One call. Returns the received bytes; 0 at the end of the stream; -1: none now. */
static ssize_t receive_some(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;
	struct iovec pieces[TCP_IOV_MAX + 1];
	uint64_t straight = 0;
	int num = 0;
	ssize_t got;

	if (reading->has_fixed && reading->left >= STRAIGHT_MIN && session->in_len == 0)
		num = place_pieces(session, pieces, reading->left);
	for (int i = 0; i < num; i++)
		straight += pieces[i].iov_len;
	pieces[num] = (struct iovec){.iov_base = session->in + session->in_len, .iov_len = TCP_IN_SIZE - session->in_len};
	/* Reads the following bytes in the same call only if they follow directly. */
	const int behind = straight == (num != 0 ? reading->left : 0);

	if (num != 0) /* else only `in` is written, whose pages never move */
		sf_pages_hold();
	do
		got = sf_stream_receive(&session->stream, pieces, num + behind);
	while (got < 0 && errno == EINTR);
	if (num != 0)
		sf_pages_release();
	place_done(session, num);
	if (got <= 0)
		return got;
	if ((uint64_t)got < straight)
		straight = (uint64_t)got;
	reading->at += straight;
	assert(straight <= reading->left);
	reading->left -= straight;
	session->in_len += (uint32_t)((uint64_t)got - straight);
	return got;
}

bool sf_tcp_session_receive(struct tcp_session *session)
{
	const bool was_waiting = session->is_waiting;
	uint64_t all = session->in_len;

	session->is_waiting = false;
	if (session->in_len != 0 || session->reading.has_fixed) /* there were too many changes to continue, or no receive */
		frames_parse(session);
	while (session->stream.fd >= 0 && !session->is_broken && !session->is_waiting && all < TURN_MAX &&
	       session->changed_num < TCP_CHANGED_MAX) {
		ssize_t got = receive_some(session);

		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (got < 0 && errno == ECONNRESET && !session->was_reset) {
			session->was_reset = true; /* earlier data is read first */
			continue;
		}
		if (got > 0) {
			session->has_heard = true;
			session->num_moved++;
			all += (uint64_t)got;
			frames_parse(session);
		}
		if (got <= 0)
			sf_tcp_session_lost(session, got < 0 ? errno : session->was_reset ? ECONNRESET : 0);
		if (got > 0 && got < TCP_IN_SIZE && !sf_stream_pending(&session->stream))
			break;
	}
	if (session->is_broken)
		sf_tcp_session_end(session, DOCA_ERROR_CONNECTION_ABORTED);
	session->is_unread = !session->is_waiting && (sf_stream_pending(&session->stream) ||
						      (session->in_len != 0 && session->changed_num == TCP_CHANGED_MAX));
	return all != 0 || was_waiting || session->stream.fd < 0;
}
