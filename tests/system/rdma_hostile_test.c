/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer connects like any other and then overwrites everything that it shares with the victim at random: rings of records,
 * posted receives, marks, indices, doorbells, memory. The victim runs every verb against it, and against an honest peer. The
 * victim may lose the liar's connection, and receives. It must not crash, hang, or touch a byte outside its memory maps, and its
 * operations on the honest peer's memory must stay correct.
 *
 * SOFTFIELD_TEST_SEED repeats a run, SOFTFIELD_TEST_ROUNDS sets the number of liars.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <sys/mman.h>

#include "support/rdma_peer.h"

#include "base/clock.h"
#include "support/rdma_pair.h"

#define ROUNDS 40 /* by default */
#define LIFE 8	  /* rounds of one run of the instance: lies can use up its receives until it is started again */
#define ROUND_MS 50
#define SIZE (256 << 10)  /* of a memory map, in bytes */
#define HONEST (64 << 10) /* bytes for the honest peer's data, which no liar knows of */
#define GUARD 4096	  /* bytes on both sides of each, which nothing may touch; beyond them lies an inaccessible page */
#define RECEIVES 12
#define LARGE 30000
#define SPANS_MAX 64
#define SPAN_BYTES_MAX 65536 /* in large mappings only the beginning matters */
#define MARK 0xC5

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % limit;
}

/* ---- the liar ---- */

struct span {
	uint64_t *words;
	uint32_t num;
};

/* Finds the writable shared mappings: all memory that the library shares with other processes. */
static uint32_t shared_spans(struct span *spans)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], perms[5];
	unsigned long start, end;
	uint32_t num = 0;

	CHECK(file != NULL);
	while (num < SPANS_MAX && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3 || perms[1] != 'w' || perms[3] != 's' ||
		    strstr(line, "softfield") == NULL)
			continue;
		size_t size = end - start < SPAN_BYTES_MAX ? end - start : SPAN_BYTES_MAX;

		spans[num++] = (struct span){(uint64_t *)start, (uint32_t)(size / sizeof(uint64_t))};
	}
	fclose(file);
	return num;
}

static void lie(const struct span *span, uint64_t *seed)
{
	uint32_t at = random_below(seed, span->num);
	uint64_t *word = &span->words[at], *other = &span->words[random_below(seed, span->num)];
	uint32_t mark;

	switch (random_below(seed, 8)) {
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
		__atomic_fetch_add(word, random_below(seed, 9) - 4, __ATOMIC_RELAXED);
		break;
	case 4: /* the first word of a record: its kind, the length of its header, its number of lines */
		mark = random_below(seed, 8) | random_below(seed, 64) << 8 | random_below(seed, 70) << 16;
		__atomic_store_n((uint32_t *)word, mark, __ATOMIC_RELAXED);
		break;
	case 5: /* a copy of another word */
		__atomic_store_n(word, __atomic_load_n(other, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
		break;
	case 6: /* a length */
		__atomic_store_n((uint32_t *)word + random_below(seed, 2), random_below(seed, 1 << 20), __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n(word, (uint64_t)random_below(seed, 1u << 31) << 33 ^ random_below(seed, 1u << 31),
				 __ATOMIC_RELAXED);
	}
}

/* Acts as a peer, until its own library fails because of the lies. */
static void liar_run(int socket)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	struct span spans[SPANS_MAX];
	uint64_t seed;
	uint32_t num;

	signal(SIGABRT, SIG_DFL);
	peer_hear(socket, &seed, sizeof(seed));
	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	for (uint32_t i = 0; i < RECEIVES; i++)
		CHECK_OK(rig_receive(&rig, rig_room(&rig, i % 8 * LARGE + 7, LARGE), i));
	CHECK_OK(rig_write(&rig, connection, rig_source(&rig, 0, LARGE), rig_remote_room(&rig, 10, LARGE), 0));
	CHECK_OK(rig_send(&rig, connection, rig_source(&rig, 0, 90), 1));
	RDMA_RIG_WAIT(&rig, NULL, rig.num_ended >= 1); /* the send may wait: an earlier liar may have used up the receives */
	num = shared_spans(spans);
	peer_notify(socket, 'l');
	peer_expect(socket, 'b');
	for (uint32_t i = 0; i < 4; i++)
		(void)rig_send_imm(&rig, connection, rig_source(&rig, 0, 24 * i), i, 2 + i);
	bool plays = random_below(&seed, 2) == 0; /* otherwise it only writes, and its library does not run */
	const struct span *favourite = &spans[random_below(&seed, num)];

	uint32_t zeal = 1u << (random_below(&seed, 5) * 2);

	freopen("/dev/null", "w", stderr);
	for (;;) { /* until killed */
		for (uint32_t i = 1 + random_below(&seed, zeal); i > 0; i--)
			lie(random_below(&seed, 2) == 0 ? favourite : &spans[random_below(&seed, num)], &seed);
		if (plays)
			(void)doca_pe_progress(rig.pe);
		if (zeal < 100 || random_below(&seed, 8) == 0)
			sched_yield();
	}
}

/* ---- the honest peer ---- */

static void honest_run(int socket)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	char word;

	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	peer_notify(socket, 'h');
	for (;;) {
		(void)doca_pe_progress(rig.pe);
		if (!peer_has_said(socket, &word))
			continue;
		if (word == 'q')
			_exit(0);
		CHECK_OK(rig_send(&rig, connection, rig_source(&rig, 0, 60), 0));
		RDMA_RIG_WAIT(&rig, NULL, rig.num_good == 1);
		peer_notify(socket, 's');
	}
}

/* ---- the victim ---- */

/* Memory with guard bytes on both sides that nothing may touch, and inaccessible pages beyond those. */
struct guarded {
	uint8_t *map, *memory;
	size_t size;
};

static void guarded_make(struct guarded *g, size_t size)
{
	size_t whole = size + 4 * GUARD;

	g->map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(g->map != MAP_FAILED);
	CHECK(mprotect(g->map, GUARD, PROT_NONE) == 0 && mprotect(g->map + whole - GUARD, GUARD, PROT_NONE) == 0);
	g->memory = g->map + 2 * GUARD;
	g->size = size;
	memset(g->map + GUARD, MARK, GUARD);
	memset(g->memory + size, MARK, GUARD);
}

static void guarded_check(const struct guarded *g)
{
	for (size_t i = 0; i < GUARD; i++)
		CHECK(g->map[GUARD + i] == MARK && g->memory[g->size + i] == MARK);
}

struct victim {
	struct rdma_rig rig;
	struct guarded shared, own; /* liars know of the first; the second holds the honest peer's data */
	struct doca_mmap *own_mmap;
	struct peer honest;
	struct doca_rdma_connection *to_honest, *to_liar;
	struct doca_mmap *honest_remote;
	uint8_t *honest_memory;
	struct doca_buf *here, *there, *back, *from, *into[RECEIVES];
	uint32_t honest_rounds, submitted, honest_pending, seen, num_received,
		all_received; /* how many of the rig's ended tasks were evaluated */
	uint64_t seed;
};

static struct victim victim;

static void received(struct doca_rdma_task_receive *task, union doca_data data, union doca_data ctx_data)
{
	struct doca_buf *dst = doca_rdma_task_receive_get_dst_buf(task);

	(void)data;
	(void)ctx_data;
	if (doca_task_get_status(doca_rdma_task_receive_as_task(task)) == DOCA_SUCCESS) {
		victim.num_received++;
		victim.all_received++;
	}
	if (dst != NULL)
		CHECK_OK(doca_buf_reset_data_len(dst));
	if (doca_task_submit(doca_rdma_task_receive_as_task(task)) != DOCA_SUCCESS) /* the liar may have used up its place */
		doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void victim_start(void)
{
	struct rdma_rig *rig = &victim.rig;

	rdma_rig_start(rig);
	victim.num_received = 0;
	for (uint32_t i = 0; i < RECEIVES;
	     i++) /* of all kinds: in one page, across several, at odd addresses, and without a buffer */
		CHECK_OK(rig_receive(rig, victim.into[i], i));
}

static void victim_open(void)
{
	struct rdma_rig *rig = &victim.rig;

	rdma_rig_prepare(rig, 0, 4096, RIG_ALL, RIG_ALL);
	CHECK_OK(doca_mmap_destroy(rig->mmap));
	free(rig->memory);
	guarded_make(&victim.shared, SIZE);
	guarded_make(&victim.own, HONEST);
	CHECK_OK(doca_mmap_create(&rig->mmap));
	CHECK_OK(doca_mmap_set_memrange(rig->mmap, victim.shared.memory, SIZE));
	CHECK_OK(doca_mmap_set_permissions(rig->mmap, RIG_ALL));
	CHECK_OK(doca_mmap_add_dev(rig->mmap, rig->dev));
	CHECK_OK(doca_mmap_start(rig->mmap));
	rig->memory = victim.shared.memory;
	CHECK_OK(doca_mmap_create(&victim.own_mmap));
	CHECK_OK(doca_mmap_set_memrange(victim.own_mmap, victim.own.memory, HONEST));
	CHECK_OK(doca_mmap_set_permissions(victim.own_mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	CHECK_OK(doca_mmap_add_dev(victim.own_mmap, rig->dev));
	CHECK_OK(doca_mmap_start(victim.own_mmap));
	for (uint32_t i = 0; i + 1 < RECEIVES; i++)
		victim.into[i] = rig_room(rig, 100 + i * 8192, i % 4 == 1 ? 100 : 8000);
	CHECK_OK(doca_rdma_set_max_num_connections(rig->rdma, LIFE + 1));
	CHECK_OK(doca_rdma_task_receive_set_conf(rig->rdma, received, received, RIG_TASKS));
}

static struct doca_buf *own_buf(size_t at, bool data)
{
	struct doca_buf *buf;

	if (data)
		CHECK_OK(doca_buf_inventory_buf_get_by_data(victim.rig.inventory, victim.own_mmap, victim.own.memory + at, LARGE,
							    &buf));
	else
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(victim.rig.inventory, victim.own_mmap, victim.own.memory + at, LARGE,
							    &buf));
	return buf;
}

static void honest_open(void)
{
	struct rdma_rig *rig = &victim.rig;

	peer_spawn(&victim.honest, "honest");
	peer_meet(victim.honest.socket, rig, &victim.to_honest);
	peer_expect(victim.honest.socket, 'h');
	victim.honest_remote = rig->remote;
	victim.here = own_buf(16, true);
	victim.back = own_buf(LARGE + 100, false);
	victim.there = rig_remote_room(rig, 40, LARGE);
	victim.from = rig_remote_source(rig, 40, LARGE);
	rig->remote = NULL;
}

/* Writes new bytes to the honest peer's memory and reads them back, again and again, one pair of tasks at a time. */
static void honest_step(void)
{
	struct rdma_rig *rig = &victim.rig;

	if (victim.honest_pending == 0) {
		memset(victim.own.memory + 16, (int)(victim.honest_rounds + 1) & 0xff, LARGE);
		CHECK_OK(doca_buf_reset_data_len(victim.there));
		CHECK_OK(doca_buf_reset_data_len(victim.back));
		CHECK_OK(rig_write(rig, victim.to_honest, victim.here, victim.there, UINT64_MAX));
		CHECK_OK(rig_read(rig, victim.to_honest, victim.from, victim.back, UINT64_MAX));
		victim.honest_pending = 2;
	}
	for (; victim.seen != rig->num_ended; victim.seen++) {
		if (rig->order[victim.seen % RIG_LOG] != UINT64_MAX)
			continue;
		CHECK(rig->statuses[victim.seen % RIG_LOG] == DOCA_SUCCESS);
		if (--victim.honest_pending == 0) {
			CHECK(memcmp(victim.own.memory + LARGE + 100, victim.own.memory + 16, LARGE) == 0);
			victim.honest_rounds++;
		}
	}
}

/* Submits one task of a random verb to the liar, with bufs that are kept until all tasks have ended. */
static void provoke(struct doca_buf **bufs, uint32_t *num_bufs)
{
	static const size_t lens[] = {0, 8, 60, 200, 5000, LARGE};
	struct rdma_rig *rig = &victim.rig;
	enum verb verb = random_below(&victim.seed, VERBS);
	size_t len = verb == VERB_CAS || verb == VERB_ADD ? 8 : lens[random_below(&victim.seed, 6)];
	size_t at = random_below(&victim.seed, 1000) * 8, remote = random_below(&victim.seed, 1000) * 8;
	struct doca_buf *here = verb_here(verb, rig, 120000 + at, len), *there = verb_there(verb, rig, remote, len);

	if (verb_submit(verb, rig, victim.to_liar, here, there, 0) == DOCA_SUCCESS)
		victim.submitted++;
	bufs[(*num_bufs)++] = here;
	bufs[(*num_bufs)++] = there;
}

static void round_of_lies(void)
{
	struct rdma_rig *rig = &victim.rig;
	struct doca_buf *bufs[64];
	uint32_t num_bufs = 0;
	struct peer liar;
	uint64_t seed = victim.seed = victim.seed * 31 + 7;

	peer_spawn(&liar, "liar");
	peer_say(liar.socket, &seed, sizeof(seed));
	peer_meet(liar.socket, rig, &victim.to_liar);
	uint64_t until = sf_now_ms() + 20 * ROUND_MS;
	char word = 0;

	while (!peer_has_said(liar.socket, &word)) { /* the liar waits for its own tasks, which need this side's progress */
		(void)doca_pe_progress(rig->pe);
		honest_step();
		CHECK(sf_now_ms() < until + 20000);
	}
	peer_notify(liar.socket, 'b');
	until = sf_now_ms() + ROUND_MS;
	while (sf_now_ms() < until) {
		if (num_bufs + 2 <= 64 && random_below(&victim.seed, 4) == 0)
			provoke(bufs, &num_bufs);
		(void)doca_pe_progress(rig->pe);
		honest_step();
		guarded_check(&victim.own);
	}
	peer_kill(&liar);
	CHECK(waitpid(liar.pid, NULL, 0) == liar.pid);
	close(liar.socket);
	/* All submitted tasks end, and the connection with them. */
	size_t inflight = SIZE;
	uint64_t begin = sf_now_ns();

	while (inflight > RECEIVES) {
		(void)doca_pe_progress(rig->pe);
		CHECK_OK(doca_ctx_get_num_inflight_tasks(rig->ctx, &inflight));
		CHECK(!rdma_rig_late(begin));
	}
	guarded_check(&victim.shared);
	for (uint32_t i = 0; i < num_bufs; i++)
		rig_put(bufs[i]);
	CHECK_OK(doca_mmap_destroy(rig->remote));
	rig->remote = NULL;
}

/* The instance stops normally, whatever the liars wrote. */
static void honest_close(void)
{
	struct rdma_rig *rig = &victim.rig;

	rdma_rig_stop(rig);
	victim.honest_pending = 0;
	victim.seen = rig->num_ended; /* tasks that ended since the last step belong to no pair of the next run */
	rig_put(victim.here);
	rig_put(victim.there);
	rig_put(victim.back);
	rig_put(victim.from);
	CHECK_OK(doca_mmap_destroy(victim.honest_remote));
	peer_notify(victim.honest.socket, 'q');
	peer_wait(&victim.honest);
	guarded_check(&victim.shared);
	guarded_check(&victim.own);
}

/* After a new start everything works: the honest peer's message arrives. */
static void honest_message(void)
{
	struct rdma_rig *rig = &victim.rig;

	peer_notify(victim.honest.socket, 's');
	RDMA_RIG_WAIT(rig, NULL, victim.num_received > 0);
	peer_expect(victim.honest.socket, 's');
}

/* Every round serves the honest peer. */
static void honest_await(uint32_t before)
{
	const uint64_t begin = sf_now_ns();

	while (victim.honest_rounds == before) {
		(void)doca_pe_progress(victim.rig.pe);
		honest_step();
		CHECK(!rdma_rig_late(begin));
	}
}

static void rounds_of_lies(void **state)
{
	const char *given = getenv("SOFTFIELD_TEST_SEED"), *rounds_given = getenv("SOFTFIELD_TEST_ROUNDS");
	uint32_t rounds = rounds_given != NULL ? (uint32_t)strtoul(rounds_given, NULL, 0) : ROUNDS, on_way;
	struct rdma_rig *rig = &victim.rig;

	(void)state;
	victim.seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)getpid() * 2654435761u + sf_now_ms();
	printf("seed %llu\n", (unsigned long long)victim.seed);
	fflush(stdout);
	victim_open();
	for (uint32_t i = 0; i < rounds; i++) {
		if (i % LIFE == 0) {
			victim_start();
			honest_open();
			honest_message();
		}
		on_way = victim.honest_rounds;
		round_of_lies();
		honest_await(on_way);
		CHECK(rig->state == DOCA_CTX_STATE_RUNNING);
		if (i % LIFE == LIFE - 1 || i == rounds - 1)
			honest_close();
	}
	printf("%u tasks to liars, %u ended well; %u writes read back from the honest peer; %u messages from all\n",
	       victim.submitted, rig->num_good, victim.honest_rounds, victim.all_received);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		alarm(PEER_LIFE_S);
		if (strcmp(argv[1], "liar") == 0)
			liar_run(atoi(argv[2]));
		else
			honest_run(atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_of_lies),
	};

	return cmocka_run_group_tests_name("rdma and a hostile peer", tests, peer_folder_setup, peer_folder_teardown);
}
