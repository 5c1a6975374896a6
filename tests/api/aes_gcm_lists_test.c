/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources and destinations of AES-GCM: lists of odd pieces, results appended to existing data, overlapping buffers. Runs with
 * and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "aes_gcm_fixture.h"

/* A list whose pieces have odd lengths and gaps between them: the first byte of each is at[i]. */
static struct doca_buf *scatter(struct fixture *f, uint8_t *from, size_t len, uint32_t num, bool has_data, size_t *at)
{
	struct doca_buf *head = NULL;
	size_t left = len, place = 0;

	for (uint32_t i = 0; i < num; i++) {
		size_t part = i == num - 1 ? left : (i % 5 == 3 ? 0 : (i * 37 + 1) % (2 * len / num + 1));

		if (part > left)
			part = left;

		struct doca_buf *buf = has_data ? source(f, from + place, part) : destination(f, from + place, part);

		at[i] = place;
		place += part + 5;
		left -= part;
		if (head == NULL)
			head = buf;
		else
			ok(doca_buf_chain_list(head, buf));
	}
	at[num] = place;
	return head;
}

/* Copies a run of bytes to, or from, the pieces of a list. */
static void gather(uint8_t *list, const size_t *at, uint32_t num, uint8_t *whole, bool to_list)
{
	for (uint32_t i = 0; i < num; i++) {
		size_t part = at[i + 1] - at[i] - 5;

		memcpy(to_list ? list + at[i] : whole, to_list ? whole : list + at[i], part);
		whole += part;
	}
}

static void expect_gaps(const uint8_t *list, const size_t *at, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++)
		expect_guard(list + at[i + 1] - 5, 5);
}

static void run_lists(struct fixture *f, const struct how *how, size_t len, uint32_t num_src, uint32_t num_dst)
{
	size_t sealed = len + how->tag_size, from[65], to[65];
	uint8_t *plain = malloc(len), *output = malloc(sealed), *back = malloc(len);
	struct doca_buf *src, *dst;

	for (size_t i = 0; i < len; i++)
		plain[i] = (uint8_t)(i * 11 + num_src);
	src = scatter(f, f->memory, len, num_src, true, from);
	gather(f->memory, from, num_src, plain, true);
	memset(f->room, GUARD, sealed + 4096);
	dst = scatter(f, f->room, sealed, num_dst, false, to);
	ok(run_once(f, encrypt_task(f, how, src, dst)));
	gather(f->room, to, num_dst, output, false);
	expect_output(output, plain, len, how);
	expect_gaps(f->room, to, num_dst);
	put(src);
	put(dst);
	src = scatter(f, f->memory, sealed, num_src, true, from);
	gather(f->memory, from, num_src, output, true);
	memset(f->room, GUARD, sealed + 4096);
	dst = scatter(f, f->room, len, num_dst, false, to);
	ok(run_once(f, decrypt_task(f, how, src, dst)));
	gather(f->room, to, num_dst, back, false);
	assert_memory_equal(back, plain, len);
	expect_gaps(f->room, to, num_dst);
	put(src);
	put(dst);
	free(plain);
	free(output);
	free(back);
}

static void lists_of_odd_pieces(void **state)
{
	static const size_t lengths[] = {40, 1000, 70000, 700001};
	static const uint32_t nums[] = {1, 2, 3, 7, 31, 64};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t j = 0; j < 6; j++) {
			for (size_t k = 0; k < 6; k++)
				run_lists(*state, &usual, lengths[i], nums[j], nums[k]);
		}
	}
}

static void output_is_appended(void **state)
{
	struct fixture *f = *state;
	struct doca_buf *src = source(f, f->memory, 100), *dst = destination(f, f->room, 250);

	memset(f->room, GUARD, 300);
	ok(run_once(f, encrypt_task(f, &usual, src, dst)));
	ok(run_once(f, encrypt_task(f, &usual, src, dst)));
	assert_int_equal(data_len(dst), 232);
	expect_output(f->room, f->memory, 100, &usual);
	expect_output(f->room + 116, f->memory, 100, &usual);
	expect_guard(f->room + 232, 68);
	put(src);
	put(dst);
}

/* libcrypto permits no overlap except of identical buffers; the result is correct all the same. */
static void overlapping_buffers(void **state)
{
	static const int offsets[] = {0, 1, 16, 64, -1, -16, -50};
	struct fixture *f = *state;
	uint8_t plain[200];

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint8_t *at = f->memory + 1000;
		struct doca_buf *src = source(f, at, 200), *dst = destination(f, at + offsets[i], 216);

		memcpy(plain, at, 200);
		ok(run_once(f, encrypt_task(f, &usual, src, dst)));
		expect_output(at + offsets[i], plain, 200, &usual);
		put(src);
		put(dst);
		src = source(f, at + offsets[i], 216);
		dst = destination(f, at, 200);
		ok(run_once(f, decrypt_task(f, &usual, src, dst)));
		assert_memory_equal(at, plain, 200);
		put(src);
		put(dst);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lists_of_odd_pieces),
		T(output_is_appended),
		T(overlapping_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
