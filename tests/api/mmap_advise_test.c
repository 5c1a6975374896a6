/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice about memory: the cache invalidate task. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <doca_ctx.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>

#include "buf_fixture.h"

#define NUM_TASKS 4
#define HOST_DEVICE 2 /* index in the default topology's list, whose first entry is a DPU's */

struct advice {
	struct fixture *f;
	struct doca_pe *pe;
	struct doca_mmap_advise *advise;
	struct doca_ctx *ctx;
	uint32_t num_done, num_failed;
	doca_error_t status;
	struct doca_task *again; /* submitted again by the next completion callback */
};

static void done(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data, union doca_data ctx_data)
{
	struct advice *a = ctx_data.ptr;

	assert_int_equal(task_data.u64, 42);
	a->num_done++;
	if (a->again != NULL) {
		a->again = NULL;
		assert_int_equal(doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)), DOCA_SUCCESS);
	}
}

static void failed(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data, union doca_data ctx_data)
{
	struct advice *a = ctx_data.ptr;

	a->num_failed++;
	a->status = doca_task_get_status(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
}

static int advise_setup(void **state)
{
	static struct advice advice;
	struct advice *a = &advice;

	memset(a, 0, sizeof(*a));
	assert_int_equal(setup((void **)&a->f), 0);
	assert_int_equal(doca_pe_create(&a->pe), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_advise_create(a->f->dev, &a->advise), DOCA_SUCCESS);
	a->ctx = doca_mmap_advise_as_ctx(a->advise);
	assert_int_equal(doca_pe_connect_ctx(a->pe, a->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_set_user_data(a->ctx, (union doca_data){.ptr = a}), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(a->advise, done, failed, NUM_TASKS), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(a->ctx), DOCA_SUCCESS);
	*state = a;
	return 0;
}

static int advise_teardown(void **state)
{
	struct advice *a = *state;

	assert_int_equal(doca_ctx_stop(a->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_advise_destroy(a->advise), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(a->pe), DOCA_SUCCESS);
	return teardown((void **)&a->f);
}

static struct doca_mmap_advise_task_invalidate_cache *task_of(struct advice *a, struct doca_buf *buf)
{
	struct doca_mmap_advise_task_invalidate_cache *task;

	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(a->advise, buf, (union doca_data){.u64 = 42}, &task),
			 DOCA_SUCCESS);
	return task;
}

static struct doca_task *base(struct doca_mmap_advise_task_invalidate_cache *task)
{
	return doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
}

/* try_submit fails; submit accepts the task, which fails without stopping the context. */
static void expect_rejected(struct advice *a, struct doca_mmap_advise_task_invalidate_cache *task)
{
	enum doca_ctx_states state;

	a->num_failed = 0;
	assert_int_equal(doca_task_try_submit(base(task)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_task_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(a->num_failed, 0);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_failed, 1);
	assert_int_equal(a->status, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_ctx_get_state(a->ctx, &state), DOCA_SUCCESS);
	assert_int_equal(state, DOCA_CTX_STATE_RUNNING);
}

static void completes_from_progress_and_leaves_memory_alone(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 64, 128);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);
	void *data;
	size_t len;

	memset(a->f->memory, 0x5a, SIZE);
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), buf);
	assert_int_equal(doca_task_try_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(a->num_done, 0);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done, 1);
	assert_int_equal(doca_pe_progress(a->pe), 0);
	for (int i = 0; i < SIZE; i++)
		assert_int_equal(a->f->memory[i], 0x5a);
	assert_int_equal(doca_buf_get_data(buf, &data), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_data_len(buf, &len), DOCA_SUCCESS);
	assert_ptr_equal(data, a->f->memory + 64);
	assert_int_equal(len, 128);
	doca_task_free(base(task));
	put(buf);
}

static void submitted_again_in_its_callback(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 1);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);

	a->again = base(task);
	assert_int_equal(doca_task_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done, 1);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done, 2);
	doca_task_free(base(task));
	put(buf);
}

static void a_list_counts_as_a_whole(void **state)
{
	struct advice *a = *state;
	struct doca_buf *first = get(a->f, 0, 64), *second = get(a->f, 100, 3);

	assert_int_equal(doca_buf_chain_list(first, second), DOCA_SUCCESS);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, first);

	assert_int_equal(doca_task_try_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done, 1);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, second);
	expect_rejected(a, task); /* not the head of the list */
	doca_task_free(base(task));
	put(first);
}

static void without_data_or_buf_it_fails(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 64);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);

	assert_int_equal(doca_buf_reset_data_len(buf), DOCA_SUCCESS);
	expect_rejected(a, task);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, NULL);
	assert_null(doca_mmap_advise_task_invalidate_cache_get_buf(task));
	expect_rejected(a, task);
	doca_task_free(base(task));
	put(buf);
}

static void memory_of_another_device_fails(void **state)
{
	struct advice *a = *state;
	struct doca_dev *other = test_dev_open(1);
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	assert_non_null(other);
	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, other), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, a->f->memory, SIZE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_data(a->f->inventory, mmap, a->f->memory, 64, &buf), DOCA_SUCCESS);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);

	expect_rejected(a, task);
	doca_task_free(base(task));
	put(buf);
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(other), DOCA_SUCCESS);
}

/* Address space without memory suffices, because nothing may access it. */
static void the_largest_task_has_the_size_of_the_capability(void **state)
{
	struct advice *a = *state;
	struct doca_mmap *map;
	struct doca_buf *buf;
	uint64_t max;

	assert_int_equal(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(doca_dev_as_devinfo(a->f->dev), &max),
			 DOCA_SUCCESS);
	char *space = mmap(NULL, max + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(space, MAP_FAILED);
	assert_int_equal(doca_mmap_create(&map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(map, a->f->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(map, space, max + 1), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(map), DOCA_SUCCESS);
	assert_int_equal(doca_buf_inventory_buf_get_by_data(a->f->inventory, map, space, max + 1, &buf), DOCA_SUCCESS);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);

	expect_rejected(a, task);
	assert_int_equal(doca_buf_set_data(buf, space, max), DOCA_SUCCESS);
	assert_int_equal(doca_task_try_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done, 1);
	doca_task_free(base(task));
	put(buf);
	assert_int_equal(doca_mmap_destroy(map), DOCA_SUCCESS);
	munmap(space, max + 1);
}

static void tasks_are_as_many_as_configured(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 64);
	struct doca_mmap_advise_task_invalidate_cache *tasks[NUM_TASKS], *more;

	for (int i = 0; i < NUM_TASKS; i++)
		tasks[i] = task_of(a, buf);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(a->advise, buf, (union doca_data){0}, &more),
			 DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < NUM_TASKS; i++)
		doca_task_free(base(tasks[i]));
	put(buf);
}

static void stop_with_tasks_in_flight(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 64);
	struct doca_mmap_advise_task_invalidate_cache *task = task_of(a, buf);

	assert_int_equal(doca_task_submit(base(task)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(a->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_mmap_advise_destroy(a->advise), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_pe_progress(a->pe), 1);
	assert_int_equal(a->num_done + a->num_failed, 1);
	doca_task_free(base(task));
	put(buf);
}

static void set_conf_only_while_idle(void **state)
{
	struct advice *a = *state;

	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(a->advise, done, failed, NUM_TASKS),
			 DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(a->advise, NULL, failed, NUM_TASKS),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(a->advise, done, NULL, NUM_TASKS),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(a->advise, done, failed, 0), DOCA_ERROR_INVALID_VALUE);
}

static void null_is_an_invalid_value(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 64);
	struct doca_mmap_advise_task_invalidate_cache *task;
	struct doca_mmap_advise *advise;
	uint64_t size;

	assert_int_equal(doca_mmap_advise_create(NULL, &advise), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_create(a->f->dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_mmap_advise_as_ctx(NULL));
	assert_int_equal(doca_mmap_advise_cap_task_cache_invalidate_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(doca_dev_as_devinfo(a->f->dev), NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_set_conf(NULL, done, failed, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(NULL, buf, (union doca_data){0}, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(a->advise, NULL, (union doca_data){0}, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(a->advise, buf, (union doca_data){0}, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_mmap_advise_task_invalidate_cache_as_doca_task(NULL));
	assert_null(doca_mmap_advise_task_invalidate_cache_get_buf(NULL));
	doca_mmap_advise_task_invalidate_cache_set_buf(NULL, buf);
	put(buf);
}

static void tasks_need_a_running_context(void **state)
{
	struct advice *a = *state;
	struct doca_buf *buf = get(a->f, 0, 64);
	struct doca_mmap_advise_task_invalidate_cache *task;

	assert_int_equal(doca_ctx_stop(a->ctx), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_advise_task_invalidate_cache_alloc_init(a->advise, buf, (union doca_data){0}, &task),
			 DOCA_ERROR_BAD_STATE);
	put(buf);
}

static void a_host_device_does_not_support_the_task(void **state)
{
	struct doca_dev *host = test_dev_open(HOST_DEVICE);
	struct doca_mmap_advise *advise;
	uint64_t max = 1;

	assert_non_null(host);
	assert_int_equal(doca_mmap_advise_cap_task_cache_invalidate_is_supported(doca_dev_as_devinfo(host)),
			 DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(doca_dev_as_devinfo(host), &max), DOCA_SUCCESS);
	assert_int_equal(max, 0);
	assert_int_equal(doca_mmap_advise_create(host, &advise), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_dev_close(host), DOCA_SUCCESS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, advise_setup, advise_teardown)
	const struct CMUnitTest tests[] = {
		TEST(completes_from_progress_and_leaves_memory_alone),
		TEST(submitted_again_in_its_callback),
		TEST(a_list_counts_as_a_whole),
		TEST(without_data_or_buf_it_fails),
		TEST(memory_of_another_device_fails),
		TEST(the_largest_task_has_the_size_of_the_capability),
		TEST(tasks_are_as_many_as_configured),
		TEST(stop_with_tasks_in_flight),
		TEST(set_conf_only_while_idle),
		TEST(null_is_an_invalid_value),
		TEST(tasks_need_a_running_context),
		cmocka_unit_test(a_host_device_does_not_support_the_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
