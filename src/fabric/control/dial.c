/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling other agents: in the runtime folder, or by the network, where one address after the other is tried. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/control/alert.h"
#include "fabric/control/net.h"
#include "fabric/control/runtime.h"

static void dial_failed(struct sf_conn *conn, int error)
{
	if (conn->why != DOCA_ERROR_NOT_FOUND) /* a machine that answers knows most */
		conn->why = error == ECONNREFUSED ? DOCA_ERROR_NOT_FOUND : DOCA_ERROR_TIME_OUT;
}

/* The next address, until one lets us begin. False: there is none left. */
static bool dial_begin(struct sf_conn *conn)
{
	struct sf_dial *dial = conn->dial;

	for (; dial->at < dial->addresses.num; dial->at++) {
		conn->stream.fd = sf_net_connect(&dial->addresses.at[dial->at], dial->scope);
		if (conn->stream.fd < 0) {
			dial_failed(conn, errno);
			continue;
		}
		dial->since_ns = sf_now_ns();
		if (sf_conn_watch(conn, EPOLL_CTL_ADD, EPOLLOUT))
			return true;
		sf_stream_close(&conn->stream, false);
	}
	return false;
}

void sf_dial_next(struct sf_conn *conn, int error)
{
	epoll_ctl(sf_control_epoll(), EPOLL_CTL_DEL, conn->stream.fd, NULL);
	sf_stream_close(&conn->stream, false);
	dial_failed(conn, error);
	conn->dial->at++;
	if (!dial_begin(conn))
		sf_conn_end(conn);
}

static void dial_done(struct sf_conn *conn)
{
	sf_dial_end(conn);
	conn->may_beat = true;
	sf_conn_watch_machine(conn);
	(void)sf_conn_watch(conn, EPOLL_CTL_MOD, conn->out != NULL ? EPOLLOUT : 0);
	if (conn->out != NULL)
		sf_conn_send_kept(conn);
}

static void dial_refused(struct sf_conn *conn, int result)
{
	struct sf_addresses there = {.num = 1, .at = {conn->dial->addresses.at[conn->dial->at]}};
	char text[SF_ADDRESS_MAX];

	sf_addresses_format(&there, text);
	conn->is_other = result == SF_TLS_OTHER;
	if (conn->is_other)
		SF_LOG_ERR_LIMITED(
			"the process at %s speaks %s TLS, and this one %s it (\"tls\": false): give both the same topology", text,
			conn->stream.tls != NULL ? "without" : "with", conn->stream.tls != NULL ? "with" : "without");
	else
		SF_LOG_ERR_LIMITED(
			"the process at %s and this one do not agree on a key: the keys differ, or it has none; give both the "
			"same file (SOFTFIELD_TCP_KEY)",
			text);
	if (conn->stream.proof != NULL && result == SF_TLS_REFUSED)
		sf_alert_send(conn->stream.fd, SF_ALERT_KEY); /* TLS sends its own */
	conn->why = DOCA_ERROR_NOT_PERMITTED;
	sf_conn_end(conn);
}

static void dial_shake(struct sf_conn *conn)
{
	int result = sf_stream_shake(&conn->stream);

	if (result == 0)
		dial_done(conn);
	else if (result == SF_TLS_AGAIN)
		(void)sf_conn_watch(conn, EPOLL_CTL_MOD, sf_stream_wants_write(&conn->stream) ? EPOLLOUT : 0);
	else if (result == SF_TLS_CLOSED)
		sf_conn_end(conn);
	else
		dial_refused(conn, result);
}

/* There is a connection. With a key that is to be proven first. */
static void dial_secure(struct sf_conn *conn)
{
	doca_error_t error = sf_net_secure(&conn->stream, false);

	if (error != DOCA_SUCCESS) {
		conn->why = error;
		sf_conn_end(conn);
	} else if (sf_stream_shakes(&conn->stream)) {
		conn->dial->since_ns = sf_now_ns();
		dial_shake(conn);
	} else {
		dial_done(conn);
	}
}

void sf_dial_event(struct sf_conn *conn, uint32_t events)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (sf_stream_shakes(&conn->stream)) {
		dial_shake(conn);
		return;
	}

	if (getsockopt(conn->stream.fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		sf_dial_next(conn, error);
		return;
	}
	if ((events & (EPOLLOUT | EPOLLIN)) == 0)
		return;
	conn->why = DOCA_SUCCESS;
	dial_secure(conn);
}

static doca_error_t dial(const struct sf_addresses *addresses, uint32_t scope, void *owner, struct sf_conn **out)
{
	struct sf_conn *conn = calloc(1, sizeof(*conn));

	if (conn != NULL)
		conn->dial = calloc(1, sizeof(*conn->dial));
	if (conn == NULL || conn->dial == NULL) {
		free(conn);
		return DOCA_ERROR_NO_MEMORY;
	}
	conn->stream.fd = -1;
	conn->is_stream = true;
	*conn->dial = (struct sf_dial){.addresses = *addresses, .scope = scope};
	if (!dial_begin(conn)) {
		doca_error_t why = conn->why;

		free(conn->dial);
		free(conn);
		return why;
	}
	sf_conn_enter(conn, owner);
	sf_control_wake(); /* to time it */
	*out = conn;
	return DOCA_SUCCESS;
}

static doca_error_t call_here(enum sf_socket_kind kind, const struct sf_key *key, void *owner, struct sf_conn **conn)
{
	int fd, pid;
	doca_error_t error = sf_runtime_connect(kind, key, &fd, &pid);

	if (error != DOCA_SUCCESS)
		return error;
	error = sf_conn_open(fd, owner, conn);
	if (error == DOCA_SUCCESS)
		(*conn)->pid = pid;
	else
		close(fd);
	return error;
}

doca_error_t sf_conn_call(enum sf_socket_kind kind, const struct sf_key *key, const char *address, bool by_network,
			  uint32_t scope, void *owner, struct sf_conn **conn)
{
	struct sf_msg_hello hello = {.head = sf_msg_head(SF_MSG_HELLO, sizeof(hello), 0)};
	struct sf_addresses to;
	doca_error_t error = DOCA_ERROR_NOT_FOUND;

	if (address[0] == '\0')
		return call_here(kind, key, owner, conn);
	if (!sf_addresses_parse(address, &to)) {
		SF_LOG_ERR_LIMITED("%.*s is no place on a network", SF_ADDRESS_MAX, address);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (to.has_token && !by_network) /* what has one has a random name too: it is meant if it is here */
		error = call_here(kind, key, owner, conn);
	if (error == DOCA_SUCCESS || error == DOCA_ERROR_AGAIN)
		return error;
	error = dial(&to, scope, owner, conn);
	if (error != DOCA_SUCCESS || !to.has_token)
		return error;
	hello.token = to.token;
	(void)sf_conn_send(*conn, &hello, NULL, 0);
	return DOCA_SUCCESS;
}
