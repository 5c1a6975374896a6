/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a peer may have written into shared memory: records in a link's ring, and entries of posted receives. Two ports of this
 * process are joined, one end's memory is scribbled over, and both go on: nothing is touched that is not theirs, and every
 * receive and operation still ends once.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabric/shm/link.h"

#define RECVS 8
#define SENDS 4
#define BUFFER 4096
#define POLLS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct end {
	struct sf_domain *domain;
	struct sf_region *region;
	struct sf_port *port;
	struct sf_link *link;
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

static void connected(struct sf_link *link, doca_error_t status, const void *data, size_t len)
{
	assert(status == DOCA_SUCCESS);
	a.link = link;
}

static void accepted(struct sf_listener *listener, struct sf_link *link, const void *data, size_t len)
{
	b.link = link;
}

static void end_open(struct end *end)
{
	static const struct sf_port_handler handler = {.accepted = accepted, .connected = connected};
	const struct sf_fabric_ops *shm = sf_fabric_find("shm");

	end->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert(sf_domain_open(shm, "fuzz", &end->domain) == DOCA_SUCCESS);
	assert(sf_region_register(end->domain, memory, sizeof(memory), 0, &end->region) == DOCA_SUCCESS);
	assert(sf_port_open(end->domain, &handler, RECVS, end->event, &end->port) == DOCA_SUCCESS);
	end->link = NULL;
}

static void end_close(struct end *end)
{
	sf_port_close(end->port);
	sf_region_close(end->region);
	sf_domain_close(end->domain);
	close(end->event);
}

static void poll_both(void)
{
	sf_port_poll(a.port, POLLS);
	sf_port_poll(b.port, POLLS);
}

static void post_all(void)
{
	for (int i = 0; i < RECVS; i++) {
		struct receive *r = &receives[i];

		if (r->posted)
			continue;
		r->iov = (struct sf_iov){memory + i * BUFFER, BUFFER};
		r->recv = (struct sf_recv){.done = received, .region = b.region, .iov_num = 1, .iov = &r->iov};
		r->posted = sf_port_post_recv(b.port, &r->recv) == DOCA_SUCCESS;
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
		s->in_flight = sf_link_submit(a.link, &s->op) == DOCA_SUCCESS;
	}
}

/* As a peer of b's would: into the ring that b reads. */
static void scribble_ring(const uint8_t *data, size_t size)
{
	struct shm_rx *rx = &shm_link(b.link)->rx;

	memcpy(rx->ring + (size_t)rx->pos * SHM_LINE, data, size < SHM_RING_SIZE ? size : SHM_RING_SIZE);
}

/* As the owner of a's receives would, which are b's: everything but the state, which claiming needs. */
static void scribble_entries(const uint8_t *data, size_t size)
{
	struct shm_port_segment *segment = shm_port(b.port)->recvq.segment;
	size_t each = sizeof(struct shm_entry) - sizeof(uint64_t);

	for (uint32_t i = 0; i < shm_port(b.port)->recvq.entries && size != 0; i++) {
		size_t part = size < each ? size : each;

		memcpy((uint8_t *)&segment->entry[i] + sizeof(uint64_t), data, part);
		data += part;
		size -= part;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[] = "/tmp/softfield-fuzz-XXXXXX";
	static bool ready;
	struct sf_listener *listener;
	struct sf_link *link;

	if (size < 3)
		return 0;
	if (!ready)
		setenv("SOFTFIELD_RUNTIME", mkdtemp(folder), 1);
	ready = true;
	end_open(&a);
	end_open(&b);
	post_all();
	assert(sf_listener_open(b.port, "fuzz", SF_LISTEN_AUTO, NULL, &listener) == DOCA_SUCCESS);
	assert(sf_link_connect(a.port, "fuzz", NULL, 0, NULL, &link) == DOCA_SUCCESS);
	while (a.link == NULL || b.link == NULL)
		poll_both();
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
	sf_link_disconnect(a.link);
	for (int i = 0; i < SENDS; i++) {
		while (sendings[i].in_flight)
			poll_both();
	}
	sf_link_close(a.link);
	sf_link_close(b.link);
	sf_port_flush_recvs(b.port);
	for (int i = 0; i < RECVS; i++) {
		while (receives[i].posted)
			poll_both();
	}
	sf_listener_close(listener);
	end_close(&a);
	end_close(&b);
	return 0;
}
