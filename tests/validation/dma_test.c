/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the libraries' data path: memory of tasks, and contexts that programs create. */
#include "scenario.h"

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/test_dev.h"

#define BYTES 4096

static uint8_t from[BYTES], to[BYTES];
static struct doca_dev *dev, *other;

struct copy {
	struct doca_mmap *src_mmap, *dst_mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *src, *dst;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_task *task;
	bool has_ended;
};

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct copy *copy = ctx_user_data.ptr;

	(void)task;
	(void)task_user_data;
	copy->has_ended = true;
}

static struct doca_mmap *mmap_new(uint8_t *bytes, struct doca_dev *its_dev, uint32_t permissions, const char *name)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(softfield_validation_set_name(mmap, name));
	CHECK_OK(doca_mmap_set_memrange(mmap, bytes, BYTES));
	CHECK_OK(doca_mmap_add_dev(mmap, its_dev));
	CHECK_OK(doca_mmap_set_permissions(mmap, permissions));
	CHECK_OK(doca_mmap_start(mmap));
	return mmap;
}

static void copy_init(struct copy *copy, struct doca_dev *dst_dev, uint32_t dst_permissions)
{
	struct doca_dma_task_memcpy *task;

	*copy = (struct copy){.has_ended = false};
	copy->src_mmap = mmap_new(from, dev, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, "from");
	copy->dst_mmap = mmap_new(to, dst_dev, dst_permissions, "to");
	CHECK_OK(doca_buf_inventory_create(2, &copy->inventory));
	CHECK_OK(doca_buf_inventory_start(copy->inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(copy->inventory, copy->src_mmap, from, BYTES, &copy->src));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(copy->inventory, copy->dst_mmap, to, BYTES, &copy->dst));
	CHECK_OK(doca_pe_create(&copy->pe));
	CHECK_OK(doca_dma_create(dev, &copy->dma));
	CHECK_OK(softfield_validation_set_name(copy->dma, "copier"));
	copy->ctx = doca_dma_as_ctx(copy->dma);
	CHECK_OK(doca_pe_connect_ctx(copy->pe, copy->ctx));
	CHECK_OK(doca_ctx_set_user_data(copy->ctx, (union doca_data){.ptr = copy}));
	CHECK_OK(doca_dma_task_memcpy_set_conf(copy->dma, ended, ended, 1));
	CHECK_OK(doca_ctx_start(copy->ctx));
	CHECK_OK(doca_dma_task_memcpy_alloc_init(copy->dma, copy->src, copy->dst, (union doca_data){.u64 = 0}, &task));
	copy->task = doca_dma_task_memcpy_as_task(task);
}

static void copy_run(struct copy *copy)
{
	CHECK_OK(doca_task_submit(copy->task));
	while (!copy->has_ended)
		(void)doca_pe_progress(copy->pe);
}

static void copy_stop(struct copy *copy)
{
	enum doca_ctx_states state;

	doca_task_free(copy->task);
	(void)doca_ctx_stop(copy->ctx);
	do {
		(void)doca_pe_progress(copy->pe);
		CHECK_OK(doca_ctx_get_state(copy->ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE);
}

static void copy_fini(struct copy *copy)
{
	CHECK_OK(doca_dma_destroy(copy->dma));
	CHECK_OK(doca_pe_destroy(copy->pe));
	CHECK_OK(doca_buf_dec_refcount(copy->src, NULL));
	CHECK_OK(doca_buf_dec_refcount(copy->dst, NULL));
	CHECK_OK(doca_buf_inventory_destroy(copy->inventory));
	CHECK_OK(doca_mmap_destroy(copy->src_mmap));
	CHECK_OK(doca_mmap_destroy(copy->dst_mmap));
}

static void destination_without_the_right(bool wrong)
{
	struct copy copy;

	copy_init(&copy, dev, wrong ? DOCA_ACCESS_FLAG_LOCAL_READ_ONLY : DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	copy_run(&copy);
	copy_stop(&copy);
	copy_fini(&copy);
}

static void destination_of_another_device(bool wrong)
{
	struct copy copy;

	copy_init(&copy, wrong ? other : dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	copy_run(&copy);
	copy_stop(&copy);
	copy_fini(&copy);
}

static void destroyed_before_it_is_idle(bool wrong)
{
	struct copy copy;

	copy_init(&copy, dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	CHECK_OK(doca_task_submit(copy.task));
	assert_int_equal(doca_ctx_stop(copy.ctx), DOCA_ERROR_IN_PROGRESS);
	if (wrong)
		assert_int_equal(doca_dma_destroy(copy.dma), DOCA_ERROR_IN_USE);
	while (!copy.has_ended)
		(void)doca_pe_progress(copy.pe);
	copy_stop(&copy);
	copy_fini(&copy);
}

static void engine_destroyed_before_its_context(bool wrong)
{
	struct copy copy;

	copy_init(&copy, dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	copy_run(&copy);
	copy_stop(&copy);
	if (wrong)
		assert_int_equal(doca_pe_destroy(copy.pe), DOCA_ERROR_IN_USE);
	copy_fini(&copy);
}

/* The task has completed, and its callback neither frees nor reuses it. */
static void all_tasks_allocated(bool wrong)
{
	struct doca_dma_task_memcpy *second = NULL;
	struct copy copy;

	copy_init(&copy, dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	copy_run(&copy);
	if (!wrong)
		doca_task_free(copy.task);
	if (doca_dma_task_memcpy_alloc_init(copy.dma, copy.src, copy.dst, (union doca_data){.u64 = 0}, &second) == DOCA_SUCCESS)
		copy.task = doca_dma_task_memcpy_as_task(second);
	copy_stop(&copy);
	copy_fini(&copy);
}

static void released_while_its_task_is_in_flight(bool wrong)
{
	struct copy copy;

	copy_init(&copy, dev, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	CHECK_OK(softfield_validation_set_name(copy.dst, "result"));
	CHECK_OK(doca_task_submit(copy.task));
	if (wrong)
		CHECK_OK(doca_buf_dec_refcount(copy.dst, NULL));
	while (!copy.has_ended)
		(void)doca_pe_progress(copy.pe);
	copy_stop(&copy);
	if (wrong) /* copy_fini releases it */
		CHECK_OK(doca_buf_inventory_buf_get_by_addr(copy.inventory, copy.dst_mmap, to, BYTES, &copy.dst));
	copy_fini(&copy);
}

static const struct scenario scenarios[] = {
	SCENARIO(released_while_its_task_is_in_flight,
		 "SF-BUF-008: buf \"result\" (0x): doca_buf_dec_refcount: a dma memcpy task in flight has it; fix: release it in "
		 "the callback of the task"),
	SCENARIO(destination_without_the_right,
		 "SF-MMAP-004: mmap \"to\" (0x): doca_task_submit: a task has it as its destination, and its permissions, 0x0, "
		 "lack DOCA_ACCESS_FLAG_LOCAL_READ_WRITE; fix: give the right in doca_mmap_set_permissions, on the side named"),
	SCENARIO(destination_of_another_device,
		 "SF-MMAP-005: mmap \"to\" (0x): doca_task_submit: a task of device 0000:03:00.0 has a buffer of it, and it "
		 "lacks the device; fix: call doca_mmap_add_dev with that device before doca_mmap_start"),
	SCENARIO(destroyed_before_it_is_idle,
		 "SF-CTX-004: dma \"copier\" (0x): doca_dma_destroy: it is STOPPING; tasks in flight: 1, allocated: 1; fix: "
		 "after doca_ctx_stop free its tasks, and call doca_pe_progress until its state is IDLE"),
	SCENARIO(engine_destroyed_before_its_context,
		 "SF-PE-001: progress engine (0x): doca_pe_destroy: these contexts are connected to it: dma \"copier\" (0x); "
		 "fix: destroy the contexts that the report names, then the engine"),
	SCENARIO(all_tasks_allocated,
		 "SF-TASK-005: dma \"copier\" (0x): doca_dma_task_memcpy_alloc_init: all of its dma memcpy tasks are allocated: "
		 "1; in flight: 0, with the program: 1; fix: free or reuse each task in its callback, or configure more"),
};

int main(void)
{
	dev = test_dev_open(0);
	other = test_dev_open(1);
	if (dev == NULL || other == NULL)
		return 1;
	int failed = scenarios_run("dma", scenarios, sizeof(scenarios) / sizeof(scenarios[0]));

	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_dev_close(other));
	return failed;
}
