/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks in lists of odd pieces: the results are the same, and nothing outside the destination's room changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "erasure_coding_fixture.h"

#define NUM_DATA 5
#define NUM_RDNC 3
#define ROUNDS 150
#define APART 128	 /* bytes between the pieces of a list, which must not change */
#define PIECES 64	 /* in a list, at most */
#define OTHER (12 << 20) /* where destinations are */

/* A run of bytes, in pieces. */
struct pieces {
	struct doca_buf *head;
	uint32_t num;
	uint8_t *at[PIECES];
	size_t len[PIECES];
};

/* Cuts len bytes into num pieces at random places at and after begin, some of them empty. */
static void cut(struct fixture *f, struct pieces *pieces, uint8_t *begin, size_t len, uint32_t num, bool is_source)
{
	pieces->head = NULL;
	pieces->num = num;
	for (uint32_t i = 0; i < num; i++) {
		size_t part = i == num - 1 ? len : rand() % 8 == 0 ? 0 : (size_t)rand() % (2 * len / (num - i) + 1);

		part = part > len ? len : part;
		pieces->at[i] = begin;
		pieces->len[i] = part;
		chain(&pieces->head, is_source ? source(f, begin, part) : destination(f, begin, part));
		begin += part + APART;
		len -= part;
	}
}

static void pieces_write(const struct pieces *pieces, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < pieces->num; bytes += pieces->len[i++])
		memcpy(pieces->at[i], bytes, pieces->len[i]);
}

/* Expects these bytes in the pieces, and no change around them. */
static void pieces_expect(const struct pieces *pieces, const uint8_t *bytes)
{
	expect_filled(pieces->at[0] - APART, APART, GUARD);
	for (uint32_t i = 0; i < pieces->num; bytes += pieces->len[i++]) {
		assert_memory_equal(pieces->at[i], bytes, pieces->len[i]);
		expect_filled(pieces->at[i] + pieces->len[i], APART, GUARD);
	}
}

static void create_in_pieces(struct fixture *f, const struct doca_ec_matrix *matrix, size_t size, uint32_t num_src,
			     uint32_t num_dst)
{
	size_t src_len = NUM_DATA * size, dst_len = NUM_RDNC * size;
	uint8_t *data = malloc(src_len), *rdnc = malloc(dst_len);
	struct pieces src, dst;

	fill(data, src_len, (uint32_t)size);
	ref_create(DOCA_EC_MATRIX_TYPE_CAUCHY, data, NUM_DATA, rdnc, NUM_RDNC, size);
	cut(f, &src, f->memory + 1 + (size_t)rand() % 200, src_len, num_src, true);
	cut(f, &dst, f->memory + OTHER + APART + (size_t)rand() % 200, dst_len, num_dst, false);
	pieces_write(&src, data);
	memset(f->memory + OTHER, GUARD, dst_len + (PIECES + 4) * APART);
	ok(run_new(f, CREATE, matrix, src.head, dst.head));
	pieces_expect(&dst, rdnc);
	put(src.head);
	put(dst.head);
	free(data);
	free(rdnc);
}

static void lists_of_odd_pieces(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC);

	srand(5);
	for (int round = 0; round < ROUNDS; round++) {
		size_t size = 64 * (1 + (size_t)rand() % (round % 10 == 0 ? 5000 : 50));

		create_in_pieces(f, matrix, size, 1 + (uint32_t)rand() % PIECES, 1 + (uint32_t)rand() % PIECES);
	}
	create_in_pieces(f, matrix, 64, PIECES, PIECES);
	create_in_pieces(f, matrix, 64 * 1000, 1, PIECES);
	create_in_pieces(f, matrix, 64 * 1000, PIECES, 1);
	ok(doca_ec_matrix_destroy(matrix));
}

/* The destination's old data stays, the results follow it, and the rest of the room does not change. */
static void blocks_are_appended(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 2, 1);
	uint8_t *out = f->memory + OTHER;
	struct doca_buf *src = source(f, f->memory, 256), *dst = destination(f, out, 1000);

	fill(f->memory, 256, 1);
	memset(out, GUARD, 1000);
	for (size_t i = 1; i <= 2; i++) {
		ok(run_new(f, CREATE, matrix, src, dst));
		assert_int_equal(data_len(dst), i * 128);
		expect_filled(out + i * 128, 1000 - i * 128, GUARD);
	}
	for (size_t i = 0; i < 256; i++)
		assert_int_equal(out[i], f->memory[i % 128] ^ f->memory[128 + i % 128]);
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
}

/* One byte of room is missing, in one buffer or in the last of a list: the task fails and writes nothing. */
static void destination_too_small(void **state)
{
	static const size_t sizes[] = {64, 6400, 1 << 20};
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t len = NUM_RDNC * sizes[i];
		uint8_t *out = f->memory + OTHER;
		struct doca_buf *src = source(f, f->memory, NUM_DATA * sizes[i]), *dst = destination(f, out, len - 1);
		struct doca_buf *list = destination(f, out, len / 2);

		chain(&list, destination(f, out + len, len - len / 2 - 1));
		memset(out, GUARD, 2 * len);
		expect_wrong(f, task_of(f, CREATE, matrix, src, dst), DOCA_ERROR_INVALID_VALUE);
		expect_wrong(f, task_of(f, CREATE, matrix, src, list), DOCA_ERROR_INVALID_VALUE);
		expect_filled(out, 2 * len, GUARD);
		assert_int_equal(data_len(dst), 0);
		assert_int_equal(data_len(list), 0);
		put(src);
		put(dst);
		put(list);
	}
	ok(doca_ec_matrix_destroy(matrix));
}

/* Lengths that are not that many blocks of a multiple of 64 bytes, and blocks larger than the capability. */
static void wrong_sizes(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	uint64_t max;

	ok(doca_ec_cap_get_max_block_size(doca_dev_as_devinfo(f->dev), &max));
	const size_t lengths[] = {0, 1, 64, 127, 129, 2 * 63, 2 * 65, 2 * 96, 1 << 20 | 64, 2 * max + 128};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct doca_buf *src = source(f, f->memory, lengths[i]), *dst = destination(f, f->memory + OTHER, 6 << 20);
		struct doca_buf *list = source(f, f->memory, 0);

		chain(&list, source(f, f->memory, lengths[i]));
		memset(f->memory + OTHER, GUARD, 6 << 20);
		expect_wrong(f, task_of(f, CREATE, matrix, src, dst), DOCA_ERROR_INVALID_VALUE);
		expect_wrong(f, task_of(f, CREATE, matrix, list, dst), DOCA_ERROR_INVALID_VALUE);
		expect_filled(f->memory + OTHER, 6 << 20, GUARD);
		put(src);
		put(list);
		put(dst);
	}
	ok(doca_ec_matrix_destroy(matrix));
}

static void lists_that_are_too_long(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 1, 1);
	struct doca_buf *list[2] = {NULL, NULL}, *src = source(f, f->memory, 64), *dst = destination(f, f->memory + OTHER, 64);
	uint32_t max;

	ok(doca_ec_cap_get_max_buf_list_len(doca_dev_as_devinfo(f->dev), &max));
	for (uint32_t i = 0; i <= max; i++) {
		chain(&list[0], source(f, f->memory + 64 * i, 64));
		chain(&list[1], destination(f, f->memory + OTHER + 64 * i, 64));
	}
	expect_wrong(f, task_of(f, CREATE, matrix, list[0], dst), DOCA_ERROR_INVALID_VALUE);
	expect_wrong(f, task_of(f, CREATE, matrix, src, list[1]), DOCA_ERROR_INVALID_VALUE);
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
	put(list[0]);
	put(list[1]);
}

/* A memory map without write access may be a source, but not a destination, nor the second buffer of one. */
static void destination_that_is_read_only(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 2);
	struct doca_mmap *mmap;
	struct doca_buf *src, *dst, *second, *right = destination(f, f->memory + OTHER, 128),
					     *list = destination(f, f->memory + OTHER, 64);

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, f->dev));
	ok(doca_mmap_set_memrange(mmap, f->memory, 4096));
	ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	ok(doca_mmap_start(mmap));
	ok(doca_buf_inventory_buf_get_by_data(f->inventory, mmap, f->memory, 128, &src));
	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->memory + 1024, 128, &dst));
	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, mmap, f->memory + 2048, 64, &second));
	chain(&list, second);
	memset(f->memory + 1024, GUARD, 2048);
	expect_wrong(f, task_of(f, CREATE, matrix, src, dst), DOCA_ERROR_NOT_PERMITTED);
	expect_wrong(f, task_of(f, CREATE, matrix, src, list), DOCA_ERROR_NOT_PERMITTED);
	expect_filled(f->memory + 1024, 2048, GUARD);
	ok(run_new(f, CREATE, matrix, src, right));
	ok(doca_ec_matrix_destroy(matrix));
	put(src);
	put(dst);
	put(list);
	put(right);
	ok(doca_mmap_destroy(mmap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lists_of_odd_pieces), T(blocks_are_appended),	    T(destination_too_small),
		T(wrong_sizes),		T(lists_that_are_too_long), T(destination_that_is_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
