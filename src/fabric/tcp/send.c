/* SPDX-License-Identifier: BSD-3-Clause */
/* The sending half of a session: pending data is written into `out`, most urgent first, and sent with one call. */
#include "fabric/tcp/session.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/trace.h"
#include "fabric/shm/region.h"
#include "fabric/tcp/import.h"

#define CHUNK (UINT64_C(1) << 20) /* of an answer, in one frame: other frames may go in between */

static const uint8_t zeros[4096];

int sf_tcp_iov_slice(const struct sf_iov *iov, uint32_t num, uint64_t at, uint64_t len, struct iovec *pieces, int most)
{
	int got = 0;

	for (uint32_t i = 0; i < num && len != 0 && got < most; i++) {
		uint64_t part;

		if (at >= iov[i].len) {
			at -= iov[i].len;
			continue;
		}
		part = iov[i].len - at < len ? iov[i].len - at : len;
		pieces[got++] = (struct iovec){.iov_base = (uint8_t *)iov[i].addr + at, .iov_len = part};
		len -= part;
		at = 0;
	}
	return got;
}

/* ---- frames ---- */

static bool has_room(const struct tcp_session *session, size_t len)
{
	return session->out_len + len <= TCP_OUT_SIZE;
}

static void bytes_put(struct tcp_session *session, const void *bytes, size_t len)
{
	memcpy(session->out + session->out_len, bytes, len);
	session->out_len += (uint32_t)len;
}

/* Acknowledges executed requests, and those with an answer once it is sent. */
static uint32_t ack_put(const struct tcp_session *session)
{
	return session->answer_num != 0 ? session->answers[session->answer_first].seq : session->executed;
}

static void put_head(struct tcp_session *session, enum tcp_kind kind, uint32_t header_len, uint32_t seq, uint64_t len)
{
	const struct tcp_head head = {.kind = (uint8_t)kind,
				      .header_len = (uint8_t)header_len,
				      .seq = seq,
				      .ack = ack_put(session),
				      .len = (uint32_t)len};

	session->acked = head.ack;
	bytes_put(session, &head, sizeof(head));
}

/* ---- answers ---- */

static void answer_pop(struct tcp_session *session)
{
	session->answer_first = (session->answer_first + 1) % TCP_OPS_MAX;
	assert(session->answer_num > 0);
	session->answer_num--;
}

/* Data that is copied into `out`. */
static void put_short(struct tcp_session *session, struct tcp_answer *answer)
{
	const void *bytes = &answer->word;

	if (!answer->is_word)
		bytes = sf_shm_region_enter(answer->region, answer->addr, answer->left);
	if (bytes == NULL) {
		put_head(session, TCP_FAIL, 0, answer->seq, 0);
	} else {
		put_head(session, TCP_DATA, 0, answer->seq, answer->left);
		bytes_put(session, bytes, answer->left);
	}
	if (bytes != NULL && !answer->is_word)
		sf_shm_region_leave(answer->region);
	answer_pop(session);
}

static void put_answers(struct tcp_session *session)
{
	while (session->answer_num != 0 && session->bulk.left == 0) {
		struct tcp_answer *answer = &session->answers[session->answer_first];

		if (!has_room(session, sizeof(struct tcp_head) + (answer->left <= TCP_SMALL ? answer->left : 0)))
			return;
		if (answer->kind == TCP_FAIL) {
			put_head(session, TCP_FAIL, 0, answer->seq, 0);
			answer_pop(session);
		} else if (answer->left <= TCP_SMALL) {
			put_short(session, answer);
		} else {
			session->bulk = (struct tcp_bulk){.is_answer = true, .left = answer->left < CHUNK ? answer->left : CHUNK};
			put_head(session, TCP_DATA, 0, answer->seq, session->bulk.left);
		}
	}
}

/* ---- requests ---- */

static struct tcp_target target_of(const struct sf_op *op)
{
	struct tcp_target target = {.addr = op->remote_addr};

	sf_tcp_import_target(op->region, &target);
	return target;
}

static void put_fixed(struct tcp_session *session, const struct sf_op *op, uint64_t len)
{
	if (op->kind == SF_OP_WRITE) {
		const struct tcp_target target = target_of(op);

		bytes_put(session, &target, sizeof(target));
	} else if (op->kind == SF_OP_READ) {
		const struct tcp_read read = {.target = target_of(op), .len = len};

		bytes_put(session, &read, sizeof(read));
	} else if (op->kind != SF_OP_SEND) {
		const struct tcp_atomic atomic = {.target = target_of(op), .compare = op->compare, .value = op->value};

		bytes_put(session, &atomic, sizeof(atomic));
	}
	if (op->header_len != 0)
		bytes_put(session, op->header, op->header_len);
}

static __attribute__((cold)) void sent_trace(const struct tcp_session *session, const struct sf_op *op, uint64_t len)
{
	uint64_t flow = sf_op_takes_receive(op) ? sf_trace_flow(session->flows_out, session->unsent_message) : 0;

	sf_trace_record(SF_TRACE_SEND, op, flow, len < UINT32_MAX ? (uint32_t)len : UINT32_MAX, sf_op_name(op->kind));
}

/* Returns false if there is no room for it now. */
static bool put_request(struct tcp_session *session, struct sf_op *op)
{
	const struct tcp_head head = {.kind = (uint8_t)op->kind, .header_len = (uint8_t)op->header_len};
	const uint64_t len = sf_iov_len(op->iov, op->iov_num), fixed = tcp_fixed_len(&head);
	const uint64_t data = op->kind == SF_OP_SEND || op->kind == SF_OP_WRITE ? len : 0;
	const bool is_short = data <= TCP_SMALL;

	if (!has_room(session, sizeof(head) + fixed + (is_short ? data : 0)))
		return false;
	put_head(session, (enum tcp_kind)op->kind, op->header_len, session->unsent_seq, fixed + data);
	put_fixed(session, op, len);
	if (!is_short)
		session->bulk = (struct tcp_bulk){.op = op, .left = data};
	for (uint32_t i = 0; is_short && data != 0 && i < op->iov_num; i++)
		bytes_put(session, op->iov[i].addr, op->iov[i].len);
	SF_PROBE(send, op, session->unsent_message, len);
	if (sf_trace_on())
		sent_trace(session, op, len);
	session->unsent_seq++;
	session->unsent_message += sf_op_takes_receive(op);
	session->unsent = op->next;
	return true;
}

/* Without a retransmission, an operation that found no receive does not happen at all. */
static void drop_unsent(struct tcp_session *session)
{
	struct sf_op **at = &session->first, *op;

	while (*at != session->unsent)
		at = &(*at)->next;
	op = *at;
	*at = session->unsent = NULL;
	session->end = at;
	session->next_seq = session->unsent_seq;
	while (op != NULL) {
		struct sf_op *next = op->next;

		sf_op_set_status(op, DOCA_ERROR_CONNECTION_ABORTED);
		session->ops->done(session, op);
		op = next;
	}
}

/* The peer had no receive for a request: it and all later ones are sent again. A frame that has begun is completed. */
static void rewind_requests(struct tcp_session *session)
{
	struct sf_op *op = session->first;

	session->rewind = false;
	session->refused = true;
	session->unsent_message = session->first_message;
	for (session->unsent_seq = session->first_seq; session->unsent_seq != session->rewind_seq; session->unsent_seq++) {
		session->unsent_message += sf_op_takes_receive(op);
		op = op->next;
	}
	session->unsent = op;
}

static void put_requests(struct tcp_session *session)
{
	if (session->rewind)
		rewind_requests(session);
	if (session->refused && session->leaving)
		drop_unsent(session);
	if (session->refused) {
		if (sf_tcp_receives_room(&session->room, session->unsent_message) < 0 ||
		    !has_room(session, sizeof(struct tcp_head)))
			return;
		put_head(session, TCP_RESUME, 0, session->unsent_seq, 0);
		session->refused = false;
	}
	while (session->unsent != NULL && session->bulk.left == 0 && tcp_session_window(session) &&
	       put_request(session, session->unsent))
		;
}

/* ---- all of it ---- */

void sf_tcp_session_receives(struct tcp_session *session, struct tcp_receives *receives, uint32_t most)
{
	/* The message that is being read has its receive already: the list begins behind it. */
	*receives = (struct tcp_receives){.from = session->heard + (session->reading.recv != NULL)};
	session->ops->receives(session, receives);
	if (receives->num > most) {
		receives->num = (uint16_t)most;
		receives->more = 1;
	}
	session->credited_num = 0;
	for (uint32_t i = 0; i < receives->num; i++)
		session->credited_num += receives->runs[i].num;
	session->credited_until = receives->from + session->credited_num;
}

static void put_receives(struct tcp_session *session)
{
	struct tcp_receives receives;

	sf_tcp_session_receives(session, &receives, TCP_RUNS_MAX);
	session->credits_due = false;
	put_head(session, TCP_RECEIVES, 0, session->asks, sizeof(receives));
	bytes_put(session, &receives, sizeof(receives));
}

static void put_alone(struct tcp_session *session, enum tcp_kind kind, uint32_t seq, bool *due)
{
	if (!*due || !has_room(session, sizeof(struct tcp_head)))
		return;
	put_head(session, kind, 0, seq, 0);
	*due = false;
}

static void frames_compose(struct tcp_session *session)
{
	bool bye;

	if (session->bulk.left != 0) /* its frame is incomplete */
		return;
	put_alone(session, TCP_REFUSED, session->executed, &session->refusal_due);
	put_answers(session);
	if (session->bulk.left == 0 && session->credits_due &&
	    has_room(session, sizeof(struct tcp_head) + sizeof(struct tcp_receives)))
		put_receives(session);
	if (session->bulk.left == 0)
		put_alone(session, TCP_RING, 0, &session->ring_due);
	if (session->bulk.left == 0)
		put_alone(session, TCP_ASK, 0, &session->ask_due);
	if (session->bulk.left == 0)
		put_requests(session);
	bye = session->leaving && !session->said_bye && session->first == NULL && session->answer_num == 0;
	if (bye && session->bulk.left == 0) {
		put_alone(session, TCP_BYE, 0, &bye);
		session->said_bye = !bye;
	}
	if (session->out_len == 0 && (ack_put(session) != session->acked || session->probe_due))
		put_head(session, TCP_ACK, 0, 0, 0);
	session->probe_due = false;
}

static void bulk_end(struct tcp_session *session)
{
	struct tcp_answer *answer = &session->answers[session->answer_first];

	if (session->bulk.is_answer && answer->left == 0)
		answer_pop(session);
}

/* One call. Returns false if there is no room for more, or nothing can be sent any more. */
static bool send_some(struct tcp_session *session)
{
	struct tcp_answer *answer = &session->answers[session->answer_first];
	struct iovec pieces[TCP_IOV_MAX + 1];
	const void *bytes = zeros;
	uint64_t own = session->out_len - session->out_at, part = session->bulk.left;
	int num = 0;
	ssize_t sent;

	if (own != 0)
		pieces[num++] = (struct iovec){.iov_base = session->out + session->out_at, .iov_len = own};
	if (session->bulk.op != NULL && part != 0)
		num += sf_tcp_iov_slice(session->bulk.op->iov, session->bulk.op->iov_num, session->bulk.at, part, pieces + num,
					TCP_IOV_MAX);
	if (session->bulk.is_answer && part != 0) {
		if (answer->kind == TCP_DATA)
			bytes = sf_shm_region_enter(answer->region, answer->addr, part);
		if (bytes == NULL) { /* the frame's length was sent already: it is filled up, and then marked invalid */
			answer->kind = TCP_FAIL;
			bytes = zeros;
		}
		if (bytes == zeros && part > sizeof(zeros))
			part = sizeof(zeros);
		pieces[num++] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = part};
	}
	sent = sf_stream_send(&session->stream, pieces, num);
	sf_heartbeat_sent(&session->heartbeat);
	if (bytes != zeros)
		sf_shm_region_leave(answer->region);
	if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
		session->is_behind = errno == EAGAIN;
		return errno == EINTR;
	}
	if (sent < 0) {
		session->is_cut = true; /* earlier data of the peer must still be read */
		session->cut_error = errno;
		if (errno == EFAULT)
			sf_tcp_session_lost(session, errno);
		return false;
	}
	session->num_moved++;
	if ((uint64_t)sent < own) {
		session->out_at += (uint32_t)sent;
		return true;
	}
	session->out_at = session->out_len = 0;
	part = (uint64_t)sent - own;
	if (part == 0)
		return true;
	session->bulk.at += part;
	assert(part <= session->bulk.left);
	session->bulk.left -= part;
	if (session->bulk.is_answer) {
		answer->addr += part;
		assert(part <= answer->left);
		answer->left -= part;
	}
	if (session->bulk.left == 0) {
		if (session->bulk.is_answer && answer->kind == TCP_DATA)
			bulk_end(session);
		session->bulk = (struct tcp_bulk){0};
	}
	return true;
}

void sf_tcp_session_send(struct tcp_session *session)
{
	session->is_behind = false;
	for (;;) {
		if (session->stream.fd < 0 || session->is_cut)
			return;
		if (session->out_at == 0)
			frames_compose(session);
		if ((session->out_len == 0 && session->bulk.left == 0) || !send_some(session))
			return;
	}
}

bool sf_tcp_session_probe(struct tcp_session *session)
{
	if (session->stream.fd < 0 || session->is_cut || session->out_len != 0 || session->bulk.left != 0)
		return false;
	session->probe_due = true;
	sf_tcp_session_send(session);
	return session->out_len == 0;
}

void sf_tcp_session_ask(struct tcp_session *session)
{
	session->room = (struct tcp_receives){.from = session->messages, .more = 1};
	session->asked++;
	session->ask_due = true;
	sf_tcp_session_send(session);
}

/* Returns true if the peer has sent credits for all its receives. It sends more when it reads. */
static bool is_empty(const struct tcp_session *session)
{
	return session->room.more == 0 && session->messages == session->first_message;
}

/* EMPTY: the peer has no receive. */
static doca_error_t may_submit(const struct tcp_session *session, const struct sf_op *op, uint64_t len)
{
	int64_t room = 0;

	if (session->stream.fd < 0 || session->leaving || session->is_broken)
		return DOCA_ERROR_NOT_CONNECTED;
	if (sf_op_takes_receive(op))
		room = sf_tcp_receives_room(&session->room, session->messages);
	if (room < 0)
		return is_empty(session) ? DOCA_ERROR_EMPTY : DOCA_ERROR_AGAIN;
	if (op->kind == SF_OP_SEND && len > (uint64_t)room)
		return DOCA_ERROR_TOO_BIG;
	return DOCA_SUCCESS;
}

doca_error_t sf_tcp_session_submit(struct tcp_session *session, struct sf_op *op, uint64_t len)
{
	doca_error_t error = may_submit(session, op, len);

	/* Credits that have arrived meanwhile count, whether this process polls or not. */
	if (error != DOCA_SUCCESS && error != DOCA_ERROR_NOT_CONNECTED) {
		sf_tcp_session_wait_end(session);
		if (sf_tcp_session_receive(session))
			error = may_submit(session, op, len);
		if (error != DOCA_SUCCESS && session->unsent != NULL && tcp_session_is_quiet(session))
			sf_tcp_session_send(session); /* it has just read the acknowledgement that they waited for */
	}
	if (error == DOCA_ERROR_EMPTY) {
		op->status = DOCA_ERROR_EMPTY;
		return DOCA_ERROR_AGAIN;
	}
	if (error != DOCA_SUCCESS)
		return error;
	op->next = NULL;
	*session->end = op;
	session->end = &op->next;
	session->next_seq++;
	session->messages += sf_op_takes_receive(op);
	sf_tcp_session_wait_end(session); /* the acknowledgement follows it */
	if (session->unsent == NULL)
		session->unsent = op;
	if (tcp_session_is_quiet(session) || len > TCP_SMALL)
		sf_tcp_session_send(session);
	return DOCA_SUCCESS;
}
