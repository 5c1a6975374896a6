/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random lists of bufs, from own and imported memory to both, compared with a copy byte by byte. Every byte of all memory and
 * every buf's data section are checked. SOFTFIELD_TEST_SEED=n repeats a run. Runs with and without engine threads, on each fabric
 * provider that reaches its own process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "support/dma_rig.h"

#define ARENAS 4 /* two of this process, two imported */
#define ARENA_SIZE (3 << 20)
#define RAGGED 1234 /* offset of an arena from a page */
#define LIST_MAX 64
#define ROUNDS 200

static uint64_t seed, random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t below(uint32_t end)
{
	return (uint32_t)(next_random() >> 20) % end;
}

struct arena {
	uint8_t *memory, *start, *shadow; /* the allocation, the arena's start in it, its expected contents */
	size_t len, used;
	struct doca_mmap *mmap, *exported;
};

struct fixture {
	struct rig rig;
	struct arena arenas[ARENAS];
};

static void arena_init(struct rig *rig, struct arena *arena, bool imported)
{
	const void *descriptor;
	size_t len;

	arena->memory = aligned_alloc(4096, ARENA_SIZE);
	arena->start = arena->memory + RAGGED;
	arena->len = ARENA_SIZE - 2 * RAGGED;
	arena->shadow = malloc(arena->len);
	for (size_t i = 0; i < arena->len; i++)
		arena->start[i] = (uint8_t)next_random();
	memcpy(arena->shadow, arena->start, arena->len);
	arena->mmap = rig_mmap(rig, arena->start, arena->len,
			       imported ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (!imported)
		return;
	arena->exported = arena->mmap;
	assert_int_equal(doca_mmap_export_pci(arena->exported, rig->dev, &descriptor, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &arena->mmap), DOCA_SUCCESS);
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	random_state = seed;
	rig_prepare(&f.rig, test_dev_open(0));
	rig_start(&f.rig);
	for (int i = 0; i < ARENAS; i++)
		arena_init(&f.rig, &f.arenas[i], i >= ARENAS / 2);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ARENAS; i++) {
		struct arena *arena = &f->arenas[i];

		assert_int_equal(doca_mmap_destroy(arena->mmap), DOCA_SUCCESS);
		if (arena->exported != NULL)
			assert_int_equal(doca_mmap_destroy(arena->exported), DOCA_SUCCESS);
		free(arena->memory);
		free(arena->shadow);
	}
	rig_fini(&f->rig);
	return 0;
}

/* A buf of the list, and its expected data section afterwards. */
struct piece {
	struct arena *arena;
	struct doca_buf *buf;
	size_t offset, len, data, data_len; /* offset from the start of the arena; the rest is about the buf */
};

/* The next part of an arena that no other buf of this round uses. */
static struct piece piece_alloc(struct rig *rig, struct arena *arena, size_t len_max)
{
	struct piece piece = {.arena = arena};

	piece.len = 1 + below((uint32_t)len_max);
	if (piece.len > arena->len - arena->used)
		piece.len = arena->len - arena->used;
	piece.offset = arena->used;
	arena->used += piece.len;
	piece.data = piece.offset + (below(3) == 0 ? below((uint32_t)piece.len + 1) : 0);
	piece.data_len = below((uint32_t)(piece.offset + piece.len - piece.data) + 1);
	piece.buf = rig_destination(rig, arena->mmap, arena->start + piece.offset, piece.len);
	return piece;
}

static void set_data(struct piece *piece)
{
	assert_int_equal(doca_buf_set_data(piece->buf, piece->arena->start + piece->data, piece->data_len), DOCA_SUCCESS);
}

static void chain(struct piece *pieces, uint32_t num)
{
	for (uint32_t i = 1; i < num; i++)
		assert_int_equal(doca_buf_chain_list(pieces[0].buf, pieces[i].buf), DOCA_SUCCESS);
}

static size_t length_max(void)
{
	switch (below(4)) {
	case 0:
		return 16;
	case 1:
		return 300;
	case 2:
		return 5000;
	default:
		return 100000;
	}
}

/* Performs the task's copy in the shadows. */
static void copy_shadows(const struct piece *from, uint32_t num_from, struct piece *to, uint32_t num_to)
{
	uint32_t t = 0;

	for (uint32_t s = 0; s < num_from; s++) {
		for (size_t i = 0; i < from[s].data_len; i++) {
			while (to[t].data + to[t].data_len == to[t].offset + to[t].len)
				t++;
			assert_true(t < num_to);
			to[t].arena->shadow[to[t].data + to[t].data_len++] = from[s].arena->shadow[from[s].data + i];
		}
	}
}

/* Adds destinations until they have room for len bytes. */
static uint32_t make_destinations(struct fixture *f, struct piece *to, size_t len)
{
	uint32_t num = 0;

	for (size_t room = 0; room < len || num == 0; num++) {
		size_t left = len - room;
		struct piece piece = piece_alloc(&f->rig, &f->arenas[below(ARENAS)],
						 num < LIST_MAX / 2 ? 1 + below((uint32_t)left + 10) : 2 * left);

		if (num >= LIST_MAX / 2) {
			piece.data = piece.offset;
			piece.data_len = 0;
		}
		set_data(&piece);
		room += piece.offset + piece.len - piece.data - piece.data_len;
		to[num] = piece;
		if (num == LIST_MAX - 1)
			return room >= len ? num + 1 : 0;
	}
	return num;
}

static void compare_lengths(const struct piece *pieces, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++)
		assert_int_equal(rig_data_len(pieces[i].buf), pieces[i].data_len);
}

static void compare_memory(struct fixture *f)
{
	for (int i = 0; i < ARENAS; i++)
		assert_memory_equal(f->arenas[i].start, f->arenas[i].shadow, f->arenas[i].len);
}

static void one_round(struct fixture *f)
{
	struct piece from[LIST_MAX], to[LIST_MAX];
	uint32_t num_from = 1 + below(below(2) ? LIST_MAX : 4), num_to;
	size_t len = 0, len_max = length_max();

	for (int i = 0; i < ARENAS; i++)
		f->arenas[i].used = below(5000);
	for (uint32_t i = 0; i < num_from; i++) {
		from[i] = piece_alloc(&f->rig, &f->arenas[below(ARENAS)], 1 + len_max / num_from * 2);
		set_data(&from[i]);
		len += from[i].data_len;
	}
	num_to = make_destinations(f, to, len);
	chain(from, num_from);
	chain(to, num_to);
	if (len == 0 || num_to == 0) { /* nothing to copy, or no room: other tests cover these */
		rig_put(from[0].buf);
		rig_put(to[0].buf);
		return;
	}
	copy_shadows(from, num_from, to, num_to);
	assert_int_equal(rig_copy(&f->rig, from[0].buf, to[0].buf), DOCA_SUCCESS);
	compare_lengths(to, num_to);
	compare_lengths(from, num_from);
	compare_memory(f);
	rig_put(from[0].buf);
	rig_put(to[0].buf);
}

static void random_lists(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < ROUNDS; i++)
		one_round(f);
	printf("%u copies, seed %llu\n", f->rig.num_good, (unsigned long long)seed);
	assert_true(f->rig.num_good > ROUNDS / 2);
}

/* Large lists: slices and engine threads' parts begin anywhere in them. */
static void large_lists(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 12; round++) {
		struct piece from[LIST_MAX], to[LIST_MAX];
		struct arena *source = &f->arenas[round % 2 * 2 + below(2)],
			     *destination = &f->arenas[(round + 1) % 2 * 2 + below(2)];
		uint32_t num = 3 + below(LIST_MAX - 3);
		size_t len = 0;

		source->used = 0;
		destination->used = 0;
		for (uint32_t i = 0; i < num; i++) {
			from[i] = piece_alloc(&f->rig, source, 2 * source->len / num);
			from[i].data = from[i].offset;
			from[i].data_len = from[i].len;
			set_data(&from[i]);
			len += from[i].len;
		}
		/* The same room, cut at other places. */
		for (uint32_t i = 0; i < 2; i++) {
			to[i] = (struct piece){
				.arena = destination, .offset = i * (len / 3), .len = i == 0 ? len / 3 : len - len / 3};
			to[i].data = to[i].offset;
			to[i].buf = rig_destination(&f->rig, destination->mmap, destination->start + to[i].offset, to[i].len);
		}
		chain(from, num);
		chain(to, 2);
		copy_shadows(from, num, to, 2);
		assert_int_equal(rig_copy(&f->rig, from[0].buf, to[0].buf), DOCA_SUCCESS);
		compare_lengths(to, 2);
		compare_memory(f);
		rig_put(from[0].buf);
		rig_put(to[0].buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(large_lists, setup, teardown),
	};
	const char *text = getenv("SOFTFIELD_TEST_SEED");

	seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
	seed = seed != 0 ? seed : 1;
	printf("SOFTFIELD_TEST_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
