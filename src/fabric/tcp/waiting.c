/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/waiting.h"

#include "base/clock.h"
#include "fabric/control/agent.h"

#define WAIT_MAX_NS UINT64_C(100000000)
#define STEP_MAX_NS UINT64_C(10000000)

void sf_tcp_waiting_add(struct tcp_conn *conn)
{
	struct tcp_ep *far = tcp_conn_ep(conn);

	if (conn->is_waiting)
		return;
	if (TAILQ_EMPTY(&far->waiting)) {
		far->waiting_seen_ns = sf_now_ns();
		far->waiting_posts = far->posts;
		if (far->is_watched)
			sf_control_wake(); /* to time it */
	}
	conn->is_waiting = true;
	conn->wait_ns = far->waiting_ns;
	TAILQ_INSERT_TAIL(&far->waiting, conn, waiting);
}

void sf_tcp_waiting_remove(struct tcp_conn *conn)
{
	if (conn->is_waiting)
		TAILQ_REMOVE(&tcp_conn_ep(conn)->waiting, conn, waiting);
	conn->is_waiting = conn->is_deaf = false;
}

void sf_tcp_waiting_count(struct tcp_ep *far)
{
	const uint64_t now = sf_now_ns(), step = now - far->waiting_seen_ns;

	far->waiting_ns += step < STEP_MAX_NS ? step : STEP_MAX_NS;
	far->waiting_seen_ns = now;
}

bool sf_tcp_waiting_is_late(struct tcp_conn *conn)
{
	return tcp_conn_ep(conn)->waiting_ns - conn->wait_ns >= WAIT_MAX_NS;
}
