/* SPDX-License-Identifier: BSD-3-Clause */
/* The compress context: arguments, capabilities, limits, wrong tasks and their log lines, stop. Runs with and without engine
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <poll.h>

#include "compress_fixture.h"
#include "support/log_lines.h"

#define BAD DOCA_ERROR_INVALID_VALUE
#define MANY 65536

/* ---- arguments and capabilities ---- */

#define NULL_ARGUMENTS(name, cs)                                                                                                 \
	do {                                                                                                                     \
		assert_int_equal(doca_compress_cap_task_##name##_is_supported(NULL), BAD);                                       \
		assert_int_equal(doca_compress_cap_task_##name##_get_max_buf_size(NULL, &size), BAD);                            \
		assert_int_equal(doca_compress_cap_task_##name##_get_max_buf_size(info, NULL), BAD);                             \
		assert_int_equal(doca_compress_cap_task_##name##_get_max_buf_list_len(NULL, &number), BAD);                      \
		assert_int_equal(doca_compress_cap_task_##name##_get_max_buf_list_len(info, NULL), BAD);                         \
		assert_int_equal(doca_compress_task_##name##_set_conf(NULL, rig_##name##_good, rig_##name##_failed, 1), BAD);    \
		assert_null(doca_compress_task_##name##_as_task(NULL));                                                          \
		assert_null(doca_compress_task_##name##_get_src(NULL));                                                          \
		assert_null(doca_compress_task_##name##_get_dst(NULL));                                                          \
		assert_int_equal(doca_compress_task_##name##_get_crc_cs(NULL), 0);                                               \
		assert_int_equal(doca_compress_task_##name##_get_##cs##_cs(NULL), 0);                                            \
		doca_compress_task_##name##_set_src(NULL, buf);                                                                  \
		doca_compress_task_##name##_set_dst(NULL, buf);                                                                  \
	} while (0)

#define NULL_ALLOC(name)                                                                                                         \
	do {                                                                                                                     \
		struct doca_compress_task_##name *task;                                                                          \
		assert_int_equal(doca_compress_task_##name##_alloc_init(NULL, buf, buf, data, &task), BAD);                      \
		assert_int_equal(doca_compress_task_##name##_alloc_init(rig->compress, NULL, buf, data, &task), BAD);            \
		assert_int_equal(doca_compress_task_##name##_alloc_init(rig->compress, buf, NULL, data, &task), BAD);            \
		assert_int_equal(doca_compress_task_##name##_alloc_init(rig->compress, buf, buf, data, NULL), BAD);              \
		ok(doca_compress_task_##name##_alloc_init(rig->compress, buf, buf, data, &task));                                \
		doca_compress_task_##name##_set_src(task, NULL);                                                                 \
		doca_compress_task_##name##_set_dst(task, NULL);                                                                 \
		assert_ptr_equal(doca_compress_task_##name##_get_src(task), buf);                                                \
		assert_ptr_equal(doca_compress_task_##name##_get_dst(task), buf);                                                \
		doca_compress_task_##name##_set_src(task, other);                                                                \
		doca_compress_task_##name##_set_dst(task, other);                                                                \
		assert_ptr_equal(doca_compress_task_##name##_get_src(task), other);                                              \
		assert_ptr_equal(doca_compress_task_##name##_get_dst(task), other);                                              \
		doca_task_free(doca_compress_task_##name##_as_task(task));                                                       \
	} while (0)

static void null_arguments(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev);
	struct doca_buf *buf = rig_source(rig, rig->mmap, rig->memory, 64), *other = rig_source(rig, rig->mmap, rig->memory, 64);
	struct doca_compress_task_decompress_lz4_stream *stream;
	union doca_data data = {.u64 = 0};
	struct doca_compress *compress;
	uint32_t number;
	uint64_t size;

	assert_int_equal(doca_compress_create(NULL, &compress), BAD);
	assert_int_equal(doca_compress_create(rig->dev, NULL), BAD);
	assert_int_equal(doca_compress_destroy(NULL), BAD);
	assert_null(doca_compress_as_ctx(NULL));
	assert_int_equal(doca_compress_cap_get_max_num_tasks(NULL, &number), BAD);
	assert_int_equal(doca_compress_cap_get_max_num_tasks(rig->compress, NULL), BAD);
	NULL_ARGUMENTS(compress_deflate, adler);
	NULL_ARGUMENTS(decompress_deflate, adler);
	NULL_ARGUMENTS(decompress_lz4, adler);
	NULL_ARGUMENTS(decompress_lz4_stream, xxh);
	NULL_ARGUMENTS(decompress_lz4_block, xxh);
	NULL_ALLOC(compress_deflate);
	NULL_ALLOC(decompress_deflate);
	NULL_ALLOC(decompress_lz4);
	NULL_ALLOC(decompress_lz4_block);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_alloc_init(NULL, 0, 0, buf, buf, data, &stream), BAD);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_alloc_init(rig->compress, 0, 0, buf, buf, data, NULL), BAD);
	doca_compress_task_decompress_lz4_stream_set_has_block_checksum(NULL, 1);
	doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(NULL, 1);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(NULL), 0);
	assert_int_equal(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(NULL), 0);
	rig_put(buf);
	rig_put(other);
}

#define CAPABILITIES(name, expected)                                                                                             \
	do {                                                                                                                     \
		ok(doca_compress_cap_task_##name##_is_supported(info));                                                          \
		ok(doca_compress_cap_task_##name##_get_max_buf_size(info, &size));                                               \
		assert_int_equal(size, expected);                                                                                \
		ok(doca_compress_cap_task_##name##_get_max_buf_list_len(info, &number));                                         \
		assert_int_equal(number, 64);                                                                                    \
	} while (0)

static void capabilities(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev);
	uint32_t number;
	uint64_t size;

	CAPABILITIES(compress_deflate, 128 << 20);
	CAPABILITIES(decompress_deflate, 128 << 20);
	CAPABILITIES(decompress_lz4, 128 << 20);
	CAPABILITIES(decompress_lz4_stream, 128 << 20);
	CAPABILITIES(decompress_lz4_block, 4 << 20);
	ok(doca_compress_cap_get_max_num_tasks(rig->compress, &number));
	assert_int_equal(number, MANY);
	assert_int_equal(doca_compress_destroy(rig->compress), DOCA_ERROR_IN_USE);
}

/* The limit counts the tasks of all types together. */
static void numbers_of_tasks(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(doca_compress_task_compress_deflate_set_conf(rig->compress, rig_compress_deflate_good,
								      rig_compress_deflate_failed, 1),
			 DOCA_ERROR_BAD_STATE);
	rig_stop(rig);
	log_lines_forget();
#define SET_CONF(num)                                                                                                            \
	doca_compress_task_compress_deflate_set_conf(rig->compress, rig_compress_deflate_good, rig_compress_deflate_failed, num)
	assert_int_equal(SET_CONF(0), BAD);
	log_lines_expect("0 compress deflate tasks", "1 to 65536", "");
	assert_int_equal(SET_CONF(MANY + 1), BAD);
	log_lines_expect("65537 compress deflate tasks", "1 to 65536", "");
	assert_int_equal(SET_CONF(UINT32_MAX), BAD);
	log_lines_forget();
	assert_int_equal(SET_CONF(MANY - 4 * RIG_TASKS + 1), BAD);
	log_lines_expect("and 32 of other types", "65536", "");
	ok(SET_CONF(MANY - 4 * RIG_TASKS));
	assert_int_equal(
		doca_compress_task_decompress_deflate_set_conf(rig->compress, NULL, rig_decompress_deflate_failed, RIG_TASKS),
		BAD);
	rig_start(rig);
}

static void all_tasks_are_allocated(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *buf = rig_source(rig, rig->mmap, rig->memory, 64);
	struct doca_compress_task_decompress_lz4_block *none;
	struct doca_task *tasks[RIG_TASKS];
	union doca_data data = {.u64 = 0};

	for (int i = 0; i < RIG_TASKS; i++)
		tasks[i] = rig_task(rig, RIG_LZ4_BLOCK, buf, buf);
	log_lines_forget();
	assert_int_equal(doca_compress_task_decompress_lz4_block_alloc_init(rig->compress, buf, buf, data, &none),
			 DOCA_ERROR_NO_MEMORY);
	log_lines_expect("all 8 decompress lz4 block tasks are allocated", "", "configure more");
	for (int i = 0; i < RIG_TASKS; i++)
		doca_task_free(tasks[i]);
	rig_stop(rig);
	assert_int_equal(doca_compress_task_decompress_lz4_block_alloc_init(rig->compress, buf, buf, data, &none),
			 DOCA_ERROR_BAD_STATE);
	rig_put(buf);
}

/* A context works without the types that were not configured. */
static void one_type_alone(void **state)
{
	struct rig *rig = *state;
	struct doca_compress *compress;
	struct doca_ctx *ctx;
	struct doca_buf *buf = rig_source(rig, rig->mmap, rig->memory, 64);
	struct doca_compress_task_decompress_deflate *none;

	ok(doca_compress_create(rig->dev, &compress));
	ctx = doca_compress_as_ctx(compress);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	ok(doca_pe_connect_ctx(rig->pe, ctx));
	ok(doca_compress_task_compress_deflate_set_conf(compress, rig_compress_deflate_good, rig_compress_deflate_failed, 1));
	ok(doca_ctx_start(ctx));
	assert_int_equal(doca_compress_task_decompress_deflate_alloc_init(compress, buf, buf, (union doca_data){.u64 = 0}, &none),
			 DOCA_ERROR_NO_MEMORY);
	ok(doca_ctx_stop(ctx));
	ok(doca_compress_destroy(compress));
	rig_put(buf);
}

/* ---- wrong tasks ---- */

/* try_submit fails and the context runs on; submit accepts the task, which then fails with the status. Each logs one line. */
static void expect_wrong(struct rig *rig, enum rig_kind kind, struct doca_buf *src, struct doca_buf *dst, doca_error_t status,
			 const char *what, const char *by, const char *advice)
{
	struct doca_task *task = rig_task(rig, kind, src, dst);

	log_lines_forget();
	assert_int_equal(doca_task_try_submit(task), BAD);
	log_lines_expect(what, by, advice);
	assert_int_equal(rig->state, DOCA_CTX_STATE_RUNNING);
	doca_task_free(task);
	assert_int_equal(rig_run(rig, kind, src, dst), status);
	log_lines_expect(what, by, advice);
}

static void source_without_data(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 0);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, 100);

	for (enum rig_kind kind = RIG_INFLATE; kind < RIG_KINDS; kind++)
		expect_wrong(rig, kind, src, dst, BAD, "the source has no data", "decompress", "set its data section");
	rig_put(src);
	rig_put(dst);
}

static void source_that_is_too_long(void **state)
{
	static const struct {
		enum rig_kind kind;
		size_t max;
		const char *what, *by;
	} cases[] = {
		{RIG_DEFLATE, (size_t)128 << 20, "compress deflate: the source has 134217729 bytes", "the limit of 134217728"},
		{RIG_INFLATE, (size_t)128 << 20, "decompress deflate: the source has 134217729 bytes", "the limit of 134217728"},
		{RIG_LZ4_STREAM, (size_t)128 << 20, "lz4 stream: the source has 134217729 bytes", "the limit of 134217728"},
		{RIG_LZ4_BLOCK, (size_t)4 << 20, "lz4 block: the source has 4194305 bytes", "the limit of 4194304"},
	};
	struct rig *rig = *state;
	size_t size = ((size_t)128 << 20) + 1;
	uint8_t *memory = calloc(1, size);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, 100);
	struct doca_mmap *mmap;

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, rig->dev));
	ok(doca_mmap_set_memrange(mmap, memory, size));
	ok(doca_mmap_start(mmap));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doca_buf *src = rig_source(rig, mmap, memory, cases[i].max + 1);

		expect_wrong(rig, cases[i].kind, src, dst, BAD, cases[i].what, cases[i].by, "split it");
		rig_put(src);
	}
	rig_put(dst);
	ok(doca_mmap_destroy(mmap));
	free(memory);
}

static void destination_that_is_read_only(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 30000), *dst;
	struct doca_mmap *mmap;

	ok(doca_mmap_create(&mmap));
	ok(doca_mmap_add_dev(mmap, rig->dev));
	ok(doca_mmap_set_memrange(mmap, rig->memory + ROOM_AT, 4096));
	ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY));
	ok(doca_mmap_start(mmap));
	dst = rig_room(rig, mmap, rig->memory + ROOM_AT, 4096);
	for (enum rig_kind kind = 0; kind < RIG_KINDS; kind++)
		expect_wrong(rig, kind, src, dst, DOCA_ERROR_NOT_PERMITTED, "cannot be a destination",
			     "DOCA_ACCESS_FLAG_LOCAL_READ_WRITE", "");
	rig_put(src);
	rig_put(dst);
	ok(doca_mmap_destroy(mmap));
}

static void list_that_is_too_long(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 10);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, 4096);

	for (int i = 0; i < 64; i++)
		ok(doca_buf_chain_list(src, rig_source(rig, rig->mmap, rig->memory, 10)));
	for (enum rig_kind kind = 0; kind < RIG_KINDS; kind++)
		expect_wrong(rig, kind, src, dst, BAD, "more than 64 buffers", "", "shorten it");
	rig_put(src);
	rig_put(dst);
}

/* Errors that try_submit cannot see also log one line. */
static void lines_of_streams(void **state)
{
	struct rig *rig = *state;

	rig_fill(rig->memory, 1000, 0);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, 1000, 6);

	log_lines_forget();
	expect_failure(rig, RIG_INFLATE, PACKED_AT, packed, 999, BAD);
	log_lines_expect("decompress deflate: the result exceeds", "999 bytes", "pass a larger buffer");
	expect_failure(rig, RIG_INFLATE, PACKED_AT, packed - 1, 1000, DOCA_ERROR_IO_FAILED);
	log_lines_expect("ends before its stream does", "decompress deflate", "pass the whole stream");
	expect_failure(rig, RIG_DEFLATE, 0, 1000, 10, BAD);
	log_lines_expect("compress deflate: the result exceeds", "10 bytes", "pass a larger buffer");
	rig->memory[PACKED_AT] = 7;
	expect_failure(rig, RIG_INFLATE, PACKED_AT, packed, 1000, DOCA_ERROR_IO_FAILED);
	log_lines_expect("decompress deflate: the source is corrupt", "invalid block type", "");
	memset(rig->memory + PACKED_AT, 0xff, 100);
	expect_failure(rig, RIG_LZ4_STREAM, PACKED_AT, 100, 1000, DOCA_ERROR_IO_FAILED);
	log_lines_expect("decompress lz4 stream: the source is corrupt", "ERROR_maxBlockSize_invalid", "");
}

static void setters_of_a_task_in_flight(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 1000);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, 4096);
	struct doca_compress_task_compress_deflate *task;

	ok(doca_compress_task_compress_deflate_alloc_init(rig->compress, src, dst, (union doca_data){.u64 = 0}, &task));
	ok(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
	log_lines_forget();
	doca_compress_task_compress_deflate_set_src(task, dst);
	log_lines_expect("doca_compress_task_compress_deflate_set_src", "the task is in flight", "nothing is set");
	doca_compress_task_compress_deflate_set_dst(task, NULL);
	log_lines_expect("doca_compress_task_compress_deflate_set_dst", "the buffer is NULL", "nothing is set");
	assert_ptr_equal(doca_compress_task_compress_deflate_get_src(task), src);
	RIG_WAIT(rig, rig->num_good == 1);
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	rig_put(src);
	rig_put(dst);
}

/* ---- progress ---- */

/* One progress call processes a slice of a large task, so other contexts make progress. */
static void large_tasks_go_in_slices(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 8000);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, ROOM_MAX);
	struct doca_task *task;
	uint32_t calls = 0;

	memset(rig->memory, 'z', PLAIN_MAX);

	size_t packed = rig_deflate(rig->memory + PACKED_AT, 8000, rig->memory, PLAIN_MAX, 9);

	memcpy(rig->memory, rig->memory + PACKED_AT, packed);
	task = rig_task(rig, RIG_INFLATE, src, dst); /* too small for an engine thread */
	ok(doca_task_submit(task));
	while (rig->num_good == 0 && rig->num_failed == 0) {
		(void)doca_pe_progress(rig->pe);
		calls++;
	}
	ok(rig->status);
	assert_in_range(calls, PLAIN_MAX >> 18, PLAIN_MAX >> 16);
	doca_task_free(task);
	rig_put(src);
	rig_put(dst);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct rig *rig = *state;
	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, PLAIN_MAX), *dst[RIG_TASKS];
	struct doca_task *tasks[RIG_TASKS];

	rig_fill(rig->memory, PLAIN_MAX, 0);
	for (int i = 0; i < RIG_TASKS; i++) {
		dst[i] = rig_room(rig, rig->mmap, rig->memory + ROOM_AT + (size_t)i * 300000, 300000);
		tasks[i] = rig_task(rig, RIG_DEFLATE, src, dst[i]);
		ok(doca_task_submit(tasks[i]));
	}
	(void)doca_pe_progress(rig->pe); /* begins the first task */
	assert_int_equal(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	RIG_WAIT(rig, rig->num_good + rig->num_failed == RIG_TASKS);
	assert_true(rig->num_failed >= 2);
	assert_int_equal(rig->status, DOCA_ERROR_BAD_STATE);
	assert_int_equal(rig->state, DOCA_CTX_STATE_STOPPING);
	for (int i = 0; i < RIG_TASKS; i++)
		doca_task_free(tasks[i]);
	RIG_WAIT(rig, rig->state == DOCA_CTX_STATE_IDLE);
	rig_start(rig); /* nothing is left of the begun task */
	rig_fill(rig->memory, 1000, 0);
	expect_plain(rig, RIG_INFLATE, PACKED_AT, rig_deflate(rig->memory + PACKED_AT, PACKED_MAX, rig->memory, 1000, 6), 1000,
		     0);
	for (int i = 0; i < RIG_TASKS; i++)
		rig_put(dst[i]);
	rig_put(src);
}

/* A program that sleeps until its tasks are done. */
static void event_driven(void **state)
{
	struct rig *rig = *state;
	doca_notification_handle_t handle;

	rig_fill(rig->memory, 300000, 0);

	struct doca_buf *src = rig_source(rig, rig->mmap, rig->memory, 300000);
	struct doca_buf *dst = rig_room(rig, rig->mmap, rig->memory + ROOM_AT, ROOM_MAX);
	struct doca_task *task = rig_task(rig, RIG_DEFLATE, src, dst);

	ok(doca_pe_get_notification_handle(rig->pe, &handle));
	for (uint32_t i = 0; i < 20; i++) {
		struct pollfd fd = {.fd = handle, .events = POLLIN};

		ok(doca_buf_reset_data_len(dst));
		ok(doca_task_submit(task));
		while (rig->num_good != i + 1) {
			ok(doca_pe_request_notification(rig->pe));
			assert_int_equal(poll(&fd, 1, RIG_WAIT_S * 1000), 1);
			ok(doca_pe_clear_notification(rig->pe, 0));
			while (doca_pe_progress(rig->pe) != 0)
				;
		}
	}
	doca_task_free(task);
	rig_put(src);
	rig_put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(null_arguments),
		T(capabilities),
		T(numbers_of_tasks),
		T(all_tasks_are_allocated),
		T(one_type_alone),
		T(source_without_data),
		T(source_that_is_too_long),
		T(destination_that_is_read_only),
		T(list_that_is_too_long),
		T(lines_of_streams),
		T(setters_of_a_task_in_flight),
		T(large_tasks_go_in_slices),
		T(stop_with_tasks_in_flight),
		T(event_driven),
	};

	return cmocka_run_group_tests(tests, log_lines_setup, NULL);
}
