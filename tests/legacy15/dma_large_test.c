/* SPDX-License-Identifier: BSD-3-Clause */
/* DMA jobs of the 1.5 API that take several progress calls, or an engine's threads. */
#include <stdlib.h>

#include "legacy/fixture.h"

#include <doca_dma.h>

#define LARGE ((size_t)5 << 20) /* several slices, and large enough for an engine thread */
#define JOBS 4

struct side {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_workq *workq;
	struct doca_dma *dma;
	struct doca_buf *src, *dst;
	uint8_t *from, *to;
};

static void memory_make(struct side *s)
{
	s->from = malloc(LARGE);
	s->to = calloc(1, LARGE + 100);
	assert_true(s->from != NULL && s->to != NULL);
	for (size_t i = 0; i < LARGE; i++)
		s->from[i] = (uint8_t)(i * 31 + i / 4096);
	assert_ok(doca_mmap_create(NULL, &s->mmap));
	assert_ok(doca_mmap_start(s->mmap));
	assert_ok(doca_mmap_dev_add(s->mmap, s->dev));
	assert_ok(doca_mmap_populate(s->mmap, s->from, LARGE, 4096, NULL, NULL));
	assert_ok(doca_mmap_populate(s->mmap, s->to, LARGE + 100, 4096, NULL, NULL));
	assert_ok(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &s->inventory));
	assert_ok(doca_buf_inventory_start(s->inventory));
	assert_ok(doca_buf_inventory_buf_by_data(s->inventory, s->mmap, s->from, LARGE, &s->src));
	assert_ok(doca_buf_inventory_buf_by_addr(s->inventory, s->mmap, s->to, LARGE + 100, &s->dst));
}

static void side_open(struct side *s)
{
	s->dev = open_device("03:00.0");
	memory_make(s);
	assert_ok(doca_workq_create(JOBS, &s->workq));
	assert_ok(doca_dma_create(&s->dma));
	assert_ok(doca_ctx_dev_add(doca_dma_as_ctx(s->dma), s->dev));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(s->dma)));
	assert_ok(doca_ctx_workq_add(doca_dma_as_ctx(s->dma), s->workq));
}

static void side_close(struct side *s)
{
	assert_ok(doca_ctx_workq_rm(doca_dma_as_ctx(s->dma), s->workq));
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(s->dma)));
	assert_ok(doca_dma_destroy(s->dma));
	assert_ok(doca_workq_destroy(s->workq));
	release(s->src);
	release(s->dst);
	assert_ok(doca_buf_inventory_destroy(s->inventory));
	assert_ok(doca_mmap_destroy(s->mmap));
	assert_ok(doca_dev_close(s->dev));
	free(s->from);
	free(s->to);
}

/* All jobs write to the same destination, which has room for one. */
static void large_jobs_write_over_each_other(void **state)
{
	struct doca_event event;
	struct side s;
	size_t len;

	(void)state;
	side_open(&s);
	struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(s.dma)}, .dst_buff = s.dst, .src_buff = s.src};

	assert_ok(doca_buf_set_data(s.dst, s.to + 50, 50));
	for (int i = 0; i < JOBS; i++)
		assert_ok(doca_workq_submit(s.workq, &job.base));
	for (int i = 0; i < JOBS; i++)
		assert_ok(retrieve(s.workq, &event));
	assert_memory_equal(s.to + 50, s.from, LARGE);
	for (int i = 0; i < 50; i++)
		assert_int_equal(s.to[i] | s.to[50 + LARGE + (size_t)i], 0);
	assert_ok(doca_buf_get_data_len(s.dst, &len));
	assert_int_equal(len, LARGE);
	side_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(large_jobs_write_over_each_other)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
