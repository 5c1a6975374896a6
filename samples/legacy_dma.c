/* SPDX-License-Identifier: BSD-3-Clause */
/* DOCA 2.2: a copy as a job on a polled work queue, and a job that fails. */
#include <stdio.h>
#include <string.h>

#include <doca_dma.h>

#include "arguments.h"
#include "legacy_common.h"

static doca_error_t run(struct legacy_desk *desk, struct doca_ctx *ctx, struct doca_buf *src, struct doca_buf *dst,
			struct doca_event *event)
{
	struct doca_dma_job_memcpy job = {.base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx},
					  .dst_buff = dst,
					  .src_buff = src};

	legacy_must(doca_workq_submit(desk->workq, &job.base), "submit");
	return legacy_retrieve(desk->workq, event);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	static char memory[4096] = "carried by a job";
	const size_t len = strlen(memory) + 1;
	struct legacy_desk desk;
	struct doca_event event;
	struct doca_dma *dma;

	legacy_desk_open(&desk, "03:00.0", memory, sizeof(memory), 8);
	legacy_must(doca_dma_create(&dma), "create the DMA context");
	legacy_context_open(&desk, doca_dma_as_ctx(dma));

	struct doca_buf *src = legacy_source(&desk, memory, len), *dst = legacy_room(&desk, memory + 1024, 1024);
	struct doca_buf *small = legacy_room(&desk, memory + 2048, 4);

	legacy_must(run(&desk, doca_dma_as_ctx(dma), src, dst, &event), "copy");
	printf("copied: %s\n", memory + 1024);

	/* Too little room: the job fails, and its event identifies the job and the error. */
	doca_error_t status = run(&desk, doca_dma_as_ctx(dma), src, small, &event);

	printf("into 4 bytes: %s, and the event reports %s\n", doca_get_error_name(status),
	       event.result.u64 != DOCA_SUCCESS ? "why" : "nothing");
	doca_buf_refcount_rm(src, NULL);
	doca_buf_refcount_rm(dst, NULL);
	doca_buf_refcount_rm(small, NULL);
	legacy_context_close(&desk, doca_dma_as_ctx(dma));
	legacy_must(doca_dma_destroy(dma), "destroy the DMA context");
	legacy_desk_close(&desk);
	return 0;
}
