/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the peer's requests. Every number in a request is untrusted and checked before use. */
#include "fabric/tcp/request.h"

#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/trace.h"
#include "fabric/mapping.h"
#include "fabric/shm/pages.h"
#include "fabric/shm/region.h"

static void answer_add(struct tcp_session *session, const struct tcp_answer *answer)
{
	if (session->answer_num == TCP_OPS_MAX) {
		sf_tcp_session_break(session, "too many requests");
		return;
	}
	session->answers[(session->answer_first + session->answer_num) % TCP_OPS_MAX] = *answer;
	session->answer_num++;
}

static void answer_fail(struct tcp_session *session)
{
	const struct tcp_answer answer = {.seq = session->executed, .kind = TCP_FAIL};

	answer_add(session, &answer);
}

/* Returns true if the rights, the bounds and the token are valid. */
static bool access_is_permitted(const struct tcp_target *target, uint64_t len, uint32_t right)
{
	if (sf_shm_region_permits(target->region, &target->token, target->addr, len, right))
		return true;
	SF_LOG_DBG("a peer requests %llu bytes at 0x%llx of a closed region", (unsigned long long)len,
		   (unsigned long long)target->addr);
	return false;
}

static void read_asked(struct tcp_session *session)
{
	struct tcp_answer answer = {.seq = session->executed, .kind = TCP_DATA};
	const void *bytes = NULL;
	struct tcp_read read;

	memcpy(&read, session->reading.fixed, sizeof(read));
	if (read.len <= SF_TRANSFER_MAX && access_is_permitted(&read.target, read.len, SF_RIGHT_READ))
		bytes = sf_shm_region_enter(read.target.region, read.target.addr, read.len);
	if (bytes == NULL) {
		answer_fail(session);
		return;
	}
	answer.region = read.target.region;
	answer.addr = read.target.addr;
	answer.left = read.len;
	answer.is_word = read.len <= sizeof(answer.word);
	if (read.len == sizeof(answer.word))
		sf_word_read(&answer.word, bytes);
	else if (answer.is_word)
		memcpy(&answer.word, bytes, read.len);
	sf_shm_region_leave(read.target.region);
	answer_add(session, &answer);
}

static void atomic_asked(struct tcp_session *session)
{
	struct tcp_answer answer = {.seq = session->executed, .kind = TCP_DATA, .is_word = true, .left = sizeof(uint64_t)};
	struct tcp_atomic ask;
	uint64_t *word = NULL;

	memcpy(&ask, session->reading.fixed, sizeof(ask));
	if (ask.target.addr % sizeof(uint64_t) == 0 && access_is_permitted(&ask.target, sizeof(uint64_t), SF_RIGHT_ATOMIC))
		word = sf_shm_region_enter(ask.target.region, ask.target.addr, sizeof(uint64_t));
	if (word == NULL) {
		answer_fail(session);
		return;
	}
	answer.word = ask.compare;
	sf_pages_hold();
	if (session->reading.head.kind == TCP_FAA)
		answer.word = __atomic_fetch_add(word, ask.value, __ATOMIC_SEQ_CST);
	else
		(void)__atomic_compare_exchange_n(word, &answer.word, ask.value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	sf_pages_release();
	sf_shm_region_leave(ask.target.region);
	sf_tcp_session_changed(session, ask.target.region);
	answer_add(session, &answer);
}

/* Later bytes may be the acknowledgement or the answer that the program waits for before it posts a receive. */
static bool may_wait(struct tcp_session *session)
{
	return session->first == NULL && session->ops->wait != NULL && session->ops->wait(session);
}

/* Returns false if there is no receive, and the request waits or is rejected; or if the session is broken. */
static bool receive_claim(struct tcp_session *session, uint64_t len)
{
	doca_error_t error;

	if (session->ops->claim_recv == NULL) {
		sf_tcp_session_break(session, "a message without an endpoint");
		return false;
	}
	error = session->ops->claim_recv(session, len, &session->reading.recv);
	if (error == DOCA_SUCCESS)
		return true;
	if (error == DOCA_ERROR_TOO_BIG) {
		SF_LOG_WARN_LIMITED("a message of %llu bytes is longer than its receive, because other peers used the earlier "
				    "ones: closed the connection",
				    (unsigned long long)len);
		session->is_broken = true;
		return false;
	}
	session->is_waiting = may_wait(session);
	if (!session->is_waiting)
		sf_tcp_session_rejected(session);
	return false;
}

static void write_begin(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;
	struct tcp_target target;

	memcpy(&target, reading->fixed, sizeof(target));
	if (reading->head.header_len != 0 && !receive_claim(session, 0))
		return;
	reading->is_failed = !access_is_permitted(&target, reading->left, SF_RIGHT_WRITE);
	if (!reading->is_failed)
		reading->place = TCP_PLACE_REGION;
}

/* Answers to earlier requests are sent before a change, if there is room. A word has been read already. */
static void send_answers_first(struct tcp_session *session)
{
	const unsigned kind = session->reading.head.kind;

	if (session->answer_num != 0 && kind != TCP_SEND && kind != TCP_READ)
		sf_tcp_session_send(session);
}

void sf_tcp_request_begin(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;

	send_answers_first(session);
	if (session->stream.fd < 0)
		return;
	reading->is_refused = session->discards;
	if (session->discards)
		return;
	if (reading->head.seq != session->executed) {
		sf_tcp_session_break(session, "request number");
	} else if (reading->head.kind == TCP_SEND) {
		if (receive_claim(session, reading->left))
			reading->place = TCP_PLACE_RECEIVE;
	} else if (reading->head.kind == TCP_WRITE) {
		write_begin(session);
	} else if (reading->head.kind == TCP_READ) {
		read_asked(session);
	} else {
		atomic_asked(session);
	}
}

/* Set by whichever thread reads; the endpoint's own thread checks it later. */
static __attribute__((cold)) void delivered_trace(const struct tcp_session *session, const struct sf_recv *recv)
{
	sf_trace_record(SF_TRACE_DELIVER, recv, sf_trace_flow(session->flows_in, session->heard), recv->len,
			sf_op_name(recv->kind));
	sf_trace_record(SF_TRACE_DELIVER_END, NULL, 0, 0, NULL);
}

static void recv_deliver(struct tcp_session *session)
{
	const struct tcp_reading *reading = &session->reading;
	struct sf_recv *recv = reading->recv;

	recv->status = DOCA_SUCCESS;
	recv->kind = (enum sf_op_kind)reading->head.kind;
	recv->len = recv->kind == SF_OP_SEND ? (uint32_t)reading->at : 0;
	recv->header_len = reading->head.header_len;
	memcpy(recv->header, reading->fixed + (recv->kind == SF_OP_WRITE ? sizeof(struct tcp_target) : 0), recv->header_len);
	session->reading.recv = NULL;
	SF_PROBE(deliver, recv, session->heard, recv->len);
	if (sf_trace_on())
		delivered_trace(session, recv);
	session->heard++;
	session->ops->filled(session, recv);
}

void sf_tcp_request_end(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;

	if (reading->is_refused)
		return;
	if (reading->is_failed) {
		answer_fail(session);
		if (reading->recv != NULL) {
			session->ops->give_back(session, reading->recv);
			session->heard++;
		}
		reading->recv = NULL;
	} else if (reading->recv != NULL) {
		recv_deliver(session);
	}
	session->executed++;
}
