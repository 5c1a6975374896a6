/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/drive.h"

#include <string.h>
#include <sys/epoll.h>

#include "fabric/shm/region.h"
#include "fabric/tcp/conn.h"
#include "fabric/tcp/waiting.h"

#define EVENTS_MAX 32
#define DIRECT_MAX 2 /* up to this many connections are read without asking which one has data */

/* Returns whether the session has stopped for it. */
static bool changes_pop(struct tcp_session *session, struct tcp_changes *changes)
{
	const bool stopped = session->changed_num == TCP_CHANGED_MAX;

	memcpy(changes->region + changes->num, session->changed, session->changed_num * sizeof(session->changed[0]));
	changes->num += session->changed_num;
	session->changed_num = 0;
	return stopped;
}

void sf_tcp_drive_credits(struct tcp_ep *far, bool early)
{
	struct tcp_conn *conn;

	if (!TAILQ_EMPTY(&far->waiting)) /* posted receives are for messages that wait already */
		return;
	if (early)
		far->has_posted = false;
	LIST_FOREACH (conn, &far->conns, entry)
		sf_tcp_conn_send_credits(conn, early);
}

/* Returns whether anything had arrived. */
static bool conn_receive(struct tcp_conn *conn, struct tcp_changes *changes)
{
	bool came = false;

	while (conn->session.stream.fd >= 0 && changes->num <= TCP_CHANGES_MAX - TCP_CHANGED_MAX) {
		came = sf_tcp_session_receive(&conn->session) || came;
		if (!changes_pop(&conn->session, changes))
			break;
	}
	sf_tcp_conn_watch(conn);
	came = came || conn->session.stream.fd < 0;
	if (came)
		sf_tcp_conn_send_credits(conn, false);
	if (came || conn->session.refusal_due) /* a waiting message was rejected: no data may have arrived for that */
		sf_tcp_conn_busy(conn);
	return came;
}

static bool receive_ready(struct tcp_ep *far, struct tcp_changes *changes)
{
	struct epoll_event events[EVENTS_MAX];
	int num = epoll_wait(far->epoll, events, EVENTS_MAX, 0);

	for (int i = 0; i < num; i++) {
		struct tcp_conn *conn = events[i].data.ptr;

		if (events[i].events & (EPOLLERR | EPOLLHUP)) /* epoll always reports these */
			sf_tcp_session_wait_end(&conn->session);
		if (conn->session.is_waiting && (events[i].events & EPOLLIN)) {
			conn->is_deaf = true;
			sf_tcp_conn_watch(conn);
		} else if (!conn->session.is_waiting) {
			(void)conn_receive(conn, changes);
		}
		if (events[i].events & EPOLLOUT)
			sf_tcp_conn_busy(conn);
	}
	return num > 0;
}

static bool receive_all(struct tcp_ep *far, struct tcp_changes *changes)
{
	struct tcp_conn *conn, *next;
	bool came = false;

	if (far->conn_num > DIRECT_MAX)
		return receive_ready(far, changes);
	for (conn = LIST_FIRST(&far->conns); conn != NULL; conn = next) {
		next = LIST_NEXT(conn, entry);
		came = (!conn->session.is_waiting && conn_receive(conn, changes)) || came;
	}
	return came;
}

void sf_tcp_drive_waiting(struct tcp_ep *far, struct tcp_changes *changes)
{
	const bool has_posts = far->waiting_posts != far->posts;
	struct tcp_conn *conn;

	far->waiting_posts = far->posts;
	sf_tcp_waiting_count(far);
	while ((conn = TAILQ_FIRST(&far->waiting)) != NULL) {
		if (has_posts || !conn->session.is_waiting)
			(void)conn_receive(conn, changes);
		if (conn->session.is_waiting && sf_tcp_waiting_is_late(conn)) {
			sf_tcp_session_wait_end(&conn->session);
			(void)conn_receive(conn, changes);
		}
		if (conn->session.is_waiting)
			break;
	}
}

void sf_tcp_drive_busy(struct tcp_ep *far, bool by_agent)
{
	struct tcp_conn *conn = LIST_FIRST(&far->busy), *next;

	for (; conn != NULL; conn = next) {
		next = LIST_NEXT(conn, busy);
		sf_tcp_conn_attend(conn, by_agent || far->is_watched);
	}
}

void sf_tcp_drive_changes(struct tcp_ep *far, struct tcp_changes *changes)
{
	struct tcp_conn *conn;

	LIST_FOREACH (conn, &far->busy, busy) {
		if (changes->num <= TCP_CHANGES_MAX - TCP_CHANGED_MAX)
			(void)changes_pop(&conn->session, changes);
	}
}

bool sf_tcp_drive(struct tcp_ep *far, bool by_agent, struct tcp_changes *changes)
{
	bool came;

	if (!TAILQ_EMPTY(&far->waiting))
		sf_tcp_drive_waiting(far, changes);
	came = receive_all(far, changes);
	if (far->has_posted)
		sf_tcp_drive_credits(far, true);
	if (!LIST_EMPTY(&far->busy)) {
		sf_tcp_drive_changes(far, changes);
		sf_tcp_drive_busy(far, by_agent);
	}
	return came;
}

void sf_tcp_changes_ring(const struct tcp_changes *changes)
{
	for (uint32_t i = 0; i < changes->num; i++)
		sf_shm_region_ring(changes->region[i]);
}
