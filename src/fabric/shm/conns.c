/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of the process: their resources and lifetime, and the agent's events. Call with sf_control_lock.
 */
#include "fabric/shm/barrier.h"
#include "fabric/shm/conns.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/doorbell.h"
#include "base/thread_safety.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/peer_ep.h"
#include "fabric/shm/region.h"
#include "fabric/shm/serve.h"

struct shm_conn *sf_shm_conns;

void sf_shm_conn_post(struct shm_conn *conn, uint32_t events)
{
	struct shm_ep *ep = shm_ep(conn->base.ep);

	conn->events |= events;
	if (!conn->in_inbox) {
		conn->in_inbox = true;
		conn->next_inbox = NULL;
		*ep->inbox_end = conn;
		ep->inbox_end = &conn->next_inbox;
	}
	atomic_store_explicit(&ep->news, true, memory_order_release);
	SHM_FENCE(memory_order_seq_cst);
	if (atomic_load_explicit(&ep->arming, memory_order_relaxed) !=
	    0) /* a private word: peers can write those of the segment */
		sf_doorbell_ring(ep->event_fd);
}

static void job_notify(struct shm_job *job)
{
	struct shm_conn *conn = (struct shm_conn *)((char *)job - offsetof(struct shm_conn, job));

	sf_shm_conn_post(conn, SHM_EVENT_JOB);
}

static uint32_t new_id(struct shm_ep *ep)
{
	for (;;) {
		uint32_t id = ep->conn_ids++ & SHM_CONN_ID_MAX;
		struct shm_conn *conn = sf_shm_conns;

		while (conn != NULL && (conn->base.ep != &ep->base || conn->id != id))
			conn = conn->next_all;
		if (conn == NULL)
			return id;
	}
}

struct shm_conn *sf_shm_conn_make(struct shm_ep *ep, enum shm_conn_life life)
{
	struct shm_conn *conn = calloc(1, sizeof(*conn));

	assert(sf_is_locked(&sf_control_lock));
	if (conn == NULL)
		return NULL;
	if (sf_key_random(&conn->key) != DOCA_SUCCESS || !sf_shm_due_alloc_slot(ep, &conn->slot)) {
		free(conn);
		return NULL;
	}
	conn->base = (struct sf_conn){
		.ops = ep->base.ops, .ep = &ep->base, .state = SF_CONN_CONNECTING, .handshake = &conn->handshake};
	conn->life = life;
	conn->id = new_id(ep);
	conn->peer_event = conn->segment_fd = -1;
	conn->request.conn = conn;
	conn->job.notify = job_notify;
	conn->next_all = sf_shm_conns;
	sf_shm_conns = conn;
	return conn;
}

static void conn_unmap(struct shm_conn *conn)
{
	if (conn->segment != NULL)
		munmap(conn->segment, SHM_PAGE + 4 * SHM_RING_SIZE);
	if (conn->peer_ep != NULL)
		sf_shm_peer_ep_put(conn->peer_ep);
	if (conn->peer_event >= 0)
		close(conn->peer_event);
	if (conn->segment_fd >= 0)
		close(conn->segment_fd);
}

void sf_shm_conn_free_locked(struct shm_conn *conn)
{
	struct shm_conn **at = &sf_shm_conns;

	assert(sf_is_locked(&sf_control_lock));
	sf_shm_ep_forget_conn(shm_ep(conn->base.ep), conn);
	sf_shm_due_remove(shm_ep(conn->base.ep), conn);
	sf_shm_due_free_slot(shm_ep(conn->base.ep), conn->slot);
	while (*at != NULL && *at != conn)
		at = &(*at)->next_all;
	if (*at == conn)
		*at = conn->next_all;
	sf_handshake_end(&conn->handshake);
	if (conn->busy == SHM_BUSY_JOB)
		sf_shm_job_cancel(&conn->job);
	for (uint32_t i = 0; i < conn->lent_num; i++)
		sf_shm_attach_put(conn->lent[i]);
	sf_shm_peer_put(conn->peer);
	conn_unmap(conn);
	free(conn);
}

void sf_shm_conn_free(struct shm_conn *conn)
{
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_conn_free_locked(conn);
	pthread_mutex_unlock(&sf_control_lock);
}

bool sf_shm_conn_map(struct shm_conn *conn, int fd, int side)
{
	uint8_t *base = mmap(NULL, SHM_PAGE + 4 * SHM_RING_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *at = base;

	if (base == MAP_FAILED)
		return false;
	assert(conn->segment == NULL && side >= 0 && side <= 1);
	conn->segment = (struct shm_conn_segment *)base;
	if (mmap(at, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return false;
	at += SHM_PAGE;
	for (int i = 0; i < 4; i++, at += SHM_RING_SIZE) {
		off_t offset = SHM_PAGE + (off_t)(i / 2) * (off_t)SHM_RING_SIZE;

		if (mmap(at, SHM_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
			return false;
	}

	uint8_t *rings[2] = {base + SHM_PAGE, base + SHM_PAGE + 2 * SHM_RING_SIZE};

	conn->tx = (struct shm_tx){.ring = rings[side],
				   .limit = SHM_RING_LINES,
				   .consumed = &conn->segment->ring[side].consumed,
				   .claim = &conn->segment->ring[side].claim};
	conn->rx = (struct shm_rx){.ring = rings[1 - side],
				   .consumed = &conn->segment->ring[1 - side].consumed,
				   .claim = &conn->segment->ring[1 - side].claim};
	return true;
}

bool sf_shm_conn_set_peer(struct shm_conn *conn, const struct shm_msg_ep *ep, int segment, int event)
{
	if (ep->slot >= SHM_CONNS_MAX || !sf_shm_eventfd_check(event))
		return false;
	assert(conn->peer_ep == NULL);
	conn->peer_ep = sf_shm_peer_ep_get(segment, ep->entries, ep->ticket);
	if (conn->peer_ep == NULL)
		return false;
	conn->peer_slot = ep->slot;
	conn->peer_conn = ep->conn;
	conn->peer_id = ep->agent;
	conn->peer_key = ep->key;
	conn->fence = ep->barriers == 0 || !sf_shm_barrier_is_possible();
	conn->peer_event = event;
	return true;
}

struct shm_msg_ep sf_shm_conn_describe(const struct shm_conn *conn, int fds[SHM_MSG_EP_FDS])
{
	const struct shm_ep *ep = shm_ep(conn->base.ep);
	uint64_t ticket = atomic_load_explicit(&ep->recvq.ticket, memory_order_relaxed);

	fds[0] = ep->segment_fd;
	fds[1] = ep->event_fd;
	return (struct shm_msg_ep){.agent = *sf_control_id(),
				   .key = conn->key,
				   .ticket = (ticket - ep->recvq.entries) & SHM_TICKET_MASK,
				   .entries = ep->recvq.entries,
				   .conn = conn->id,
				   .slot = conn->slot,
				   .barriers = sf_shm_barrier_is_possible()};
}

void sf_shm_conns_drop(const struct shm_ep *ep)
{
	assert(sf_is_locked(&sf_control_lock));
	for (struct shm_conn *conn = sf_shm_conns, *next; conn != NULL; conn = next) {
		next = conn->next_all;
		if (conn->base.ep == &ep->base)
			sf_shm_conn_free_locked(conn);
	}
}

void sf_shm_conns_forget(const struct shm_peer *peer)
{
	assert(sf_is_locked(&sf_control_lock));
	for (struct shm_conn *conn = sf_shm_conns; conn != NULL; conn = conn->next_all) {
		if (conn->peer == peer)
			sf_shm_conn_post(conn, SHM_EVENT_FORGET);
	}
}

void sf_shm_child_after_fork(void)
{
	/* The parent's connections are unusable here: their sockets are closed, the rings are left to the parent. */
	for (struct shm_conn *conn = sf_shm_conns; conn != NULL; conn = conn->next_all) {
		conn->handshake.channel = NULL;
		conn->sending = false;
		conn->life = SHM_LIFE_OVER;
		conn->base.state = SF_CONN_CLOSED;
	}
	sf_shm_conns = NULL;
	sf_shm_regions_after_fork();
	sf_shm_peers_after_fork();
	sf_shm_agent_after_fork();
}
