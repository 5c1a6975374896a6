/* SPDX-License-Identifier: BSD-3-Clause */
/* DOCA 2.2: an event-driven work queue. The program sleeps on the queue's handle until an event is ready. */
#include <poll.h>
#include <stdio.h>

#include <doca_dma.h>

#include "arguments.h"
#include "legacy_common.h"

#define COPIES 8

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	static char memory[COPIES * 2 * 64];
	struct legacy_desk desk;
	struct doca_buf *src[COPIES], *dst[COPIES];
	doca_event_handle_t handle;
	struct doca_event event;
	struct doca_dma *dma;
	int num_done = 0, num_right = 0;

	legacy_desk_open(&desk, "03:00.0", memory, sizeof(memory), COPIES);
	legacy_must(doca_workq_set_event_driven_enable(desk.workq, 1), "enable the event-driven mode");
	legacy_must(doca_workq_get_event_handle(desk.workq, &handle), "get the handle");
	legacy_must(doca_dma_create(&dma), "create the DMA context");
	legacy_context_open(&desk, doca_dma_as_ctx(dma));

	legacy_must(doca_workq_event_handle_arm(desk.workq), "arm");
	for (int i = 0; i < COPIES; i++) {
		char *text = memory + i * 128;

		snprintf(text, 64, "copy number %d", i);
		src[i] = legacy_source(&desk, text, 64);
		dst[i] = legacy_room(&desk, text + 64, 64);
		struct doca_dma_job_memcpy job = {
			.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(dma), .user_data.u64 = (uint64_t)i},
			.dst_buff = dst[i],
			.src_buff = src[i]};

		legacy_must(doca_workq_submit(desk.workq, &job.base), "submit");
	}
	while (num_done < COPIES) {
		struct pollfd wait = {.fd = handle, .events = POLLIN};
		doca_error_t status;

		legacy_must(poll(&wait, 1, LEGACY_PATIENCE_SECONDS * 1000) == 1 ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT, "sleep");
		legacy_must(doca_workq_event_handle_clear(desk.workq, handle), "clear");
		while ((status = doca_workq_progress_retrieve(desk.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
		       DOCA_SUCCESS) {
			char *text = memory + event.user_data.u64 * 128;
			int number = -1;

			num_done++;
			num_right += sscanf(text + 64, "copy number %d", &number) == 1 && (uint64_t)number == event.user_data.u64;
		}
		if (status != DOCA_ERROR_AGAIN)
			legacy_must(status, "retrieve");
		legacy_must(doca_workq_event_handle_arm(desk.workq), "arm");
	}
	printf("%d of %d copies are right, and the program slept meanwhile\n", num_right, COPIES);
	for (int i = 0; i < COPIES; i++) {
		doca_buf_refcount_rm(src[i], NULL);
		doca_buf_refcount_rm(dst[i], NULL);
	}
	legacy_context_close(&desk, doca_dma_as_ctx(dma));
	legacy_must(doca_dma_destroy(dma), "destroy the DMA context");
	legacy_desk_close(&desk);
	return num_right == COPIES ? 0 : 1;
}
