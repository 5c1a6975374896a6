/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/repair.h"

#include "fabric/shm/conn.h"
#include "fabric/shm/conns.h"
#include "fabric/tcp/ep.h"

static uint64_t claim_of(const struct shm_conn *conn)
{
	return sf_shm_conn_used(conn) ? atomic_load(conn->rx.claim) : 0;
}

struct shm_conn *sf_shm_slot_find_claimer(const struct shm_ep *ep, const struct shm_slot *slot)
{
	uint64_t claim = shm_claim_word((uint32_t)(slot - ep->recvq.slots), slot->ticket);

	for (uint32_t i = 0; i < ep->conn_num; i++) {
		if (claim_of(ep->conns[i]) == claim)
			return ep->conns[i];
	}
	return NULL;
}

static void slot_hold(struct shm_recvq *queue, uint32_t number, uint64_t ticket)
{
	struct shm_slot *slot = shm_recvq_slot(queue, number, ticket);

	if (slot != NULL)
		slot->held = true;
}

/* Includes connections that the endpoint does not know yet: the agent accepts for it, and the peer may send immediately. With the
 * lock. */
static void mark_held(struct shm_ep *ep)
{
	for (struct shm_conn *conn = sf_shm_conns; conn != NULL; conn = conn->next_all) {
		if (conn->base.ep != &ep->base || !sf_shm_conn_used(conn))
			continue;

		uint64_t claim =
			atomic_load(conn->rx.claim); /* read before the records: the record before this claim is published */

		if (claim != 0)
			slot_hold(&ep->recvq, shm_claim_slot(claim), claim & SHM_TICKET_MASK);
		sf_shm_conn_each_unread(conn, slot_hold);
	}
	if (ep->far != NULL)
		sf_tcp_ep_hold(ep->far);
}

static void recv_was_flushed(struct sf_recv *recv, void *user)
{
	sf_shm_ep_abort_recv(user, recv);
}

void sf_shm_ep_repair(struct shm_ep *ep)
{
	struct tcp_ep *far = ep->far;

	sf_shm_recvq_withdraw(&ep->recvq);
	SHM_FENCE(memory_order_seq_cst);
	pthread_mutex_lock(&sf_control_lock);
	mark_held(ep);
	sf_shm_due_repair(ep);
	pthread_mutex_unlock(&sf_control_lock);
	if (far != NULL)
		sf_tcp_ep_lock(far);
	sf_shm_recvq_renew(&ep->recvq, recv_was_flushed, ep);
	if (far != NULL)
		sf_tcp_ep_posted(far);
	atomic_store(&ep->recvq.segment->armed, atomic_load_explicit(&ep->arming, memory_order_relaxed));
}

void sf_shm_ep_check(struct shm_ep *ep)
{
	bool intact = sf_shm_recvq_intact(&ep->recvq), due;

	pthread_mutex_lock(&sf_control_lock);
	/* Receives that honest senders have just claimed differ, too. Rebuilding the ring would reject those senders'
	 * messages. */
	if (!intact)
		mark_held(ep);
	due = sf_shm_due_intact(ep);
	pthread_mutex_unlock(&sf_control_lock);
	if (!due || (!intact && !sf_shm_recvq_claims_are_held(&ep->recvq)))
		sf_shm_ep_repair(ep);
}
