/* SPDX-License-Identifier: BSD-3-Clause */
/* Random operations of all kinds, from a printed seed; and memory of every kind. */
#include "conformance.h"
#include "support/descriptors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define OTHER SF_CAP_OTHER_PROCESS

/* A random life: connections come and go between a few endpoints while messages cross. What is checked: every accepted operation
 * and every posted receive is done exactly once, what arrives is whole, in order on its connection, and from that connection. */

enum { LIFE_ENDS = 3, LIFE_CONNS = 6, LIFE_SENDS = 4, LIFE_SLOTS = 6, LIFE_ROOM = 40000, LIFE_STEPS = 20000 };

struct life_conn {
	struct sf_conn *conn; /* our connection, or NULL */
	struct end *end;
	bool ready, closed; /* as reported */
	bool left;	    /* disconnected by us; earlier events may still be reported */
	uint32_t number;    /* of the connection; the accepter knows it from the private data */
	uint32_t sent, received;
	struct send sends[LIFE_SENDS];
	char *buffers[LIFE_SENDS];
};

struct life {
	struct end ends[LIFE_ENDS];
	struct slot slots[LIFE_ENDS][LIFE_SLOTS];
	struct life_conn out[LIFE_CONNS], in[LIFE_CONNS]; /* those with the same number are connected to each other */
	uint32_t seed, numbers, arrived;
};

static struct life *life;

struct life_header {
	uint32_t number, sequence, len;
};

static struct life_conn *life_find(const struct sf_conn *conn)
{
	for (int i = 0; i < LIFE_CONNS; i++) {
		if (life->out[i].conn == conn)
			return &life->out[i];
		if (life->in[i].conn == conn)
			return &life->in[i];
	}
	return NULL;
}

static void life_accepted(struct end *end, struct sf_conn *conn)
{
	end->accepts = 0;
	for (int i = 0; i < LIFE_CONNS; i++) {
		struct life_conn *in = &life->in[i];

		if (in->conn != NULL)
			continue;
		in->conn = conn;
		in->end = end;
		in->ready = true;
		in->closed = in->left = false;
		CHECK(end->data_len == sizeof(in->number));
		memcpy(&in->number, end->data, sizeof(in->number));
		in->sent = in->received = 0;
		return;
	}
	sf_conn_close(conn); /* more than this end keeps: the peer sees it close */
}

static void life_connected(struct end *end, struct sf_conn *conn)
{
	struct life_conn *out = life_find(conn);

	CHECK(out != NULL && !out->ready);
	out->ready = end->connect_status == DOCA_SUCCESS;
	out->closed = !out->ready && !out->left;
}

static void life_closed(struct end *end, struct sf_conn *conn)
{
	struct life_conn *it = life_find(conn);

	CHECK(it != NULL && it->ready && !it->closed && !it->left);
	CHECK_RESULT(end->close_reason, DOCA_ERROR_CONNECTION_RESET);
	it->closed = true;
}

static void life_received(struct slot *slot)
{
	struct life_header header;
	struct life_conn *it;

	if (slot->recv.status != DOCA_SUCCESS) {
		CHECK(slot->recv.conn == NULL);
		return;
	}
	it = life_find(slot->recv.conn);
	CHECK(it != NULL && !it->closed && it->end == slot->end);
	CHECK(slot->recv.header_len == sizeof(header));
	memcpy(&header, slot->recv.header, sizeof(header));
	CHECK(header.number == it->number && header.sequence == it->received++);
	CHECK(header.len == slot->recv.len && filled(slot->pieces[0].addr, header.len, header.number + header.sequence));
	life->arrived++;
}

static void life_send(struct life_conn *it)
{
	uint32_t i = it->sent % LIFE_SENDS;
	struct send *send = &it->sends[i];
	struct life_header *header = (struct life_header *)it->buffers[i];
	doca_error_t result;

	if (send->op.conn != NULL && send->done == 0)
		return;
	header->number = it->number;
	header->sequence = it->sent;
	header->len = random_below(&life->seed, random_below(&life->seed, 4) == 0 ? LIFE_ROOM : 200);
	fill(header + 1, header->len, header->number + header->sequence);
	send_set(send, header + 1, header->len);
	send->op.header = header;
	send->op.header_len = sizeof(*header);
	result = submit(it->conn, send);
	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN || result == DOCA_ERROR_NOT_CONNECTED);
	if (result == DOCA_SUCCESS)
		it->sent++;
	else
		send->op.conn = NULL;
}

static bool life_idle(const struct life_conn *it)
{
	for (int i = 0; i < LIFE_SENDS; i++) {
		if (it->sends[i].op.conn != NULL && it->sends[i].done == 0)
			return false;
	}
	return true;
}

/* Closes what may be closed, either immediately or when nothing is in flight. */
static void life_end(struct life_conn *it)
{
	sf_conn_disconnect(it->conn);
	it->left = true; /* our own closed callback does not run */
	WAIT(life_idle(it));
	for (int i = 0; i < LIFE_SENDS; i++)
		it->sends[i].op.conn = NULL;
	sf_conn_close(it->conn);
	it->conn = NULL;
	it->ready = false;
}

static void life_connect(struct life_conn *out)
{
	struct end *from = &life->ends[random_below(&life->seed, LIFE_ENDS)],
		   *to = &life->ends[random_below(&life->seed, LIFE_ENDS)];

	out->end = from;
	out->number = ++life->numbers;
	out->sent = out->received = 0;
	out->ready = out->closed = out->left = false;
	CHECK_OK(sf_conn_connect(from->ep, to->name, NULL, &out->number, sizeof(out->number), NULL, &out->conn));
}

static void life_step(void)
{
	uint32_t what = random_below(&life->seed, 100), which = random_below(&life->seed, LIFE_CONNS);
	struct life_conn *it = random_below(&life->seed, 2) == 0 ? &life->out[which] : &life->in[which];
	struct end *end = &life->ends[random_below(&life->seed, LIFE_ENDS)];

	if (what < 40) {
		if (it->conn != NULL)
			life_send(it);
	} else if (what < 60) {
		struct slot *slot = &life->slots[end - life->ends][random_below(&life->seed, LIFE_SLOTS)];

		if (slot->done != 0) {
			slot->done = 0;
			CHECK_OK(slot_post_set(slot));
		}
	} else if (what < 95) {
		end_poll(end, random_below(&life->seed, 6));
	} else if (what == 95) {
		if (it->conn != NULL)
			life_end(it);
	} else if (what == 96 && random_below(&life->seed, 10) == 0) {
		sf_ep_flush_recvs(end->ep);
	} else if (life->out[which].conn == NULL) {
		life_connect(&life->out[which]);
	}
}

static void life_finish(void)
{
	bool ended;

	for (int i = 0; i < LIFE_CONNS; i++) {
		if (life->out[i].conn != NULL)
			life_end(&life->out[i]);
	}
	/* Ending a connection polls, so another one may be reported. */
	do {
		ended = false;
		for (int i = 0; i < LIFE_CONNS; i++) {
			if (life->in[i].conn == NULL)
				continue;
			life_end(&life->in[i]);
			ended = true;
		}
	} while (ended);
	/* Before the next poll: connections accepted but not yet reported are never reported. */
	for (int i = 0; i < LIFE_ENDS; i++) {
		sf_listener_close(life->ends[i].listener);
		life->ends[i].listener = NULL;
	}
	for (int i = 0; i < LIFE_ENDS; i++)
		end_close(&life->ends[i]);
	for (int i = 0; i < LIFE_ENDS * LIFE_SLOTS; i++)
		CHECK(life->slots[i / LIFE_SLOTS][i % LIFE_SLOTS].done == 1);
	for (int i = 0; i < LIFE_CONNS * LIFE_SENDS; i++) {
		free(life->out[i / LIFE_SENDS].buffers[i % LIFE_SENDS]);
		free(life->in[i / LIFE_SENDS].buffers[i % LIFE_SENDS]);
	}
}

static void a_random_life(void)
{
	life = calloc(1, sizeof(*life));
	life->seed = seed_new();
	for (int i = 0; i < LIFE_CONNS * LIFE_SENDS; i++) {
		life->out[i / LIFE_SENDS].buffers[i % LIFE_SENDS] = malloc(LIFE_ROOM + sizeof(struct life_header));
		life->in[i / LIFE_SENDS].buffers[i % LIFE_SENDS] = malloc(LIFE_ROOM + sizeof(struct life_header));
	}
	for (uint32_t e = 0; e < LIFE_ENDS; e++) {
		struct end *end = &life->ends[e];

		end_open(end, e == 0 ? "dpu0/0000:03:00.0" : "host0/0000:d8:00.0", LIFE_SLOTS);
		end->on_accepted = life_accepted;
		end->on_connected = life_connected;
		end->on_closed = life_closed;
		end_listen(end, SF_LISTEN_AUTO);
		for (uint32_t s = 0; s < LIFE_SLOTS; s++) {
			slot_set(end, &life->slots[e][s], s * LIFE_ROOM, LIFE_ROOM);
			life->slots[e][s].then = life_received;
			life->slots[e][s].done = 1;
		}
	}
	/* The agent connects at its own pace, so continue until a message has arrived. */
	for (int i = 0; i < LIFE_STEPS || life->arrived == 0; i++)
		life_step();
	life_finish();
	free(life);
}

/* Memory other than private anonymous pages: receives and one-sided operations work there too. */

static char static_memory[100000];

static void exchange(struct pair *pair, char *memory, size_t len)
{
	struct sf_region *region, *import;
	struct slot slot;
	struct send send;

	CHECK_OK(sf_region_register(pair->b.domain, memory, len, ALL_RIGHTS, &region));
	for (uint32_t i = 0; i < 12; i++) {
		size_t at = i % 3 * 7, part = i % 2 == 0 ? 50 : len - at;

		slot_set(&pair->b, &slot, 0, 1);
		slot.recv.region = region;
		slot.pieces[0] = (struct sf_iov){memory + at, part};
		CHECK_OK(slot_post_set(&slot));
		fill(pair->a.memory, part, i);
		send_wait(pair->ab, pair->a.memory, part);
		WAIT(slot.done == 1);
		CHECK_OK(slot.recv.status);
		CHECK(filled(memory + at, part, i));
	}
	import = region_pass(region, pair->a.domain);
	fill(pair->a.memory, len, 77);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr, pair->a.memory, len);
	CHECK_OK(submit_wait(pair->ab, &send));
	CHECK(filled(memory, len, 77));
	memset(pair->a.memory, 0, len);
	one_sided_set(&send, SF_OP_READ, import, import->addr, pair->a.memory, len);
	CHECK_OK(submit_wait(pair->ab, &send));
	CHECK(filled(pair->a.memory, len, 77));
	sf_region_close(import);
	sf_region_close(region);
	CHECK(filled(memory, len, 77));
}

static void memory_of_every_kind(void)
{
	char *heap = malloc(150001), *small = malloc(200), stack[20000];
	char *shared = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("conformance", MFD_CLOEXEC);
	struct pair pair;
	char *file;

	CHECK(ftruncate(fd, 65536) == 0);
	file = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED && file != MAP_FAILED);
	pair_open(&pair, 4);
	exchange(&pair, heap, 150001);
	exchange(&pair, small, 200);
	exchange(&pair, stack, sizeof(stack));
	exchange(&pair, static_memory, sizeof(static_memory));
	exchange(&pair, shared, 65536);
	exchange(&pair, file + 100, 60000);
	pair_close(&pair);
	free(heap);
	free(small);
	munmap(shared, 65536);
	munmap(file, 65536);
	close(fd);
}

/* Any thread may register and close regions. */

static struct end *registering_end;

static void *registering_thread(void *arg)
{
	char descriptor[SF_DESCRIPTOR_MAX], *memory = (char *)arg;
	struct sf_region *regions[3], *import;

	for (int i = 0; i < (slow_build() ? 50 : 300); i++) {
		for (uint32_t r = 0; r < 3; r++) { /* overlapping regions */
			size_t len = sizeof(descriptor);

			CHECK_OK(sf_region_register(registering_end->domain, memory + r * 5000, 20000, ALL_RIGHTS, &regions[r]));
			CHECK_OK(sf_region_export(regions[r], descriptor, &len));
			CHECK_OK(sf_region_import(registering_end->domain, descriptor, len, &import));
			sf_region_close(import);
		}
		for (uint32_t r = 0; r < 3; r++)
			sf_region_close(regions[(r + (uint32_t)i) % 3]);
	}
	return NULL;
}

static void regions_come_and_go_on_other_threads(void)
{
	pthread_t threads[2];
	struct slot slot;
	struct pair pair;
	char *memory;

	pair_open(&pair, 4);
	memory = pair.b.memory + (8 << 20);
	fill(memory, 60000, 9);
	registering_end = &pair.b;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, registering_thread, memory + i * 10000) == 0);
	for (uint32_t i = 0; i < (slow_build() ? 500u : 3000u); i++) {
		CHECK_OK(slot_post(&pair.b, &slot, 0, 50000));
		fill(pair.a.memory, i % 50000, i);
		send_wait(pair.ab, pair.a.memory, i % 50000);
		WAIT(slot.done == 1);
		CHECK(filled(pair.b.memory, i % 50000, i));
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK(filled(memory, 60000, 9));
	pair_close(&pair);
}

/* Survivors release what dead processes held. */

static void dying_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX], name[SF_NAME_MAX];
	struct sf_region *import;
	struct sf_conn *conn;
	struct slot slot;
	struct send send;
	struct end end;
	size_t len;

	end_open(&end, "host0/0000:d8:00.0", 4);
	hear_name(sock, name);
	hear(sock, &len, sizeof(len));
	hear(sock, descriptor, sizeof(descriptor));
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	CHECK_OK(end.connect_status);
	CHECK_OK(slot_post(&end, &slot, 0, 60000));
	CHECK_OK(sf_region_import(end.domain, descriptor, len, &import));
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 10, end.memory, 50000);
	CHECK_OK(submit_wait(conn, &send));
	WAIT(slot.done == 1);
	say_word(sock, 'd');
	WAIT_WITHIN(3600000, false);
}

enum { DEATHS = 12 };

static void dead_peers_leave_nothing_behind(void)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	struct peer peers[DEATHS];
	uint32_t fds = 0;
	int mappings = 0;
	struct end end;

	for (int i = 0; i < DEATHS; i++)
		peer_fork(&peers[i], dying_script);
	end_open(&end, "dpu0/0000:03:00.0", 4);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK_OK(sf_region_export(end.region, descriptor, &len));
	for (uint32_t i = 0; i < DEATHS; i++) {
		if (i == 2) {
			fds = num_descriptors();
			mappings = mappings_num();
		}
		say_name(peers[i].sock, end.name);
		say(peers[i].sock, &len, sizeof(len));
		say(peers[i].sock, descriptor, sizeof(descriptor));
		WAIT(end.accepts == i + 1);
		send_wait(end.accepted[i], end.memory, 60000);
		hear_word(peers[i].sock, 'd');
		peer_kill(&peers[i]);
		WAIT(end.closes == i + 1);
		sf_conn_close(end.accepted[i]);
	}
	/* each round also closed its socket to the peer */
	CHECK(num_descriptors() + (DEATHS - 2) <= fds + 1);
	CHECK(slow_build() || mappings_num() <= mappings + 4);
	end_close(&end);
}

const struct conformance_case soak_cases[] = {
	CASE(a_random_life, 0),
	CASE(memory_of_every_kind, SF_CAP_ONE_SIDED),
	CASE(regions_come_and_go_on_other_threads, SF_CAP_ONE_SIDED),
	CASE(dead_peers_leave_nothing_behind, OTHER | SF_CAP_ONE_SIDED),
	{0},
};
