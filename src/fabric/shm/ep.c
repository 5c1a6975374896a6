/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/barrier.h"
#include "fabric/shm/ep.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/repair.h"
#include "fabric/tcp/ep.h"

#define BUSY_LOOKS 4096 /* empty polls in a row after which no peer is expected to write: some 60 us */

static struct shm_ep *eps; /* guarded by sf_control_lock */

doca_error_t sf_shm_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			    struct sf_ep **ep)
{
	struct shm_ep *p = calloc(1, sizeof(*p));
	doca_error_t error;

	if (p == NULL)
		return DOCA_ERROR_NO_MEMORY;
	error = sf_shm_recvq_init(&p->recvq, recv_max, &p->segment_fd);
	if (error != DOCA_SUCCESS)
		goto free_port;
	p->base = (struct sf_ep){.ops = domain->ops, .domain = domain};
	p->handler = *handler;
	p->event_fd = event_fd;
	sf_shm_due_init(p);
	p->done_end = &p->done;
	p->flushed_end = &p->flushed;
	p->todo_end = &p->todo;
	p->inbox_end = &p->inbox;
	pthread_mutex_lock(&sf_control_lock);
	p->next = eps;
	eps = p;
	pthread_mutex_unlock(&sf_control_lock);
	*ep = &p->base;
	return DOCA_SUCCESS;
free_port:
	free(p);
	return error;
}

static void remove_conn(struct shm_ep *ep, uint32_t at)
{
	struct shm_conn *conn = ep->conns[at];

	assert(at < ep->conn_num);
	ep->conns[at] = ep->conns[--ep->conn_num];
	sf_shm_conn_free(conn);
}

void sf_shm_ep_reap(struct shm_ep *ep)
{
	ep->reap = false;
	for (uint32_t i = ep->conn_num; i > 0; i--) {
		struct shm_conn *conn = ep->conns[i - 1];

		if (conn->released && conn->life == SHM_LIFE_OVER)
			remove_conn(ep, i - 1);
	}
}

void sf_shm_ep_close(struct sf_ep *base)
{
	struct shm_ep *ep = shm_ep(base);
	struct shm_ep **at = &eps;

	if (ep->far != NULL)
		sf_tcp_ep_close(ep->far);
	/* Connections that the program has closed, before the peer has answered. */
	while (ep->conn_num != 0)
		remove_conn(ep, ep->conn_num - 1);
	sf_shm_lends_close(ep);
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_conns_drop(ep);
	while (*at != ep) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = ep->next;
	pthread_mutex_unlock(&sf_control_lock);
	if (ep->holds)
		sf_control_release(ep->hold);
	sf_shm_recvq_fini(&ep->recvq);
	close(ep->segment_fd);
	sf_shm_due_fini(ep);
	free(ep->conns);
	free(ep);
}

doca_error_t sf_shm_ep_hold_agent(struct shm_ep *ep)
{
	doca_error_t error;

	if (ep->holds)
		return DOCA_SUCCESS;
	error = sf_shm_barrier_join(&ep->hold);
	ep->holds = error == DOCA_SUCCESS;
	return error;
}

void sf_shm_ep_meet(struct shm_ep *ep, const struct shm_conn *conn)
{
	if (ep->has_met && (conn->pid == 0 || conn->pid != ep->pid_met))
		ep->has_rivals = true;
	ep->has_met = true;
	ep->pid_met = conn->pid;
}

doca_error_t sf_shm_ep_add_conn(struct shm_ep *ep, struct shm_conn *conn)
{
	if (ep->conn_num == ep->conn_room) {
		uint32_t room = ep->conn_room == 0 ? 4 : 2 * ep->conn_room;
		struct shm_conn **more = room <= SHM_CONNS_MAX ? realloc(ep->conns, room * sizeof(struct shm_conn *)) : NULL;

		if (more == NULL) {
			SF_LOG_ERR_LIMITED("cannot add connection %u of an endpoint: no memory, or above the limit of %u",
					   ep->conn_num + 1, SHM_CONNS_MAX);
			return DOCA_ERROR_NO_MEMORY;
		}
		ep->conns = more;
		ep->conn_room = room;
	}
	doca_error_t error = sf_shm_due_add(ep, conn);

	if (error == DOCA_SUCCESS)
		ep->conns[ep->conn_num++] = conn;
	return error;
}

/* Moves the agent's events to the local list. */
static void inbox_drain(struct shm_ep *ep)
{
	pthread_mutex_lock(&sf_control_lock);
	atomic_store_explicit(&ep->news, false, memory_order_relaxed);
	while (ep->inbox != NULL) {
		struct shm_conn *conn = ep->inbox;

		ep->inbox = conn->next_inbox;
		conn->in_inbox = false;
		conn->todo |= conn->events;
		conn->events = 0;
		if (conn->in_todo)
			continue;
		conn->in_todo = true;
		conn->next_todo = NULL;
		*ep->todo_end = conn;
		ep->todo_end = &conn->next_todo;
	}
	ep->inbox_end = &ep->inbox;
	pthread_mutex_unlock(&sf_control_lock);
}

/* The peer's endpoint answered our connect, or it failed. */
static uint32_t handle_connected(struct shm_ep *ep, struct shm_conn *conn)
{
	doca_error_t status = conn->answer;

	if (conn->released)
		return 0;
	if (conn->life != SHM_LIFE_CONNECTING) /* disconnected meanwhile */
		status = DOCA_ERROR_CONNECTION_ABORTED;
	if (conn->life == SHM_LIFE_ENDING) {
		conn->base.state = SF_CONN_CLOSED;
	} else if (status == DOCA_SUCCESS) {
		conn->life = SHM_LIFE_READY;
		sf_shm_ep_meet(ep, conn);
		conn->sending = true;
		conn->base.state = SF_CONN_READY;
		sf_shm_due_look(conn);
	} else {
		conn->life = SHM_LIFE_OVER;
		conn->base.state = SF_CONN_CLOSED;
	}
	if (ep->handler.connected == NULL)
		return 0;
	ep->handler.connected(&conn->base, status, conn->data, conn->data_len);
	return 1;
}

static uint32_t handle_accepted(struct shm_ep *ep, struct shm_conn *conn)
{
	/* Without its listener no program would see it. */
	if (conn->listener == NULL || sf_shm_ep_add_conn(ep, conn) != DOCA_SUCCESS) {
		sf_shm_conn_free(conn);
		return 0;
	}
	sf_shm_ep_check(ep);
	conn->life = SHM_LIFE_READY;
	sf_shm_ep_meet(ep, conn);
	conn->sending = true;
	conn->base.state = SF_CONN_READY;
	sf_shm_due_look(conn);
	if (ep->handler.accepted == NULL)
		return 0;
	ep->handler.accepted(conn->listener, &conn->base, conn->data, conn->data_len);
	return 1;
}

static uint32_t handle_request(struct shm_ep *ep, struct shm_conn *conn)
{
	if (ep->handler.request == NULL) {
		(void)sf_shm_conn_answer(&conn->request, NULL, 0, NULL, NULL);
		return 0;
	}
	ep->handler.request(conn->listener, &conn->request, conn->data, conn->data_len);
	return 1;
}

/* Handles one connection's events; returns callbacks run. The connection may be gone afterwards. */
static uint32_t handle_events(struct shm_ep *ep, struct shm_conn *conn, uint32_t events)
{
	uint32_t ran = 0;

	if (events & SHM_EVENT_REQUEST)
		return handle_request(ep, conn);
	if (events & SHM_EVENT_FORGET)
		sf_shm_conn_forget(conn);
	if (events & (SHM_EVENT_HANGUP | SHM_EVENT_JOB))
		sf_shm_conn_attend(conn);
	if (events & SHM_EVENT_HANGUP)
		conn->hangup = true;
	if (events & SHM_EVENT_ACCEPTED)
		ran += handle_accepted(ep, conn);
	if (events & SHM_EVENT_CONNECTED)
		ran += handle_connected(ep, conn);
	return ran;
}

/* Called when the connection is freed: removes it from all lists. The agent calls this too, for a connection that the
 * endpoint's thread has not seen; the list todo belongs to that thread and is not touched then. */
void sf_shm_ep_forget_conn(struct shm_ep *ep, struct shm_conn *conn)
{
	struct shm_conn **at;

	if (conn->in_todo) {
		for (at = &ep->todo; *at != conn; at = &(*at)->next_todo)
			;
		*at = conn->next_todo;
		if (*at == NULL)
			ep->todo_end = at;
	}
	for (at = &ep->inbox; *at != NULL && *at != conn; at = &(*at)->next_inbox)
		;
	if (*at == conn) {
		*at = conn->next_inbox;
		if (*at == NULL)
			ep->inbox_end = at;
	}
}

static uint32_t run_todo(struct shm_ep *ep, uint32_t budget)
{
	uint32_t ran = 0;

	while (ep->todo != NULL && ran < budget) {
		struct shm_conn *conn = ep->todo;
		uint32_t events = conn->todo;

		ep->todo = conn->next_todo;
		if (ep->todo == NULL)
			ep->todo_end = &ep->todo;
		conn->in_todo = false;
		conn->todo = 0;
		if (conn->released)
			ep->reap = true;
		ran += handle_events(ep, conn, events);
	}
	return ran;
}

static uint32_t run_done(struct shm_ep *ep, uint32_t budget)
{
	uint32_t ran = 0;

	while (ep->done != NULL && ran < budget) {
		struct sf_op *op = ep->done;

		ep->done = op->next;
		if (ep->done == NULL)
			ep->done_end = &ep->done;
		assert(shm_conn(op->conn)->in_flight > 0);
		shm_conn(op->conn)->in_flight--;
		op->done(op);
		ran++;
	}
	return ran;
}

static uint32_t run_flushed(struct shm_ep *ep, uint32_t budget)
{
	uint32_t ran = 0;

	while (ep->flushed != NULL && ran < budget) {
		struct sf_recv *recv = ep->flushed;

		ep->flushed = recv->next;
		if (ep->flushed == NULL)
			ep->flushed_end = &ep->flushed;
		recv->done(recv);
		ran++;
	}
	return ran;
}

static __attribute__((noinline)) uint32_t poll_all(struct shm_ep *ep, uint32_t budget)
{
	uint64_t now_ns = 0; /* read when needed */
	uint32_t ran = 0;

	if (atomic_load_explicit(&ep->lends.due, memory_order_relaxed))
		sf_shm_lends_update(ep); /* before receives are reported: the library still owns them */
	ep->quiet = 0;
	ep->polling = true;
	if (atomic_load_explicit(&ep->news, memory_order_relaxed))
		inbox_drain(ep);
	if (ep->todo != NULL) /* a connection is reported connected before operations on it */
		ran += run_todo(ep, budget);
	if (ep->done != NULL)
		ran += run_done(ep, budget - ran);
	if (ep->recvq.flushing != 0)
		sf_shm_ep_check_flushing(ep, &now_ns);
	if (ran < budget)
		ran += sf_shm_due_poll(ep, budget - ran, &now_ns);
	if (ep->far != NULL && ran < budget)
		ran += sf_tcp_ep_poll(ep->far, budget - ran);
	if (ep->flushed != NULL)
		ran += run_flushed(ep, budget - ran);
	ep->polling = false;
	if (ep->recvq.damaged || ep->suspect)
		sf_shm_ep_check(ep);
	ep->suspect = false;
	if (ep->reap)
		sf_shm_ep_reap(ep);
	return ran;
}

/* Most polls find nothing: they cost one check of each of these. */
uint32_t sf_shm_ep_poll(struct sf_ep *base, uint32_t budget)
{
	struct shm_ep *ep = shm_ep(base);

	if (__builtin_expect(budget == 0, 0)) { /* sf_ep_push */
		sf_shm_due_push(ep);
		return 0;
	}
	if (ep->done != NULL || shm_due_worth(ep) || ep->todo != NULL || ep->flushed != NULL || ep->reap ||
	    ep->recvq.flushing != 0 || ep->recvq.damaged || atomic_load_explicit(&ep->news, memory_order_relaxed) ||
	    atomic_load_explicit(&ep->lends.due, memory_order_relaxed) || ep->far != NULL)
		return poll_all(ep, budget);
	ep->due.looks++;
	if (ep->quiet < BUSY_LOOKS) {
		ep->quiet++;
		shm_look_done();
	}
	return 0;
}

static bool something_due(const struct shm_ep *ep)
{
	if (ep->done != NULL || ep->flushed != NULL || ep->todo != NULL || ep->recvq.flushing != 0 || ep->recvq.damaged ||
	    atomic_load_explicit(&ep->news, memory_order_relaxed))
		return true;
	return sf_shm_due_any(ep);
}

void sf_shm_ep_barrier(const struct shm_ep *ep)
{
	SHM_FENCE(memory_order_seq_cst);
#ifdef SYS_membarrier
	if (ep->conn_num != 0 && sf_shm_barrier_is_possible())
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}

bool sf_shm_ep_arm(struct sf_ep *base)
{
	struct shm_ep *ep = shm_ep(base);

	if (something_due(ep))
		return true;
	uint32_t arming = atomic_load_explicit(&ep->arming, memory_order_relaxed) + 1;

	arming += arming == 0;
	atomic_store_explicit(&ep->arming, arming, memory_order_relaxed);
	atomic_store_explicit(&ep->recvq.segment->armed, arming, memory_order_relaxed);
	sf_shm_ep_barrier(ep);
	return something_due(ep) || (ep->far != NULL && sf_tcp_ep_arm(ep->far));
}

static uint64_t lend_name(struct shm_ep *ep, const struct sf_recv *recv)
{
	const struct shm_known_piece *known = shm_lends_known(&ep->lends, recv->iov);

	if (recv->iov_num == 1 && !recv->kept && shm_piece_is_known(&ep->lends, known, shm_region(recv->region)->id, recv->iov))
		return known->lent;
	return shm_domain(ep->base.domain)->by_network ? 0 : sf_shm_lend_name(ep, recv);
}

doca_error_t sf_shm_ep_post_recv(struct sf_ep *base, struct sf_recv *recv)
{
	struct shm_ep *ep = shm_ep(base);
	uint64_t len, lent = 0;
	doca_error_t error = sf_recv_check(base, recv, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (recv->iov_num != 0)
		lent = lend_name(ep, recv);
	if (ep->far == NULL)
		return sf_shm_recvq_post(&ep->recvq, recv, (uint32_t)len, lent);
	sf_tcp_ep_lock(ep->far);
	error = sf_shm_recvq_post(&ep->recvq, recv, (uint32_t)len, lent);
	sf_tcp_ep_posted(ep->far);
	return error;
}
