/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/waiting.h"

#include "base/clock.h"
#include "fabric/control/agent.h"

#define WAIT_MAX_NS UINT64_C(100000000)
#define STEP_MAX_NS UINT64_C(10000000)

void sf_tcp_waiting_add(struct tcp_link *link)
{
	struct tcp_port *far = tcp_link_port(link);

	if (link->is_waiting)
		return;
	if (TAILQ_EMPTY(&far->waiting)) {
		far->waiting_seen_ns = sf_now_ns();
		far->waiting_posts = far->posts;
		if (far->is_watched)
			sf_control_wake(); /* to time it */
	}
	link->is_waiting = true;
	link->wait_ns = far->waiting_ns;
	TAILQ_INSERT_TAIL(&far->waiting, link, waiting);
}

void sf_tcp_waiting_remove(struct tcp_link *link)
{
	if (link->is_waiting)
		TAILQ_REMOVE(&tcp_link_port(link)->waiting, link, waiting);
	link->is_waiting = link->is_deaf = false;
}

void sf_tcp_waiting_count(struct tcp_port *far)
{
	const uint64_t now = sf_now_ns(), step = now - far->waiting_seen_ns;

	far->waiting_ns += step < STEP_MAX_NS ? step : STEP_MAX_NS;
	far->waiting_seen_ns = now;
}

bool sf_tcp_waiting_is_late(struct tcp_link *link)
{
	return tcp_link_port(link)->waiting_ns - link->wait_ns >= WAIT_MAX_NS;
}
