/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/barrier.h"
#include "fabric/shm/port.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/repair.h"
#include "fabric/tcp/port.h"

#define FLUSH_LIMIT_NS UINT64_C(1000000000)    /* how long a sender may hold a receive that is to be flushed, */
#define FLUSH_STARVED_NS UINT64_C(10000000000) /* and how much longer while it waits for a processor, */
#define FLUSH_LOOK_NS UINT64_C(100000000)      /* which is looked at so often */

#define BUSY_LOOKS 4096 /* polls in a row after which no peer is about to write: some 60 us */

static struct shm_port *ports; /* guarded by sf_control_lock */

doca_error_t sf_shm_port_open(struct sf_domain *domain, const struct sf_port_handler *handler, uint32_t recv_max, int event_fd,
			      struct sf_port **port)
{
	struct shm_port *p = calloc(1, sizeof(*p));
	doca_error_t error;

	if (p == NULL)
		return DOCA_ERROR_NO_MEMORY;
	error = sf_shm_recvq_init(&p->recvq, recv_max, &p->segment_fd);
	if (error != DOCA_SUCCESS)
		goto free_port;
	p->base = (struct sf_port){.ops = domain->ops, .domain = domain};
	p->handler = *handler;
	p->event_fd = event_fd;
	sf_shm_due_init(p);
	p->done_end = &p->done;
	p->flushed_end = &p->flushed;
	p->todo_end = &p->todo;
	p->inbox_end = &p->inbox;
	pthread_mutex_lock(&sf_control_lock);
	p->next = ports;
	ports = p;
	pthread_mutex_unlock(&sf_control_lock);
	*port = &p->base;
	return DOCA_SUCCESS;
free_port:
	free(p);
	return error;
}

static void remove_conn(struct shm_port *port, uint32_t at)
{
	struct shm_conn *conn = port->conns[at];

	port->conns[at] = port->conns[--port->conn_num];
	sf_shm_conn_free(conn);
}

void sf_shm_port_reap(struct shm_port *port)
{
	port->reap = false;
	for (uint32_t i = port->conn_num; i > 0; i--) {
		struct shm_conn *conn = port->conns[i - 1];

		if (conn->released && conn->life == SHM_LIFE_OVER)
			remove_conn(port, i - 1);
	}
}

void sf_shm_port_close(struct sf_port *base)
{
	struct shm_port *port = shm_port(base);
	struct shm_port **at = &ports;

	if (port->far != NULL)
		sf_tcp_port_close(port->far);
	/* Connections that the program has closed, while the peer has not answered yet. */
	while (port->conn_num != 0)
		remove_conn(port, port->conn_num - 1);
	sf_shm_lends_close(port);
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_conns_drop(port);
	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	pthread_mutex_unlock(&sf_control_lock);
	if (port->holds)
		sf_control_release(port->hold);
	sf_shm_recvq_fini(&port->recvq);
	close(port->segment_fd);
	sf_shm_due_fini(port);
	free(port->conns);
	free(port);
}

doca_error_t sf_shm_port_hold_agent(struct shm_port *port)
{
	doca_error_t error;

	if (port->holds)
		return DOCA_SUCCESS;
	error = sf_shm_hold(&port->hold);
	port->holds = error == DOCA_SUCCESS;
	return error;
}

void sf_shm_port_meet(struct shm_port *port, const struct shm_conn *conn)
{
	if (port->has_met && (conn->pid == 0 || conn->pid != port->pid_met))
		port->has_rivals = true;
	port->has_met = true;
	port->pid_met = conn->pid;
}

doca_error_t sf_shm_port_add_conn(struct shm_port *port, struct shm_conn *conn)
{
	if (port->conn_num == port->conn_room) {
		uint32_t room = port->conn_room == 0 ? 4 : 2 * port->conn_room;
		struct shm_conn **more = room <= SHM_CONNS_MAX ? realloc(port->conns, room * sizeof(struct shm_conn *)) : NULL;

		if (more == NULL) {
			SF_LOG_ERR_LIMITED("no memory for connection %u of a port, or above the limit of %u", port->conn_num + 1,
					   SHM_CONNS_MAX);
			return DOCA_ERROR_NO_MEMORY;
		}
		port->conns = more;
		port->conn_room = room;
	}
	doca_error_t error = sf_shm_due_add(port, conn);

	if (error == DOCA_SUCCESS)
		port->conns[port->conn_num++] = conn;
	return error;
}

/* Moves what the agent has told to the list that is worked on. */
static void take_news(struct shm_port *port)
{
	pthread_mutex_lock(&sf_control_lock);
	atomic_store_explicit(&port->news, false, memory_order_relaxed);
	while (port->inbox != NULL) {
		struct shm_conn *conn = port->inbox;

		port->inbox = conn->next_inbox;
		conn->in_inbox = false;
		conn->todo |= conn->events;
		conn->events = 0;
		if (conn->in_todo)
			continue;
		conn->in_todo = true;
		conn->next_todo = NULL;
		*port->todo_end = conn;
		port->todo_end = &conn->next_todo;
	}
	port->inbox_end = &port->inbox;
	pthread_mutex_unlock(&sf_control_lock);
}

/* The peer's port answered our connect, or it failed. */
static uint32_t handle_connected(struct shm_port *port, struct shm_conn *conn)
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
		sf_shm_port_meet(port, conn);
		conn->sending = true;
		conn->base.state = SF_CONN_READY;
		sf_shm_due_look(conn);
	} else {
		conn->life = SHM_LIFE_OVER;
		conn->base.state = SF_CONN_CLOSED;
	}
	if (port->handler.connected == NULL)
		return 0;
	port->handler.connected(&conn->base, status, conn->data, conn->data_len);
	return 1;
}

static uint32_t handle_accepted(struct shm_port *port, struct shm_conn *conn)
{
	/* Without its listener nobody would ever learn of it. */
	if (conn->listener == NULL || sf_shm_port_add_conn(port, conn) != DOCA_SUCCESS) {
		sf_shm_conn_free(conn);
		return 0;
	}
	sf_shm_port_check(port);
	conn->life = SHM_LIFE_READY;
	sf_shm_port_meet(port, conn);
	conn->sending = true;
	conn->base.state = SF_CONN_READY;
	sf_shm_due_look(conn);
	if (port->handler.accepted == NULL)
		return 0;
	port->handler.accepted(conn->listener, &conn->base, conn->data, conn->data_len);
	return 1;
}

static uint32_t handle_request(struct shm_port *port, struct shm_conn *conn)
{
	if (port->handler.request == NULL) {
		sf_shm_conn_reject(conn->listener, &conn->request, NULL, 0);
		return 0;
	}
	port->handler.request(conn->listener, &conn->request, conn->data, conn->data_len);
	return 1;
}

/* Handles one connection's events; returns callbacks run. The connection may be gone afterwards. */
static uint32_t handle_events(struct shm_port *port, struct shm_conn *conn, uint32_t events)
{
	uint32_t ran = 0;

	if (events & SHM_EVENT_REQUEST)
		return handle_request(port, conn);
	if (events & SHM_EVENT_FORGET)
		sf_shm_conn_forget(conn);
	if (events & (SHM_EVENT_HANGUP | SHM_EVENT_JOB))
		sf_shm_conn_attend(conn);
	if (events & SHM_EVENT_HANGUP)
		conn->hangup = true;
	if (events & SHM_EVENT_ACCEPTED)
		ran += handle_accepted(port, conn);
	if (events & SHM_EVENT_CONNECTED)
		ran += handle_connected(port, conn);
	return ran;
}

/* The connection is freed: no list may have it. The agent does this too, with a connection that the port's thread never saw; what
 * is to do is that thread's, so the list is left alone then. */
void sf_shm_port_forget_conn(struct shm_port *port, struct shm_conn *conn)
{
	struct shm_conn **at;

	if (conn->in_todo) {
		for (at = &port->todo; *at != conn; at = &(*at)->next_todo)
			;
		*at = conn->next_todo;
		if (*at == NULL)
			port->todo_end = at;
	}
	for (at = &port->inbox; *at != NULL && *at != conn; at = &(*at)->next_inbox)
		;
	if (*at == conn) {
		*at = conn->next_inbox;
		if (*at == NULL)
			port->inbox_end = at;
	}
}

static uint32_t run_todo(struct shm_port *port, uint32_t budget)
{
	uint32_t ran = 0;

	while (port->todo != NULL && ran < budget) {
		struct shm_conn *conn = port->todo;
		uint32_t events = conn->todo;

		port->todo = conn->next_todo;
		if (port->todo == NULL)
			port->todo_end = &port->todo;
		conn->in_todo = false;
		conn->todo = 0;
		if (conn->released)
			port->reap = true;
		ran += handle_events(port, conn, events);
	}
	return ran;
}

static uint32_t run_done(struct shm_port *port, uint32_t budget)
{
	uint32_t ran = 0;

	while (port->done != NULL && ran < budget) {
		struct sf_op *op = port->done;

		port->done = op->next;
		if (port->done == NULL)
			port->done_end = &port->done;
		shm_conn(op->conn)->in_flight--;
		op->done(op);
		ran++;
	}
	return ran;
}

static uint32_t run_flushed(struct shm_port *port, uint32_t budget)
{
	uint32_t ran = 0;

	while (port->flushed != NULL && ran < budget) {
		struct sf_recv *recv = port->flushed;

		port->flushed = recv->next;
		if (port->flushed == NULL)
			port->flushed_end = &port->flushed;
		recv->done(recv);
		ran++;
	}
	return ran;
}

void sf_shm_port_abort_recv(struct shm_port *port, struct sf_recv *recv)
{
	recv->status = DOCA_ERROR_CONNECTION_ABORTED;
	recv->conn = NULL;
	recv->kind = SF_OP_SEND;
	recv->len = 0;
	recv->header_len = 0;
	recv->next = NULL;
	*port->flushed_end = recv;
	port->flushed_end = &recv->next;
}

/* Is the peer slow because it lacks a processor? In this process nobody is waited for. */
static bool holder_is_starved(const struct shm_conn *conn)
{
	int pid;

	pthread_mutex_lock(&sf_control_lock);
	pid = conn->handshake.channel != NULL ? conn->handshake.channel->pid : 0;
	pthread_mutex_unlock(&sf_control_lock);
	return pid != getpid() && sf_process_state(pid) == SF_PROCESS_ACTIVE;
}

/* A sender did not finish in time what is to be flushed: its connection is no good. */
static void flush_overdue(struct shm_port *port, struct shm_slot *slot)
{
	struct shm_conn *conn = sf_shm_slot_claimer(port, slot);

	if (port->far != NULL && sf_tcp_port_drop(port->far, slot)) /* it comes back as what is flushed */
		return;
	if (conn != NULL) {
		if (port->flush_deadline_ns < port->flush_last_ns && holder_is_starved(conn))
			return; /* until the next look */
		SF_LOG_WARN_LIMITED(
			"a peer has held a receive for more than a second while it was flushed: its connection is ended");
		conn->hangup = true;
		sf_shm_conn_attend(conn);
	}
	sf_shm_port_abort_recv(port, shm_recvq_finish(&port->recvq, slot));
}

static void flush_all_overdue(struct shm_port *port)
{
	for (uint32_t i = 0; i < port->recvq.slot_num; i++) {
		struct shm_slot *slot = &port->recvq.slots[i];

		if (slot->recv != NULL && slot->flushing)
			flush_overdue(port, slot);
	}
}

static void check_flushing(struct shm_port *port, uint64_t *now_ns)
{
	if (*now_ns == 0)
		*now_ns = sf_now_ns();
	if (*now_ns < port->flush_deadline_ns)
		return;
	flush_all_overdue(port);
	port->flush_deadline_ns = *now_ns + FLUSH_LOOK_NS;
}

static __attribute__((noinline)) uint32_t poll_all(struct shm_port *port, uint32_t budget)
{
	uint64_t now_ns = 0; /* read when needed */
	uint32_t ran = 0;

	if (atomic_load_explicit(&port->lends.due, memory_order_relaxed))
		sf_shm_lends_make(port); /* no receive is reported before: nobody else uses its pages yet */
	port->quiet = 0;
	port->polling = true;
	if (atomic_load_explicit(&port->news, memory_order_relaxed))
		take_news(port);
	if (port->todo != NULL) /* a connection is reported connected before what was done on it */
		ran += run_todo(port, budget);
	if (port->done != NULL)
		ran += run_done(port, budget - ran);
	if (port->recvq.flushing != 0)
		check_flushing(port, &now_ns);
	if (ran < budget)
		ran += sf_shm_due_poll(port, budget - ran, &now_ns);
	if (port->far != NULL && ran < budget)
		ran += sf_tcp_port_poll(port->far, budget - ran);
	if (port->flushed != NULL)
		ran += run_flushed(port, budget - ran);
	port->polling = false;
	if (port->recvq.damaged || port->suspect)
		sf_shm_port_check(port);
	port->suspect = false;
	if (port->reap)
		sf_shm_port_reap(port);
	return ran;
}

/* Most polls find nothing: that takes a look at each of these and no more. */
uint32_t sf_shm_port_poll(struct sf_port *base, uint32_t budget)
{
	struct shm_port *port = shm_port(base);

	if (port->done != NULL || shm_due_worth(port) || port->todo != NULL || port->flushed != NULL || port->reap ||
	    port->recvq.flushing != 0 || port->recvq.damaged || atomic_load_explicit(&port->news, memory_order_relaxed) ||
	    atomic_load_explicit(&port->lends.due, memory_order_relaxed) || port->far != NULL)
		return poll_all(port, budget);
	port->due.looks++;
	if (port->quiet < BUSY_LOOKS) {
		port->quiet++;
		shm_look_done();
	}
	return 0;
}

static bool something_due(const struct shm_port *port)
{
	if (port->done != NULL || port->flushed != NULL || port->todo != NULL || port->recvq.flushing != 0 ||
	    port->recvq.damaged || atomic_load_explicit(&port->news, memory_order_relaxed))
		return true;
	return sf_shm_due_any(port);
}

void sf_shm_port_barrier(const struct shm_port *port)
{
	SHM_FENCE(memory_order_seq_cst);
#ifdef SYS_membarrier
	if (port->conn_num != 0 && sf_shm_has_barriers())
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}

void sf_shm_port_push(struct sf_port *base)
{
	sf_shm_due_push(shm_port(base));
}

bool sf_shm_port_arm(struct sf_port *base)
{
	struct shm_port *port = shm_port(base);

	if (something_due(port))
		return true;
	uint32_t arming = atomic_load_explicit(&port->arming, memory_order_relaxed) + 1;

	arming += arming == 0;
	atomic_store_explicit(&port->arming, arming, memory_order_relaxed);
	atomic_store_explicit(&port->recvq.segment->armed, arming, memory_order_relaxed);
	sf_shm_port_barrier(port);
	return something_due(port) || (port->far != NULL && sf_tcp_port_arm(port->far));
}

static uint64_t lend_name(struct shm_port *port, const struct sf_recv *recv)
{
	const struct shm_known_piece *known = shm_lends_known(&port->lends, recv->iov);

	if (recv->iov_num == 1 && !recv->kept && shm_piece_is_known(&port->lends, known, shm_region(recv->region)->id, recv->iov))
		return known->lent;
	return shm_domain(port->base.domain)->by_network ? 0 : sf_shm_lend_name(port, recv);
}

doca_error_t sf_shm_port_post_recv(struct sf_port *base, struct sf_recv *recv)
{
	struct shm_port *port = shm_port(base);
	uint64_t len, lent = 0;
	doca_error_t error = sf_recv_check(base, recv, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (recv->iov_num != 0)
		lent = lend_name(port, recv);
	if (port->far == NULL)
		return sf_shm_recvq_post(&port->recvq, recv, (uint32_t)len, lent);
	sf_tcp_port_lock(port->far);
	error = sf_shm_recvq_post(&port->recvq, recv, (uint32_t)len, lent);
	sf_tcp_port_posted(port->far);
	return error;
}

static void flush_taken(struct sf_recv *recv, void *user)
{
	sf_shm_port_abort_recv(user, recv);
}

void sf_shm_port_flush_recvs(struct sf_port *base)
{
	struct shm_port *port = shm_port(base);

	sf_shm_recvq_flush(&port->recvq, flush_taken, port);
	if (port->far != NULL)
		sf_tcp_port_flushed(port->far);
	if (port->recvq.flushing == 0)
		return;
	port->flush_deadline_ns = sf_now_ns() + FLUSH_LIMIT_NS;
	port->flush_last_ns = port->flush_deadline_ns + FLUSH_STARVED_NS;
}
