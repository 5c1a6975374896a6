/* SPDX-License-Identifier: BSD-3-Clause */
/* A running DMA context and one memory map for each test. Include it after cmocka. */
#ifndef DMA_FIXTURE_H
#define DMA_FIXTURE_H

#include "support/dma_rig.h"

#define SIZE (8 << 20)
#define LARGE (3 << 20)

struct fixture {
	struct rig rig;
	struct doca_mmap *mmap; /* covers all of the memory */
	uint8_t *memory;
};

static inline int setup(void **state)
{
	static struct fixture f;

	f.memory = malloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		f.memory[i] = (uint8_t)(i * 31 + (i >> 12));
	rig_prepare(&f.rig, test_dev_open(0));
	rig_start(&f.rig);
	f.mmap = rig_mmap(&f.rig, f.memory, SIZE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	rig_stop(&f->rig);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	rig_fini(&f->rig);
	free(f->memory);
	return 0;
}

static inline struct doca_buf *source(struct fixture *f, size_t offset, size_t len)
{
	return rig_source(&f->rig, f->mmap, f->memory + offset, len);
}

static inline struct doca_buf *destination(struct fixture *f, size_t offset, size_t len)
{
	return rig_destination(&f->rig, f->mmap, f->memory + offset, len);
}

/* try_submit fails and the context runs on; submit accepts the task, which fails with status and ends the run. */
static inline void expect_wrong(struct fixture *f, const struct doca_buf *src, struct doca_buf *dst, doca_error_t status)
{
	struct doca_task *task = rig_task(&f->rig, src, dst);

	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(f->rig.state, DOCA_CTX_STATE_RUNNING);
	doca_task_free(task);
	assert_int_equal(rig_copy(&f->rig, src, dst), status);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
}

#endif
