/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may have written into shared memory: records in a connection's ring, and entries of posted receives. Two endpoints
 * of this process are connected, one end's memory is overwritten, and both continue: nothing outside their memory is touched, and
 * every receive and operation still ends once.
 *
 * Creating two endpoints and a connection costs a hundred times what an input does (threads, sockets, memory). Therefore the pair
 * is kept, and before each input everything that an input can change is reset to its initial state. One input in LIVES, and
 * always the first, also uses a new pair, which is closed afterwards.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/shm/conn.h"
#include "fuzz_folder.h"

#define RECVS 8
#define SENDS 4
#define BUFFER 4096
#define POLLS 64
#define LIVES 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct end {
	struct sf_domain *domain;
	struct sf_region *region;
	struct sf_ep *ep;
	struct sf_conn *conn;
	int event;
};

struct receive {
	struct sf_recv recv;
	struct sf_iov iov;
	bool posted;
};

struct sending {
	struct sf_op op;
	struct sf_iov iov;
	bool in_flight;
};

static struct end a, b;
static struct sf_listener *listening;
static struct receive receives[RECVS];
static struct sending sendings[SENDS];
static char memory[RECVS * BUFFER] __attribute__((aligned(4096))), text[RECVS * BUFFER];

static void received(struct sf_recv *recv)
{
	struct receive *r = (struct receive *)recv;

	assert(r->posted && recv->len <= BUFFER && recv->header_len <= SF_HEADER_MAX);
	r->posted = false;
}

static void sent(struct sf_op *op)
{
	struct sending *s = (struct sending *)op;

	assert(s->in_flight);
	s->in_flight = false;
}

static void connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	assert(status == DOCA_SUCCESS);
	a.conn = conn;
}

static void accepted(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	b.conn = conn;
}

static void end_open(struct end *end)
{
	static const struct sf_ep_handler handler = {.accepted = accepted, .connected = connected};
	const struct sf_fabric_ops *shm = sf_fabric_find("shm");

	end->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert(sf_domain_open(shm, "fuzz", &end->domain) == DOCA_SUCCESS);
	assert(sf_region_register(end->domain, memory, sizeof(memory), 0, &end->region) == DOCA_SUCCESS);
	assert(sf_ep_open(end->domain, &handler, RECVS, end->event, &end->ep) == DOCA_SUCCESS);
	end->conn = NULL;
}

static void end_close(struct end *end)
{
	sf_ep_close(end->ep);
	sf_region_close(end->region);
	sf_domain_close(end->domain);
	close(end->event);
}

static void poll_both(void)
{
	sf_ep_poll(a.ep, POLLS);
	sf_ep_poll(b.ep, POLLS);
}

static void post_all(void)
{
	for (int i = 0; i < RECVS; i++) {
		struct receive *r = &receives[i];

		if (r->posted)
			continue;
		r->iov = (struct sf_iov){memory + i * BUFFER, BUFFER};
		r->recv = (struct sf_recv){.done = received, .region = b.region, .iov_num = 1, .iov = &r->iov};
		r->posted = sf_ep_post_recv(b.ep, &r->recv) == DOCA_SUCCESS;
	}
}

static void send_some(size_t len)
{
	for (int i = 0; i < SENDS; i++) {
		struct sending *s = &sendings[i];

		if (s->in_flight)
			continue;
		s->iov = (struct sf_iov){text, len * (size_t)i % sizeof(text)};
		s->op = (struct sf_op){.done = sent, .kind = SF_OP_SEND, .iov_num = 1, .iov = &s->iov};
		s->in_flight = sf_conn_submit(a.conn, &s->op) == DOCA_SUCCESS;
	}
}

/* Writes, like a peer of b, into the ring that b reads. */
static void scribble_ring(const uint8_t *data, size_t size)
{
	struct shm_rx *rx = &shm_conn(b.conn)->rx;

	memcpy(rx->ring + (size_t)rx->pos * SHM_LINE, data, size < SHM_RING_SIZE ? size : SHM_RING_SIZE);
}

/* Writes, like the owner of a's receives, which is b: everything except the state, which claiming needs. */
static void scribble_entries(const uint8_t *data, size_t size)
{
	struct shm_ep_segment *segment = shm_ep(b.ep)->recvq.segment;
	size_t each = sizeof(struct shm_entry) - sizeof(uint64_t);

	for (uint32_t i = 0; i < shm_ep(b.ep)->recvq.entries && size != 0; i++) {
		size_t part = size < each ? size : each;

		memcpy((uint8_t *)&segment->entry[i] + sizeof(uint64_t), data, part);
		data += part;
		size -= part;
	}
}

static void open_both(void)
{
	struct sf_conn *conn;

	end_open(&a);
	end_open(&b);
	assert(sf_listener_open(b.ep, "fuzz", SF_LISTEN_AUTO, NULL, &listening) == DOCA_SUCCESS);
	assert(sf_conn_connect(a.ep, "fuzz", NULL, NULL, 0, NULL, &conn) == DOCA_SUCCESS);
	while (a.conn == NULL || b.conn == NULL)
		poll_both();
}

static void wait_for_sends(void)
{
	for (int i = 0; i < SENDS; i++) {
		while (sendings[i].in_flight)
			poll_both();
	}
}

static void take_back_receives(void)
{
	sf_ep_flush_recvs(b.ep);
	for (int i = 0; i < RECVS; i++) {
		while (receives[i].posted)
			poll_both();
	}
}

static void close_both(void)
{
	sf_conn_disconnect(a.conn);
	wait_for_sends();
	sf_conn_close(a.conn);
	sf_conn_close(b.conn);
	take_back_receives();
	sf_listener_close(listening);
	end_close(&a);
	end_close(&b);
}

static void use_both(const uint8_t *data, size_t size)
{
	post_all();
	if (data[0] & 1)
		send_some(data[1]);
	if (data[0] & 2)
		scribble_entries(data + 2, size - 2);
	if (data[0] & 4)
		scribble_ring(data + 2, size - 2);
	if (data[0] & 8)
		send_some((size_t)data[1] << 8);
	for (int i = 0; i < 4; i++) {
		poll_both();
		if (data[0] & 16)
			post_all();
	}
}

/* ---- a pair that lives on ---- */

static struct shm_conn new_conn[2]; /* as when a's and b's were new */

/* From here on the agent does not take part in the connections: an input cannot close descriptors that it does not own. */
static void pair_keep(void)
{
	struct sf_conn *conns[2] = {a.conn, b.conn};

	for (int i = 0; i < 2; i++) {
		shm_conn(conns[i])->handshake.channel = NULL;
		new_conn[i] = *shm_conn(conns[i]);
	}
}

static void ep_renew(struct shm_ep *ep, struct shm_conn *conn)
{
	struct shm_recvq *queue = &ep->recvq;
	struct shm_due *due = &ep->due;

	memset(queue->segment, 0, shm_ep_segment_size(queue->entries));
	queue->segment->hint = queue->ticket = queue->entries;
	queue->first = queue->epoch = 0;
	queue->damaged = ep->suspect = ep->reap = false;
	queue->free = 0;
	for (uint32_t i = 0; i < queue->entries; i++)
		queue->at[i] = SHM_NOBODY;
	for (uint32_t i = 0; i < queue->slot_num; i++)
		queue->slots[i] = (struct shm_slot){.next = i + 1 < queue->slot_num ? i + 1 : SHM_NOBODY};
	due->hot_num = due->first = 0;
	due->ready = due->ahead = due->attentive = NULL;
	due->ready_end = &due->ready;
	memset(due->early, 0, sizeof(due->early));
	due->by_slot[conn->slot] = conn;
	queue->segment->cold[conn->slot / 64] = UINT64_C(1) << conn->slot % 64;
	ep->conns[0] = conn;
	ep->conn_num = 1;
}

static void pair_renew(void)
{
	struct sf_conn *conns[2] = {a.conn, b.conn};

	assert(shm_ep(b.ep)->recvq.posted == 0);
	for (int i = 0; i < 2; i++) {
		struct shm_conn *conn = shm_conn(conns[i]), *next_all = conn->next_all;

		assert(conn->in_flight == 0 && !conn->in_todo && !conn->in_inbox);
		memset(conn->segment, 0, sizeof(*conn->segment));
		memset(conn->rx.ring, 0, SHM_RING_SIZE);
		new_conn[i].lent_num = conn->lent_num;
		new_conn[i].peer = conn->peer;
		memcpy(new_conn[i].lent, conn->lent, sizeof(conn->lent));
		*conn = new_conn[i];
		conn->next_all = next_all;
		conn->added = true;
		conn->hot = conn->is_ready = conn->in_attentive = conn->attention = false;
		conn->peer_ep->cursor = conn->peer_ep->epoch = 0;
		ep_renew(shm_ep(conn->base.ep), conn);
	}
}

/* Acts as when the agent has detected the peer's death. */
static void hang_up(struct sf_conn *base)
{
	struct shm_conn *conn = shm_conn(base);
	struct shm_due *due = &shm_ep(base->ep)->due;

	conn->hangup = conn->attention = true;
	if (conn->in_attentive || conn->life == SHM_LIFE_OVER)
		return;
	conn->in_attentive = true;
	conn->next_attentive = due->attentive;
	due->attentive = conn;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct end kept[2];
	static uint64_t inputs;

	if (size < 3)
		return 0;
	if (inputs == 0)
		(void)fuzz_folder_make();
	if (inputs++ % LIVES == 0) {
		open_both();
		use_both(data, size);
		close_both();
		if (inputs == 1) {
			open_both();
			sf_listener_close(listening);
			pair_keep();
		} else {
			a = kept[0];
			b = kept[1];
		}
	}
	pair_renew();
	use_both(data, size);
	sf_conn_disconnect(a.conn);
	wait_for_sends();
	hang_up(b.conn);
	while (shm_conn(b.conn)->life != SHM_LIFE_OVER)
		poll_both();
	take_back_receives();
	kept[0] = a;
	kept[1] = b;
	return 0;
}
