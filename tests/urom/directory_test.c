/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain's directory: what is packed can be looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "urom/directory.h"

#define PROCESSES 1024
#define EACH 4 /* workers in each process */
#define BUFFERS 3

static uint8_t *packed;
static size_t packed_len;

/* A different id for each worker, not in ascending order. */
static uint64_t id_of(uint32_t process, uint32_t worker)
{
	return ((uint64_t)process * EACH + worker) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t va_of(uint32_t process, uint32_t buffer)
{
	return UINT64_C(1) << 40 | (uint64_t)process << 20 | (uint64_t)(BUFFERS - buffer) << 12;
}

static size_t pack_process(uint32_t process, void *out, size_t room)
{
	struct urom_entry_worker workers[EACH];
	struct urom_entry_buffer buffers[BUFFERS];
	uint8_t addresses[EACH][256], marks[EACH][2];

	for (uint32_t i = 0; i < EACH; i++) {
		marks[i][0] = (uint8_t)process;
		marks[i][1] = (uint8_t)i;
		size_t len = urom_addresses_append(addresses[i], sizeof(addresses[i]), 0, 1, "other", 5);
		len = urom_addresses_append(addresses[i], sizeof(addresses[i]), len, 2, marks[i], 2);
		workers[i] = (struct urom_entry_worker){id_of(process, i), {addresses[i], len}};
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		buffers[i] = (struct urom_entry_buffer){va_of(process, i), 4096, {marks[0], 1}, {marks[i], 2}};
	return urom_entry_pack(workers, EACH, buffers, process % 2 == 0 ? BUFFERS : 0, out, room);
}

static void pack_all(void)
{
	size_t used = urom_directory_begin(NULL, PROCESSES);

	for (uint32_t i = 0; i < PROCESSES; i++)
		used = urom_directory_place(NULL, used, pack_process(i, NULL, 0)) + pack_process(i, NULL, 0);
	packed_len = used;
	packed = (uint8_t *)malloc(packed_len);
	used = urom_directory_begin(packed, PROCESSES);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		size_t len = pack_process(i, NULL, 0), place = urom_directory_place(packed, used, len);

		assert_int_equal(pack_process(i, packed + place, len), len);
		used = place + len;
	}
	assert_int_equal(used, packed_len);
}

static void every_worker_is_found(void **state)
{
	struct urom_directory *directory;
	struct urom_blob address, memh, mkey;
	const char *reason;
	int segment;

	(void)state;
	pack_all();
	assert_int_equal(urom_directory_check(packed, packed_len, &reason), DOCA_SUCCESS);
	assert_int_equal(urom_directory_open(packed, packed_len, &directory, &reason), DOCA_SUCCESS);
	assert_int_equal(urom_directory_num_workers(directory), PROCESSES * EACH);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		for (uint32_t j = 0; j < EACH; j++) {
			assert_int_equal(urom_directory_address(directory, id_of(i, j), 2, &address), DOCA_SUCCESS);
			assert_int_equal(address.len, 2);
			assert_int_equal((uintptr_t)address.data % 8, 0);
			assert_int_equal(((const uint8_t *)address.data)[0], (uint8_t)i);
			assert_int_equal(((const uint8_t *)address.data)[1], j);
			assert_int_equal(urom_directory_address(directory, id_of(i, j), 3, &address), DOCA_ERROR_NOT_FOUND);
		}
		for (uint32_t j = 0; j < BUFFERS && i % 2 == 0; j++) {
			assert_int_equal(urom_directory_segment(directory, id_of(i, 1), va_of(i, j) + 4095, &segment),
					 DOCA_SUCCESS);
			assert_int_equal(segment, j); /* in the order of adding, not of addresses */
			assert_int_equal(urom_directory_keys(directory, id_of(i, 0), segment, &memh, &mkey), DOCA_SUCCESS);
			assert_int_equal(memh.len, 1);
			assert_int_equal(((const uint8_t *)mkey.data)[1], j);
		}
		assert_int_equal(urom_directory_segment(directory, id_of(i, 0), va_of(i, 0) + 4096 * BUFFERS, &segment),
				 DOCA_ERROR_NOT_FOUND);
		assert_int_equal(urom_directory_segment(directory, id_of(i, 0), va_of(i, BUFFERS - 1) - 1, &segment),
				 DOCA_ERROR_NOT_FOUND);
		assert_int_equal(urom_directory_keys(directory, id_of(i, 0), i % 2 == 0 ? BUFFERS : 0, &memh, &mkey),
				 DOCA_ERROR_NOT_FOUND);
	}
	assert_int_equal(urom_directory_address(directory, 1, 2, &address), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(urom_directory_segment(directory, 1, va_of(0, 0), &segment), DOCA_ERROR_NOT_FOUND);
	urom_directory_close(directory);
}

static struct urom_directory *open_one(const struct urom_entry_worker *workers, uint32_t num_workers,
				       const struct urom_entry_buffer *buffers, uint32_t num_buffers, const char **reason)
{
	struct urom_directory *directory = NULL;
	size_t len = urom_entry_pack(workers, num_workers, buffers, num_buffers, NULL, 0);
	size_t place = urom_directory_place(NULL, urom_directory_begin(NULL, 1), len);
	uint8_t *bytes = (uint8_t *)malloc(place + len);

	assert_int_equal(urom_directory_place(bytes, urom_directory_begin(bytes, 1), len), place);
	assert_int_equal(urom_entry_pack(workers, num_workers, buffers, num_buffers, bytes + place, len), len);
	if (urom_directory_open(bytes, place + len, &directory, reason) != DOCA_SUCCESS)
		free(bytes);
	return directory;
}

static void of_buffers_that_overlap_the_first_is_found(void **state)
{
	const struct urom_entry_worker worker = {7, {NULL, 0}};
	const struct urom_entry_buffer buffers[] = {
		{5000, 10, {"a", 1}, {"a", 1}},
		{1000, 1000, {"b", 1}, {"b", 1}},
		{1500, 10, {"c", 1}, {"c", 1}},
		{UINT64_MAX - 4, 100, {"d", 1}, {"d", 1}},
	};
	const char *reason;
	int segment;

	(void)state;
	struct urom_directory *directory = open_one(&worker, 1, buffers, 4, &reason);
	assert_non_null(directory);
	assert_int_equal(urom_directory_segment(directory, 7, 1505, &segment), DOCA_SUCCESS);
	assert_int_equal(segment, 1);
	assert_int_equal(urom_directory_segment(directory, 7, 5009, &segment), DOCA_SUCCESS);
	assert_int_equal(segment, 0);
	assert_int_equal(urom_directory_segment(directory, 7, UINT64_MAX, &segment), DOCA_SUCCESS);
	assert_int_equal(segment, 3);
	assert_int_equal(urom_directory_segment(directory, 7, 2000, &segment), DOCA_ERROR_NOT_FOUND);
	urom_directory_close(directory);
}

static void an_id_that_is_there_twice(void **state)
{
	struct urom_entry_worker workers[100];
	const char *reason = NULL;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		workers[i] = (struct urom_entry_worker){i * 7 % 99, {NULL, 0}};
	assert_null(open_one(workers, 100, NULL, 0, &reason));
	assert_string_equal(reason, "two of its workers have the same id");
	struct urom_directory *directory = open_one(workers, 99, NULL, 0, &reason);
	assert_non_null(directory);
	urom_directory_close(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_worker_is_found),
		cmocka_unit_test(of_buffers_that_overlap_the_first_is_found),
		cmocka_unit_test(an_id_that_is_there_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
