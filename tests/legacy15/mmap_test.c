/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps of the 1.5 API: ranges and devices that are added after the start, and exports as JSON text. */
#include <stdio.h>
#include <stdlib.h>

#include "legacy/fixture.h"

#define PAGE 4096

static uint8_t memory[16 * PAGE] __attribute__((aligned(PAGE)));
static struct doca_dev *dpu, *host;

static int devices_open(void **state)
{
	(void)state;
	dpu = open_device("03:00.0");
	host = open_device("d8:00.0");
	return 0;
}

static int devices_close(void **state)
{
	(void)state;
	assert_ok(doca_dev_close(dpu));
	assert_ok(doca_dev_close(host));
	return 0;
}

static struct doca_mmap *started_map(struct doca_dev *dev)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_ok(doca_mmap_start(mmap));
	if (dev != NULL)
		assert_ok(doca_mmap_dev_add(mmap, dev));
	return mmap;
}

static doca_error_t populate(struct doca_mmap *mmap, size_t page, size_t num_pages)
{
	return doca_mmap_populate(mmap, memory + page * PAGE, num_pages * PAGE, PAGE, NULL, NULL);
}

static struct doca_buf_inventory *inventory_make(void)
{
	struct doca_buf_inventory *inventory;

	assert_ok(doca_buf_inventory_create(NULL, 8, DOCA_BUF_EXTENSION_NONE, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	return inventory;
}

static doca_error_t buf_get(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, size_t offset, size_t len,
			    struct doca_buf **buf)
{
	return doca_buf_inventory_buf_by_addr(inventory, mmap, memory + offset, len, buf);
}

/* ---- life ---- */

static void devices_and_ranges_come_after_start(void **state)
{
	struct doca_mmap *mmap;
	union doca_data data = {.u64 = 42};

	(void)state;
	assert_int_equal(doca_mmap_create(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&data, &mmap));
	assert_int_equal(doca_mmap_dev_add(mmap, dpu), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, 0, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_dev_add(mmap, dpu));
	assert_int_equal(doca_mmap_dev_add(mmap, dpu), DOCA_ERROR_IN_USE);
	assert_ok(populate(mmap, 0, 1));
	assert_ok(doca_mmap_stop(mmap));
	assert_int_equal(populate(mmap, 1, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, dpu), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_dev_rm(mmap, dpu));
	assert_int_equal(doca_mmap_dev_rm(mmap, dpu), DOCA_ERROR_INVALID_VALUE);
	data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 42);
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void a_stopped_map_allocates_no_bufs(void **state)
{
	struct doca_mmap *mmap = started_map(dpu);
	struct doca_buf_inventory *inventory = inventory_make();
	struct doca_buf *buf, *other;
	uint32_t num;

	(void)state;
	assert_ok(populate(mmap, 0, 1));
	assert_ok(buf_get(inventory, mmap, 0, 10, &buf));
	assert_ok(doca_mmap_stop(mmap)); /* existing bufs stay valid */
	assert_int_equal(buf_get(inventory, mmap, 0, 10, &other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_num_bufs(mmap, &num));
	assert_int_equal(num, 1);
	release(buf);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(buf_get(inventory, mmap, 0, 10, &buf));
	release(buf);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

/* ---- ranges ---- */

static void a_map_has_several_ranges(void **state)
{
	struct doca_mmap *mmap = started_map(dpu);
	struct doca_buf_inventory *inventory = inventory_make();
	struct doca_buf *first, *last, *none;

	(void)state;
	assert_ok(populate(mmap, 0, 2));
	assert_ok(populate(mmap, 4, 2));
	assert_ok(populate(mmap, 2, 1)); /* directly after the first */
	assert_int_equal(populate(mmap, 1, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, 3, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(populate(mmap, 0, 8), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(buf_get(inventory, mmap, 0, 2 * PAGE, &first));
	assert_ok(buf_get(inventory, mmap, 5 * PAGE, PAGE, &last));
	assert_int_equal(buf_get(inventory, mmap, 3 * PAGE, 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(buf_get(inventory, mmap, PAGE, 2 * PAGE, &none), DOCA_ERROR_INVALID_VALUE); /* crosses two ranges */
	assert_int_equal(buf_get(inventory, mmap, 5 * PAGE, PAGE + 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(buf_get(inventory, NULL, 0, 1, &none), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(buf_get(NULL, mmap, 0, 1, &none), DOCA_ERROR_INVALID_VALUE);
	release(first);
	release(last);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void a_range_is_checked(void **state)
{
	struct doca_mmap *mmap = started_map(dpu);

	(void)state;
	assert_int_equal(doca_mmap_populate(NULL, memory, PAGE, PAGE, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, NULL, PAGE, PAGE, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, memory, 0, PAGE, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, memory, SIZE_MAX, PAGE, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, memory, PAGE, 2048, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_populate(mmap, memory, PAGE, 6144, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_populate(mmap, memory + 1, 3, 1 << 21, NULL, NULL));
	assert_ok(doca_mmap_destroy(mmap));
}

struct freed {
	int num;
	size_t bytes;
};

static void count_free(void *addr, size_t len, void *opaque)
{
	struct freed *freed = opaque;

	assert_true((uint8_t *)addr == memory || (uint8_t *)addr == memory + 2 * PAGE);
	freed->num++;
	freed->bytes += len;
}

static void memory_is_released_once(void **state)
{
	struct freed freed = {0};
	struct doca_mmap *mmap = started_map(NULL); /* also without a device */

	(void)state;
	assert_ok(doca_mmap_populate(mmap, memory, PAGE, PAGE, count_free, &freed));
	assert_ok(doca_mmap_populate(mmap, memory + 2 * PAGE, 2 * PAGE, PAGE, count_free, &freed));
	assert_ok(doca_mmap_dev_add(mmap, dpu));
	assert_ok(doca_mmap_dev_rm(mmap, dpu));
	assert_ok(doca_mmap_stop(mmap));
	assert_int_equal(freed.num, 0);
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(freed.num, 2);
	assert_int_equal(freed.bytes, 3 * PAGE);
}

static void devices_are_added_to_existing_ranges(void **state)
{
	struct doca_mmap *mmap = started_map(NULL);
	struct doca_buf_inventory *inventory = inventory_make();
	struct doca_buf *buf;

	(void)state;
	assert_ok(populate(mmap, 0, 1));
	assert_int_equal(buf_get(inventory, mmap, 0, 1, &buf), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_dev_add(mmap, dpu));
	assert_ok(buf_get(inventory, mmap, 0, 1, &buf));
	assert_int_equal(doca_mmap_dev_add(mmap, host), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, dpu), DOCA_ERROR_NOT_PERMITTED);
	release(buf);
	assert_ok(doca_mmap_dev_add(mmap, host));
	assert_ok(buf_get(inventory, mmap, 0, 1, &buf));
	release(buf);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

/* ---- limits ---- */

static void limits_are_kept(void **state)
{
	struct doca_mmap *mmap;
	uint32_t num, two = 2;

	(void)state;
	assert_ok(doca_mmap_create(NULL, &mmap));
	assert_ok(doca_mmap_get_max_num_chunks(mmap, &num));
	assert_int_equal(num, 64);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 65537), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_property_set(mmap, DOCA_MMAP_MAX_NUM_CHUNKS, (uint8_t *)&two, 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_property_set(mmap, DOCA_MMAP_MAX_NUM_CHUNKS, (uint8_t *)&two, sizeof(two)));
	assert_ok(doca_mmap_get_max_num_chunks(mmap, &num));
	assert_int_equal(num, 2);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_max_num_devices(mmap, 1));
	assert_ok(doca_mmap_start(mmap));
	assert_int_equal(doca_mmap_set_max_num_chunks(mmap, 3), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_max_num_devices(mmap, 3), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(mmap, 0, 1));
	assert_ok(populate(mmap, 1, 1));
	assert_int_equal(populate(mmap, 2, 1), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_dev_add(mmap, dpu));
	assert_int_equal(doca_mmap_dev_add(mmap, host), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &num));
	assert_int_equal(num, 1);
	assert_ok(doca_mmap_destroy(mmap));
}

/* ---- exports ---- */

static void an_export_needs_one_range_and_a_device(void **state)
{
	struct doca_mmap *mmap = started_map(NULL);
	void *text;
	size_t len;

	(void)state;
	assert_int_equal(doca_mmap_export(mmap, host, &text, &len), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_dev_add(mmap, host));
	assert_int_equal(doca_mmap_export(mmap, host, &text, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(populate(mmap, 0, 1));
	assert_int_equal(doca_mmap_export(mmap, host, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_export(mmap, dpu, &text, &len), DOCA_ERROR_INVALID_VALUE);
	assert_ok(populate(mmap, 2, 1));
	assert_int_equal(doca_mmap_export(mmap, host, &text, &len), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_destroy(mmap));
}

static void an_export_belongs_to_the_caller(void **state)
{
	struct doca_mmap *mmap = started_map(host), *imported;
	char expected[64], *text;
	uint8_t flag;
	size_t len;

	(void)state;
	assert_ok(populate(mmap, 0, 2));
	assert_ok(doca_mmap_export(mmap, host, (void **)&text, &len));
	assert_int_equal(len, strlen(text) + 1);
	assert_true(len < 1024); /* the size of the buffer that programs use for it */
	snprintf(expected, sizeof(expected), "{\"addr\":%llu,\"len\":%d,", (unsigned long long)(uintptr_t)memory, 2 * PAGE);
	assert_memory_equal(text, expected, strlen(expected));
	assert_ok(doca_mmap_get_exported(mmap, &flag));
	assert_int_equal(flag, 1);
	assert_int_equal(populate(mmap, 4, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_add(mmap, dpu), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(mmap, host), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export(mmap, host, (void **)&text, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_create_from_export(NULL, text, len, dpu, &imported));
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_create_from_export(NULL, text, len - 1, dpu, &imported)); /* without its NUL */
	assert_ok(doca_mmap_get_from_export(imported, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_destroy(mmap));
	free(text);
}

static void an_imported_map_cannot_be_changed(void **state)
{
	struct doca_mmap *mmap = started_map(host), *imported;
	struct doca_buf_inventory *inventory = inventory_make();
	union doca_data data = {.u64 = 9};
	struct doca_buf *buf;
	void *text, *again;
	size_t len;

	(void)state;
	assert_ok(populate(mmap, 0, 2));
	assert_ok(doca_mmap_export(mmap, host, &text, &len));
	assert_ok(doca_mmap_create_from_export(&data, text, len, dpu, &imported));
	data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(imported, &data));
	assert_int_equal(data.u64, 9);
	assert_ok(doca_mmap_start(imported));
	assert_int_equal(doca_mmap_populate(imported, memory + 4 * PAGE, PAGE, PAGE, NULL, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_add(imported, host), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_dev_rm(imported, dpu), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_export(imported, dpu, &again, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_set_max_num_chunks(imported, 2), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(buf_get(inventory, imported, PAGE, PAGE, &buf));
	assert_int_equal(buf_get(inventory, imported, PAGE, PAGE + 1, &buf), DOCA_ERROR_INVALID_VALUE);
	release(buf);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_buf_inventory_destroy(inventory));
	free(text);
}

static void assert_rejected(const char *text, size_t len)
{
	struct doca_mmap *imported;

	assert_int_equal(doca_mmap_create_from_export(NULL, text, len, dpu, &imported), DOCA_ERROR_INVALID_VALUE);
}

/* A text that a program or the transfer has altered. */
static void an_altered_text_is_rejected(void **state)
{
	struct doca_mmap *mmap = started_map(host);
	char *text, *number;
	size_t len;

	(void)state;
	assert_ok(populate(mmap, 0, 2));
	assert_ok(doca_mmap_export(mmap, host, (void **)&text, &len));
	for (size_t cut = 0; cut < len - 1; cut++)
		assert_rejected(text, cut);
	for (size_t at = strlen("{\"addr\":"); at < len - 3; at++) {
		char kept = text[at];

		text[at] = kept == '7' ? '5' : '7';
		assert_rejected(text, len);
		text[at] = kept;
	}
	number = strstr(text, "\"len\":") + strlen("\"len\":");
	*number = '-';
	assert_rejected(text, len);
	assert_ok(doca_mmap_destroy(mmap));
	free(text);
}

static void other_texts_are_rejected(void **state)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "{}",
					    "17",
					    "\"addr\"",
					    "{\"addr\":1,\"len\":1}",
					    "{\"addr\":1,\"len\":1,\"descriptor\":\"\"}",
					    "{\"addr\":1,\"len\":1,\"descriptor\":7}",
					    "{\"addr\":1,\"len\":1,\"descriptor\":\"====\"}",
					    "{\"addr\":1,\"len\":1,\"descriptor\":\"AAAA\"}",
					    "{\"addr\":\"1\",\"len\":1,\"descriptor\":\"AAAA\"}",
					    "[[[[[[[[[[{\"addr\":1}]]]]]]]]]]"};
	static char large[8192];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_rejected(texts[i], strlen(texts[i]) + 1);
	memset(large, ' ', sizeof(large));
	assert_rejected(large, sizeof(large));
	assert_rejected(NULL, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_and_ranges_come_after_start),
		cmocka_unit_test(a_stopped_map_allocates_no_bufs),
		cmocka_unit_test(a_map_has_several_ranges),
		cmocka_unit_test(a_range_is_checked),
		cmocka_unit_test(memory_is_released_once),
		cmocka_unit_test(devices_are_added_to_existing_ranges),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(an_export_needs_one_range_and_a_device),
		cmocka_unit_test(an_export_belongs_to_the_caller),
		cmocka_unit_test(an_imported_map_cannot_be_changed),
		cmocka_unit_test(an_altered_text_is_rejected),
		cmocka_unit_test(other_texts_are_rejected),
	};

	return cmocka_run_group_tests(tests, devices_open, devices_close);
}
