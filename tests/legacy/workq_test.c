/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues and contexts of the 2.2 API, on DMA jobs. */
#include <poll.h>
#include <stdlib.h>

#include "fixture.h"

#include <doca_dma.h>

#include "support/recheck.h"

struct side {
	struct fixture f;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
};

static void side_open(struct side *s, uint32_t depth)
{
	fixture_open(&s->f, depth);
	assert_ok(doca_dma_create(&s->dma));
	s->ctx = doca_dma_as_ctx(s->dma);
	fixture_start(&s->f, s->ctx);
}

static void side_close(struct side *s)
{
	fixture_stop(&s->f, s->ctx);
	assert_ok(doca_ctx_dev_rm(s->ctx, s->f.dev));
	assert_ok(doca_dma_destroy(s->dma));
	fixture_close(&s->f);
}

static struct doca_dma_job_memcpy job_of(struct side *s, struct doca_buf *dst, struct doca_buf *src, uint64_t user_data)
{
	return (struct doca_dma_job_memcpy){
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = s->ctx, .user_data.u64 = user_data},
		.dst_buff = dst,
		.src_buff = src};
}

/* ---- queues ---- */

static void create_has_bounds(void **state)
{
	struct doca_workq *workq;
	uint32_t depth;
	uint8_t enabled;

	assert_int_equal(doca_workq_create(0, &workq), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_create(65537, &workq), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_create(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_workq_create(65536, &workq));
	assert_ok(doca_workq_get_depth(workq, &depth));
	assert_int_equal(depth, 65536);
	assert_ok(doca_workq_get_event_driven_enable(workq, &enabled));
	assert_int_equal(enabled, 0);
	assert_int_equal(doca_workq_get_depth(NULL, &depth), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_get_depth(workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_workq_destroy(workq));
	assert_int_equal(doca_workq_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	(void)state;
}

static void a_job_copies(void **state)
{
	struct side s;
	struct doca_event event;
	size_t len;

	side_open(&s, 8);
	struct doca_buf *src = source_at(&s.f, 0, "forty-two", 10), *dst = room_at(&s.f, 4096, 64);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 77);

	assert_int_equal(doca_workq_progress_retrieve(s.f.workq, &event, 0), DOCA_ERROR_AGAIN);
	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	memset(&job, 0, sizeof(job)); /* copied at submit */
	assert_ok(retrieve(s.f.workq, &event));
	assert_int_equal(event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(event.user_data.u64, 77);
	assert_int_equal(event.result.u64, DOCA_SUCCESS);
	assert_string_equal((char *)s.f.memory + 4096, "forty-two");
	assert_ok(doca_buf_get_data_len(dst, &len));
	assert_int_equal(len, 10);
	assert_int_equal(doca_workq_progress_retrieve(s.f.workq, &event, 0), DOCA_ERROR_AGAIN);
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void the_depth_is_the_limit(void **state)
{
	struct side s;
	struct doca_event event;

	side_open(&s, 3);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 64);

	for (int round = 0; round < 5; round++) {
		for (uint64_t i = 0; i < 3; i++) {
			struct doca_dma_job_memcpy job = job_of(&s, dst, src, i);

			assert_ok(doca_workq_submit(s.f.workq, &job.base));
		}
		struct doca_dma_job_memcpy more = job_of(&s, dst, src, 9);

		assert_int_equal(doca_workq_submit(s.f.workq, &more.base), DOCA_ERROR_NO_MEMORY);
		assert_ok(retrieve(s.f.workq, &event));
		assert_ok(doca_workq_submit(s.f.workq, &more.base)); /* one event was taken */
		for (int i = 0; i < 3; i++)
			assert_ok(retrieve(s.f.workq, &event));
	}
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void ended_jobs_count_until_they_are_retrieved(void **state)
{
	struct side s;
	struct doca_event event;

	side_open(&s, 2);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 64);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_ok(retrieve(s.f.workq, &event)); /* both have ended, one is retrieved */
	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_int_equal(doca_workq_submit(s.f.workq, &job.base), DOCA_ERROR_NO_MEMORY);
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(retrieve(s.f.workq, &event));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void wrong_submits_are_rejected(void **state)
{
	struct side s;
	struct doca_dma *other;

	side_open(&s, 2);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 64);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	assert_int_equal(doca_workq_submit(NULL, &job.base), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_submit(s.f.workq, NULL), DOCA_ERROR_INVALID_VALUE);
	job.base.type = DOCA_ACTION_SHA_FIRST + 1;
	assert_int_equal(doca_workq_submit(s.f.workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job.base.type = DOCA_DMA_JOB_MEMCPY;
	job.src_buff = NULL;
	assert_int_equal(doca_workq_submit(s.f.workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	job.src_buff = src;
	job.base.ctx = NULL;
	assert_int_equal(doca_workq_submit(s.f.workq, &job.base), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dma_create(&other));
	job.base.ctx = doca_dma_as_ctx(other);
	assert_int_equal(doca_workq_submit(s.f.workq, &job.base), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_dma_destroy(other));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void retrieve_returns_the_documented_errors(void **state)
{
	struct side s;
	struct doca_event event = {.type = 5};

	side_open(&s, 2);
	assert_int_equal(doca_workq_progress_retrieve(NULL, &event, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_progress_retrieve(s.f.workq, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_progress_retrieve(s.f.workq, &event, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(event.type, 5);
	side_close(&s);
	(void)state;
}

/* A destination that is too small fails the job. Its event names the job and the error, and the context can be added again. */
static void a_failed_job_has_an_event(void **state)
{
	struct side s;
	struct doca_event event;
	doca_error_t result;

	side_open(&s, 4);
	struct doca_buf *src = source_at(&s.f, 0, "0123456789", 10), *small = room_at(&s.f, 4096, 4),
			*dst = room_at(&s.f, 8192, 64);
	struct doca_dma_job_memcpy bad = job_of(&s, small, src, 13), good = job_of(&s, dst, src, 14);

	assert_ok(doca_workq_submit(s.f.workq, &bad.base));
	assert_int_equal(retrieve(s.f.workq, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(event.user_data.u64, 13);
	assert_int_not_equal(event.result.u64, DOCA_SUCCESS);
	result = doca_workq_submit(s.f.workq, &good.base);
	if (result == DOCA_ERROR_BAD_STATE) { /* the failure has stopped the context too */
		assert_ok(doca_ctx_workq_rm(s.ctx, s.f.workq));
		assert_ok(doca_ctx_workq_add(s.ctx, s.f.workq));
		result = doca_workq_submit(s.f.workq, &good.base);
	}
	assert_ok(result);
	assert_ok(retrieve(s.f.workq, &event));
	assert_int_equal(event.user_data.u64, 14);
	assert_memory_equal(s.f.memory + 8192, "0123456789", 10);
	release(src);
	release(small);
	release(dst);
	side_close(&s);
	(void)state;
}

/* ---- contexts ---- */

static void devices_come_before_start(void **state)
{
	struct fixture f;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_dev *other = open_device("03:00.1");

	fixture_open(&f, 2);
	assert_int_equal(doca_dma_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dma_create(&dma));
	ctx = doca_dma_as_ctx(dma);
	assert_null(doca_dma_as_ctx(NULL));
	assert_int_equal(doca_ctx_dev_add(NULL, f.dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_dev_add(ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE); /* no device */
	assert_int_equal(doca_ctx_dev_rm(ctx, f.dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_dev_add(ctx, f.dev));
	assert_int_equal(doca_ctx_dev_add(ctx, f.dev), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_dev_add(ctx, other), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dev_close(f.dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_start(ctx));
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_add(ctx, other), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_dev_rm(ctx, f.dev), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_dma_destroy(dma), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_ctx_stop(ctx)); /* already idle */
	assert_ok(doca_ctx_dev_rm(ctx, f.dev));
	assert_ok(doca_dma_destroy(dma));
	assert_int_equal(doca_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	fixture_close(&f);
	assert_ok(doca_dev_close(other));
	(void)state;
}

static void queues_come_after_start(void **state)
{
	struct side s;
	struct doca_workq *other;

	side_open(&s, 2);
	assert_ok(doca_workq_create(2, &other));
	assert_int_equal(doca_ctx_workq_add(s.ctx, s.f.workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_workq_add(NULL, other), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_workq_add(s.ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_workq_rm(s.ctx, other), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_ctx_stop(s.ctx), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_workq_destroy(s.f.workq), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_workq_rm(s.ctx, s.f.workq));
	assert_int_equal(doca_ctx_workq_rm(s.ctx, s.f.workq), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_stop(s.ctx));
	assert_int_equal(doca_ctx_workq_add(s.ctx, s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_ctx_workq_rm(s.ctx, s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(s.ctx));
	assert_ok(doca_ctx_workq_add(s.ctx, s.f.workq));
	assert_ok(doca_workq_destroy(other));
	side_close(&s);
	(void)state;
}

static void jobs_in_flight_keep_the_queue(void **state)
{
	struct side s;
	struct doca_event event;

	side_open(&s, 2);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 64);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_int_equal(doca_ctx_workq_rm(s.ctx, s.f.workq), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_workq_set_event_driven_enable(s.f.workq, 1), DOCA_ERROR_BAD_STATE);
	assert_ok(retrieve(s.f.workq, &event));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void one_context_serves_two_queues(void **state)
{
	struct side s;
	struct doca_workq *second;
	struct doca_event event;

	side_open(&s, 2);
	assert_ok(doca_workq_create(1, &second));
	assert_ok(doca_ctx_workq_add(s.ctx, second));
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 64);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	job.base.user_data.u64 = 2;
	assert_ok(doca_workq_submit(second, &job.base));
	assert_ok(retrieve(second, &event));
	assert_int_equal(event.user_data.u64, 2);
	assert_ok(retrieve(s.f.workq, &event));
	assert_int_equal(event.user_data.u64, 1);
	assert_ok(doca_ctx_workq_rm(s.ctx, second));
	assert_ok(doca_workq_destroy(second));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static void attributes_are_reported(void **state)
{
	struct side s;
	uint32_t max = 0;
	uint8_t supported = 0;
	uint64_t size;
	struct doca_devinfo *info;

	side_open(&s, 2);
	info = doca_dev_as_devinfo(s.f.dev);
	assert_ok(doca_ctx_get_max_num_ctx(&max));
	assert_true(max > 0);
	assert_int_equal(doca_ctx_get_max_num_ctx(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_get_event_driven_supported(s.ctx, &supported));
	assert_int_equal(supported, 1);
	assert_int_equal(doca_ctx_get_event_driven_supported(NULL, &supported), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(s.ctx, (struct doca_gpu *)&s), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_ctx_set_datapath_on_gpu(s.ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY));
	assert_int_equal(doca_dma_job_get_supported(info, (enum doca_dma_job_types)7), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_dma_job_get_supported(NULL, DOCA_DMA_JOB_MEMCPY), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dma_get_max_list_buf_num_elem(info, &max));
	assert_ok(doca_dma_get_max_buf_size(info, &size));
	assert_true(max > 1 && size > 1024 * 1024);
	side_close(&s);
	(void)state;
}

static void a_queue_has_a_maximum_of_contexts(void **state)
{
	struct doca_dma *dmas[257];
	struct fixture f;
	uint32_t max;

	fixture_open(&f, 1);
	assert_ok(doca_ctx_get_max_num_ctx(&max));
	assert_in_range(max, 1, 256);
	for (uint32_t i = 0; i <= max; i++) {
		assert_ok(doca_dma_create(&dmas[i]));
		assert_ok(doca_ctx_dev_add(doca_dma_as_ctx(dmas[i]), f.dev));
		assert_ok(doca_ctx_start(doca_dma_as_ctx(dmas[i])));
		assert_int_equal(doca_ctx_workq_add(doca_dma_as_ctx(dmas[i]), f.workq),
				 i < max ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY);
	}
	for (uint32_t i = 0; i <= max; i++) {
		if (i < max)
			assert_ok(doca_ctx_workq_rm(doca_dma_as_ctx(dmas[i]), f.workq));
		assert_ok(doca_ctx_stop(doca_dma_as_ctx(dmas[i])));
		assert_ok(doca_dma_destroy(dmas[i]));
	}
	fixture_close(&f);
	(void)state;
}

/* ---- event-driven mode ---- */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, timeout_ms) == 1;
}

static void polling_queues_have_no_handle(void **state)
{
	struct side s;
	doca_event_handle_t handle;

	side_open(&s, 2);
	assert_int_equal(doca_workq_get_event_handle(s.f.workq, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_event_handle_arm(s.f.workq), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_event_handle_clear(s.f.workq, 0), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_workq_event_handle_arm(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_event_handle_clear(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_get_event_handle(s.f.workq, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_set_event_driven_enable(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_workq_set_event_handle(s.f.workq, 3, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_workq_set_event_handle(NULL, 3, 0), DOCA_ERROR_INVALID_VALUE);
	side_close(&s);
	(void)state;
}

/* Arm, submit, wait, clear, retrieve until AGAIN: as in the guide, many times. */
static void the_handle_reports_events(void **state)
{
	struct side s;
	struct doca_event event;
	doca_event_handle_t handle;
	uint8_t enabled;

	side_open(&s, 4);
	assert_ok(doca_workq_set_event_driven_enable(s.f.workq, 1));
	assert_ok(doca_workq_get_event_driven_enable(s.f.workq, &enabled));
	assert_int_equal(enabled, 1);
	assert_ok(doca_workq_get_event_handle(s.f.workq, &handle));
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 8192);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	for (int round = 0; round < 500; round++) {
		int num = 0;

		assert_ok(doca_workq_event_handle_arm(s.f.workq));
		assert_false(is_readable(handle, 0));
		for (int i = 0; i < 1 + round % 4; i++)
			assert_ok(doca_workq_submit(s.f.workq, &job.base));
		while (num < 1 + round % 4) {
			doca_error_t result;

			assert_true(is_readable(handle, 5000));
			assert_ok(doca_workq_event_handle_clear(s.f.workq, handle));
			while ((result = doca_workq_progress_retrieve(s.f.workq, &event, 0)) == DOCA_SUCCESS)
				num++;
			assert_int_equal(result, DOCA_ERROR_AGAIN);
			if (num < 1 + round % 4)
				assert_ok(doca_workq_event_handle_arm(s.f.workq));
		}
	}
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

static doca_event_handle_t event_driven_open(struct side *s)
{
	doca_event_handle_t handle;

	side_open(s, 4);
	assert_ok(doca_workq_set_event_driven_enable(s->f.workq, 1));
	assert_ok(doca_workq_get_event_handle(s->f.workq, &handle));
	return handle;
}

/* Arm, retrieve once more and find nothing, wait. The wake-up comes from a job that ends during its submit. */
static void a_retrieve_that_finds_nothing_leaves_the_queue_armed(void **state)
{
	struct side s;
	struct doca_event event;
	doca_event_handle_t handle = event_driven_open(&s);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 8192);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	for (uint32_t round = 0; round < RECHECK_ROUNDS; round++) {
		doca_error_t result;

		assert_ok(doca_workq_event_handle_arm(s.f.workq));
		for (uint32_t i = 0; i <= round % 3; i++)
			assert_int_equal(doca_workq_progress_retrieve(s.f.workq, &event, 0), DOCA_ERROR_AGAIN);
		assert_ok(doca_workq_submit(s.f.workq, &job.base));
		recheck_wait(handle, round);
		assert_ok(doca_workq_event_handle_clear(s.f.workq, handle));
		result = doca_workq_progress_retrieve(s.f.workq, &event, 0);
		assert_ok(result);
		assert_ok(doca_buf_set_data(dst, s.f.memory + 4096, 0));
	}
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

/* Events that exist before the queue is armed cause a wake-up. */
static void an_event_not_retrieved_wakes(void **state)
{
	struct side s;
	struct doca_event event;
	doca_event_handle_t handle = event_driven_open(&s);
	struct doca_buf *src = source_at(&s.f, 0, "x", 1), *dst = room_at(&s.f, 4096, 8192);
	struct doca_dma_job_memcpy job = job_of(&s, dst, src, 1);

	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_ok(doca_workq_submit(s.f.workq, &job.base));
	assert_ok(retrieve(s.f.workq, &event));
	assert_ok(doca_workq_event_handle_arm(s.f.workq));
	assert_true(is_readable(handle, 5000));
	assert_ok(doca_workq_event_handle_clear(s.f.workq, handle));
	assert_ok(retrieve(s.f.workq, &event));
	release(src);
	release(dst);
	side_close(&s);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_has_bounds),
		cmocka_unit_test(a_job_copies),
		cmocka_unit_test(the_depth_is_the_limit),
		cmocka_unit_test(ended_jobs_count_until_they_are_retrieved),
		cmocka_unit_test(wrong_submits_are_rejected),
		cmocka_unit_test(retrieve_returns_the_documented_errors),
		cmocka_unit_test(a_failed_job_has_an_event),
		cmocka_unit_test(devices_come_before_start),
		cmocka_unit_test(queues_come_after_start),
		cmocka_unit_test(jobs_in_flight_keep_the_queue),
		cmocka_unit_test(one_context_serves_two_queues),
		cmocka_unit_test(attributes_are_reported),
		cmocka_unit_test(a_queue_has_a_maximum_of_contexts),
		cmocka_unit_test(polling_queues_have_no_handle),
		cmocka_unit_test(the_handle_reports_events),
		cmocka_unit_test(a_retrieve_that_finds_nothing_leaves_the_queue_armed),
		cmocka_unit_test(an_event_not_retrieved_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
