/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushing an endpoint's receives: a sender may hold some, for a limited time. */
#include "fabric/shm/ep.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/repair.h"
#include "fabric/tcp/ep.h"

#define FLUSH_LIMIT_NS UINT64_C(1000000000)    /* how long a sender may hold a receive during a flush, */
#define FLUSH_STARVED_NS UINT64_C(10000000000) /* how much longer if it waits for a processor, */
#define FLUSH_LOOK_NS UINT64_C(100000000)      /* and the interval of that check */

void sf_shm_ep_abort_recv(struct shm_ep *ep, struct sf_recv *recv)
{
	recv->status = DOCA_ERROR_CONNECTION_ABORTED;
	recv->conn = NULL;
	recv->kind = SF_OP_SEND;
	recv->len = 0;
	recv->header_len = 0;
	recv->next = NULL;
	*ep->flushed_end = recv;
	ep->flushed_end = &recv->next;
}

/* Returns true if the peer is slow because it waits for a processor. A holder in this process is not waited for. */
static bool holder_is_starved(const struct shm_conn *conn)
{
	int pid;

	pthread_mutex_lock(&sf_control_lock);
	pid = conn->handshake.channel != NULL ? conn->handshake.channel->pid : 0;
	pthread_mutex_unlock(&sf_control_lock);
	return pid != getpid() && sf_process_state(pid) == SF_PROCESS_ACTIVE;
}

/* A sender did not release a receive in time for a flush: its connection ends. */
static void flush_overdue(struct shm_ep *ep, struct shm_slot *slot)
{
	struct shm_conn *conn = sf_shm_slot_find_claimer(ep, slot);

	if (ep->far != NULL && sf_tcp_ep_drop(ep->far, slot)) /* it returns as a flushed receive */
		return;
	if (conn != NULL) {
		if (ep->flush_deadline_ns < ep->flush_last_ns && holder_is_starved(conn))
			return; /* until the next check */
		SF_LOG_WARN_LIMITED("a peer held a receive for more than a second during a flush: closed its connection");
		conn->hangup = true;
		sf_shm_conn_attend(conn);
	}
	sf_shm_ep_abort_recv(ep, shm_recvq_finish(&ep->recvq, slot));
}

static void flush_all_overdue(struct shm_ep *ep)
{
	for (uint32_t i = 0; i < ep->recvq.slot_num; i++) {
		struct shm_slot *slot = &ep->recvq.slots[i];

		if (slot->recv != NULL && slot->flushing)
			flush_overdue(ep, slot);
	}
}

void sf_shm_ep_check_flushing(struct shm_ep *ep, uint64_t *now_ns)
{
	if (*now_ns == 0)
		*now_ns = sf_now_ns();
	if (*now_ns < ep->flush_deadline_ns)
		return;
	flush_all_overdue(ep);
	ep->flush_deadline_ns = *now_ns + FLUSH_LOOK_NS;
}

static void flush_taken(struct sf_recv *recv, void *user)
{
	sf_shm_ep_abort_recv(user, recv);
}

void sf_shm_ep_flush_recvs(struct sf_ep *base)
{
	struct shm_ep *ep = shm_ep(base);

	sf_shm_recvq_flush(&ep->recvq, flush_taken, ep);
	if (ep->far != NULL)
		sf_tcp_ep_flushed(ep->far);
	if (ep->recvq.flushing == 0)
		return;
	ep->flush_deadline_ns = sf_now_ns() + FLUSH_LIMIT_NS;
	ep->flush_last_ns = ep->flush_deadline_ns + FLUSH_STARVED_NS;
}
