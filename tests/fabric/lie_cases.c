/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that writes garbage wherever it can. It may lose its connection, but never causes a crash, a hang, or the end of
 * another connection. */
#include "conformance.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_SIDED (SF_CAP_OTHER_PROCESS | SF_CAP_ONE_SIDED)

enum { SLOTS = 8, ROOM = 30000, SPANS_MAX = 64, LIES = 12, LIES_SLOW = 3 };

struct span {
	uint64_t *words;
	size_t num;
};

/* Lists this process's writable shared mappings whose name contains the word: what the provider shares with its peers. */
static uint32_t shared_spans(struct span *spans, const char *word)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], perms[5];
	unsigned long start, end;
	uint32_t num = 0;

	CHECK(file != NULL);
	while (num < SPANS_MAX && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3 || perms[1] != 'w' || perms[3] != 's')
			continue;
		if (strstr(line, word) == NULL ||
		    strstr(line, "/dev/") != NULL) /* queues of a device are shared with the kernel, not with a peer */
			continue;
		/* only the beginning of a large mapping matters */
		spans[num++] = (struct span){(uint64_t *)start, (end - start < 65536 ? end - start : 65536) / sizeof(uint64_t)};
	}
	fclose(file);
	return num;
}

static void lie(const struct span *span, uint32_t *seed)
{
	uint64_t *word = &span->words[random_below(seed, (uint32_t)span->num)];
	uint64_t value = (uint64_t)random_below(seed, 1 << 24) << 40 ^ random_below(seed, 1 << 24);
	uint32_t mark;

	switch (random_below(seed, 6)) {
	case 0:
		__atomic_store_n(word, 0, __ATOMIC_RELAXED);
		break;
	case 1:
		__atomic_store_n(word, UINT64_MAX, __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_fetch_xor(word, UINT64_C(1) << random_below(seed, 64), __ATOMIC_RELAXED);
		break;
	case 3:
		__atomic_fetch_add(word, random_below(seed, 3) - 1, __ATOMIC_RELAXED);
		break;
	case 4:
		mark = random_below(seed, 8) | random_below(seed, 64) << 8 | random_below(seed, 70) << 16;
		__atomic_store_n((uint32_t *)word, mark, __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n(word, value, __ATOMIC_RELAXED);
	}
}

static void lying_script(int sock)
{
	char name[SF_NAME_MAX], descriptor[SF_DESCRIPTOR_MAX], only[16];
	static struct slot slots[4];
	static struct send sends[4];
	struct span spans[SPANS_MAX];
	struct sf_region *import;
	struct sf_conn *conn;
	uint32_t seed, num;
	struct end end;
	size_t len;

	signal(SIGSEGV, SIG_DFL);
	hear(sock, &seed, sizeof(seed));
	hear(sock, only, sizeof(only));
	hear_name(sock, name);
	hear(sock, &len, sizeof(len));
	hear(sock, descriptor, sizeof(descriptor));
	end_open(&end, "host0/0000:d8:00.0", 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_OK(slot_post(&end, &slots[i], i * ROOM, ROOM));
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	CHECK_OK(sf_region_import(end.domain, descriptor, len, &import));
	num = shared_spans(spans, only);
	for (uint32_t i = 0; i < 4; i++) {
		send_set(&sends[i], end.memory, i % 2 == 0 ? 64 : ROOM);
		(void)submit(conn, &sends[i]);
	}
	say_word(sock, 'l');
	for (;;) { /* until killed */
		for (int i = 0; num != 0 && i < 1 + (int)random_below(&seed, 400); i++)
			lie(&spans[random_below(&seed, num)], &seed);
		if (random_below(&seed, 8) == 0)
			sched_yield();
	}
}

struct lied {
	struct end end;
	struct slot slots[SLOTS];
	struct sf_conn *honest;
	uint32_t echoes, asked;
	struct send ask, sends[6];
};

static struct lied *lied;

static void lied_received(struct slot *slot)
{
	if (slot->recv.status == DOCA_SUCCESS) {
		CHECK(slot->recv.len <= ROOM && slot->recv.header_len <= SF_HEADER_MAX && slot->recv.conn != NULL);
		lied->echoes += slot->recv.conn == lied->honest;
	}
	(void)slot_post_set(slot); /* the liar may have used up the receives */
}

static void ask(void)
{
	if (lied->ask.done == 0 || lied->echoes != lied->asked)
		return;
	send_set(&lied->ask, "truth", 6);
	if (submit(lied->honest, &lied->ask) == DOCA_SUCCESS)
		lied->asked++;
	else
		lied->ask.done = 1;
}

static void talk(struct sf_conn *liar, uint32_t ms)
{
	uint64_t until = sf_now_ms() + ms;

	for (int i = 0; i < 6; i++)
		lied->sends[i].done = 1;
	for (uint32_t n = 0; sf_now_ms() < until; n++) {
		struct send *send = &lied->sends[n % 6];

		if (send->done != 0 && liar->state == SF_CONN_READY) {
			send_set(send, lied->end.memory + (4 << 20), n % 3 == 0 ? ROOM : 40);
			if (submit(liar, send) != DOCA_SUCCESS)
				send->done = 1;
		}
		ask();
		end_poll(&lied->end, 8);
		(void)sf_ep_arm(lied->end.ep);
	}
}

static bool sends_done(void)
{
	for (int i = 0; i < 6; i++) {
		if (lied->sends[i].done == 0)
			return false;
	}
	return true;
}

/* Echoes every message. */
static void honest_script(int sock)
{
	char name[SF_NAME_MAX];
	struct sf_conn *conn;
	struct slot slot;
	struct send send;
	struct end end;

	hear_name(sock, name);
	end_open(&end, "host0/0000:d8:00.0", 4);
	conn = end_connect(&end, name);
	WAIT(end.connects == 1);
	CHECK_OK(end.connect_status);
	while (end.closes == 0) {
		CHECK_OK(slot_post(&end, &slot, 0, 64));
		WAIT_WITHIN(3600000, slot.done == 1 || end.closes == 1);
		if (slot.done == 0)
			continue;
		send_set(&send, end.memory, slot.recv.len);
		WAIT_WITHIN(3600000, end.closes == 1 || submit(conn, &send) != DOCA_ERROR_AGAIN);
		WAIT(end.closes == 1 || send.done == 1);
	}
	sf_conn_close(conn);
	end_close(&end);
}

static uint32_t liars_num(void)
{
	return slow_machine() ? LIES_SLOW : LIES;
}

static void lied_open(struct peer *honest)
{
	lied = calloc(1, sizeof(*lied));
	lied->ask.done = 1;
	end_open(&lied->end, "dpu0/0000:03:00.0", SLOTS);
	end_listen(&lied->end, SF_LISTEN_AUTO);
	for (uint32_t i = 0; i < SLOTS; i++) {
		slot_set(&lied->end, &lied->slots[i], i * ROOM, ROOM);
		lied->slots[i].then = lied_received;
		CHECK_OK(slot_post_set(&lied->slots[i]));
	}
	say_name(honest->sock, lied->end.name);
	WAIT(lied->end.accepts == 1);
	lied->honest = lied->end.accepted[0];
}

static void meet_liar(struct peer *liar, uint32_t seed, const char *only)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0}, word[16] = {0};
	size_t len = sizeof(descriptor);

	CHECK_OK(sf_region_export(lied->end.region, descriptor, &len));
	memcpy(word, only, strlen(only));
	say(liar->sock, &seed, sizeof(seed));
	say(liar->sock, word, sizeof(word));
	say_name(liar->sock, lied->end.name);
	say(liar->sock, &len, sizeof(len));
	say(liar->sock, descriptor, sizeof(descriptor));
	hear_word(liar->sock, 'l');
}

/* Each liar writes into mappings whose name contains the word, and is then killed. */
static void liars_run(struct peer *liars, uint32_t num, const char *only)
{
	uint32_t seed = seed_new();

	for (uint32_t i = 0; i < num; i++) {
		struct sf_conn *liar;

		meet_liar(&liars[i], seed + i, only);
		WAIT(lied->end.accepts == i + 2);
		liar = lied->end.accepted[i + 1];
		talk(liar, 150);
		peer_kill(&liars[i]);
		WAIT(liar->state == SF_CONN_CLOSED && sends_done());
		sf_conn_close(liar);
	}
}

static void lied_close(struct peer *honest)
{
	for (int i = 0; i < SLOTS; i++)
		lied->slots[i].then = NULL;
	sf_conn_disconnect(lied->honest);
	WAIT(lied->ask.done != 0);
	sf_conn_close(lied->honest);
	end_close(&lied->end); /* also checks that every receive was returned */
	peer_end(honest);
	free(lied);
}

static void lies_on_a_connection_end_only_that_connection(void)
{
	struct peer honest, liars[LIES];
	uint32_t echoes;

	peer_fork(&honest, honest_script);
	for (uint32_t i = 0; i < liars_num(); i++)
		peer_fork(&liars[i], lying_script);
	lied_open(&honest);
	liars_run(liars, liars_num(), "-connection");
	CHECK(lied->honest->state == SF_CONN_READY);
	echoes = lied->echoes;
	for (uint64_t until = sf_now_ms() + WAIT_MS; lied->echoes < echoes + 100; CHECK(sf_now_ms() < until)) {
		ask();
		end_poll(&lied->end, 8);
	}
	CHECK(lied->end.posted == SLOTS);
	lied_close(&honest);
}

static void lies_everywhere_do_no_harm(void)
{
	struct peer honest, liars[LIES];

	peer_fork(&honest, honest_script);
	for (uint32_t i = 0; i < liars_num(); i++)
		peer_fork(&liars[i], lying_script);
	lied_open(&honest);
	liars_run(liars, liars_num(), "");
	lied_close(&honest);
}

/* Garbage in the endpoint's own memory is gone with the liars' connections: a later peer can use every receive. */
static void after_lies_everywhere_a_new_peer_is_served(void)
{
	struct peer honest, later, liars[LIES];
	uint32_t echoes;

	peer_fork(&honest, honest_script);
	peer_fork(&later, honest_script);
	for (uint32_t i = 0; i < liars_num(); i++)
		peer_fork(&liars[i], lying_script);
	lied_open(&honest);
	liars_run(liars, liars_num(), "");
	sf_conn_disconnect(lied->honest); /* the garbage may have ended it already */
	WAIT(lied->ask.done != 0);
	sf_conn_close(lied->honest);
	lied->honest = NULL;
	say_name(later.sock, lied->end.name);
	WAIT(lied->end.accepts == liars_num() + 2);
	lied->honest = lied->end.accepted[liars_num() + 1];
	lied->asked = lied->echoes = 0;
	WAIT(lied->end.posted == SLOTS);
	echoes = 10 * SLOTS;
	for (uint64_t until = sf_now_ms() + WAIT_MS; lied->echoes < echoes; CHECK(sf_now_ms() < until)) {
		ask();
		end_poll(&lied->end, 8);
	}
	CHECK(lied->honest->state == SF_CONN_READY);
	lied_close(&later);
	CHECK(waitpid(honest.pid, NULL, 0) == honest.pid); /* with whatever status */
}

const struct conformance_case lie_cases[] = {
	CASE(after_lies_everywhere_a_new_peer_is_served, OTHER_SIDED),
	CASE(lies_on_a_connection_end_only_that_connection, OTHER_SIDED),
	CASE(lies_everywhere_do_no_harm, OTHER_SIDED),
	{0},
};
