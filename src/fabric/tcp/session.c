/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/session.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/trace.h"
#include "fabric/shm/region.h"

static struct tcp_session *session_of(struct sf_heartbeat *heartbeat)
{
	return (struct tcp_session *)((char *)heartbeat - offsetof(struct tcp_session, heartbeat));
}

static bool heartbeat_probe(struct sf_heartbeat *heartbeat)
{
	struct tcp_session *session = session_of(heartbeat);

	return session->ops->probe != NULL && session->ops->probe(session);
}

static void heartbeat_drain(struct sf_heartbeat *heartbeat)
{
	struct tcp_session *session = session_of(heartbeat);

	session->ops->drain(session);
}

typedef int address_get_t(int fd, struct sockaddr *address, socklen_t *len);

/* Both sides know the two addresses, unless something between them translates one. */
static uint64_t address_hash(int fd, address_get_t *get)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	uint64_t hash = 0, word;

	if (get(fd, (struct sockaddr *)&address, &len) != 0)
		return 0;
	for (size_t at = 0; at < 32; at += sizeof(word)) { /* an IPv4 or IPv6 address uses no more bytes */
		memcpy(&word, (const char *)&address + at, sizeof(word));
		hash = sf_trace_flow(hash, word);
	}
	return hash;
}

static void flows_begin(struct tcp_session *session)
{
	const uint64_t ours = address_hash(session->stream.fd, getsockname);
	const uint64_t peers = address_hash(session->stream.fd, getpeername);

	/* The first is hashed once more, so that the directions differ. */
	session->flows_out = sf_trace_flow(sf_trace_flow(0, ours), peers);
	session->flows_in = sf_trace_flow(sf_trace_flow(0, peers), ours);
}

void sf_tcp_session_begin(struct tcp_session *session, const struct tcp_session_ops *ops, struct sf_stream stream)
{
	uint32_t scope;

	session->ops = ops;
	session->stream = stream;
	session->is_unread = sf_stream_pending(&stream);
	session->end = &session->first;
	(void)sf_address_of_peer(stream.fd, &session->peer, &scope);
	session->heartbeat.drain = ops->drain != NULL ? heartbeat_drain : NULL;
	flows_begin(session);
	sf_heartbeat_begin(&session->heartbeat, stream.fd, heartbeat_probe);
}

void sf_tcp_session_end(struct tcp_session *session, doca_error_t why)
{
	struct sf_op *op;

	if (session->stream.fd < 0)
		return;
	sf_heartbeat_end(&session->heartbeat);
	sf_stream_close(&session->stream, session->is_lent);
	session->ended = why;
	session->is_waiting = false;
	if (session->reading.recv != NULL)
		session->ops->give_back(session, session->reading.recv);
	session->reading.recv = NULL;
	session->unsent = NULL;
	while ((op = session->first) != NULL) {
		session->first = op->next;
		sf_op_set_status(op, DOCA_ERROR_CONNECTION_ABORTED);
		session->ops->done(session, op);
	}
	session->end = &session->first;
}

static void lost_log(const struct tcp_session *session, int error)
{
	const char *why = error != 0 ? strerror(error) : "the peer closed it, or its process ended";
	const struct sf_addresses one = {.num = 1, .at = {session->peer}};
	char peer[SF_ADDRESS_MAX];

	sf_addresses_format(&one, peer);
	/* A peer that ended is no failure of ours: the library whose operations fail logs it. */
	if (error == EFAULT || error == ENOMEM)
		SF_LOG_ERR_LIMITED(
			"cannot access the memory of an operation, a receive or a region (%s): the connection to %s ends; "
			"keep memory until its operations complete, close a region before you free it, and check that "
			"the machine has memory left",
			why, peer);
	else if (error != 0 && error != ECONNRESET && error != EPIPE)
		SF_LOG_WARN_LIMITED("the connection to %s failed: %s", peer, why);
	else
		SF_LOG_INFO_LIMITED("the connection to %s ended: %s", peer, why);
}

void sf_tcp_session_lost(struct tcp_session *session, int error)
{
	if (session->stream.fd < 0)
		return;
	if (!session->heartbeat.is_lost) /* that was logged */
		lost_log(session, error != 0 || session->cut_error == EPIPE ? error : session->cut_error);
	/* A silent peer has left while connecting: an established one reports its receives immediately. */
	sf_tcp_session_end(session, session->has_heard ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_CONNECTION_RESET);
}

void sf_tcp_session_break(struct tcp_session *session, const char *what)
{
	if (!session->is_broken)
		SF_LOG_WARN_LIMITED("a peer on the network violates the protocol (%s): closed its connection", what);
	session->is_broken = true;
}

void sf_tcp_session_changed(struct tcp_session *session, uint64_t region)
{
	for (uint32_t i = 0; i < session->changed_num; i++) {
		if (session->changed[i] == region)
			return;
	}
	if (sf_shm_region_has_doorbell(region))
		session->changed[session->changed_num++] = region;
}

void sf_tcp_session_rejected(struct tcp_session *session)
{
	session->reading.is_refused = session->discards = session->refusal_due = true;
	session->credited_num = 0; /* the peer waits for new credits */
	session->credited_until = session->heard;
}

void sf_tcp_session_wait_end(struct tcp_session *session)
{
	if (!session->is_waiting)
		return;
	session->is_waiting = false;
	session->is_unread = true; /* the data that follows it */
	session->reading.has_begun = true;
	sf_tcp_session_rejected(session);
}

void sf_tcp_session_reject(struct tcp_session *session)
{
	struct tcp_reading *reading = &session->reading;

	sf_tcp_session_wait_end(session);
	if (reading->recv == NULL)
		return;
	session->ops->give_back(session, reading->recv);
	reading->recv = NULL;
	reading->place = TCP_PLACE_NOWHERE;
	sf_tcp_session_rejected(session);
}
