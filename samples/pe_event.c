/* SPDX-License-Identifier: BSD-3-Clause */
/* A progress engine without polling: the program sleeps in epoll until something is due. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "arguments.h"
#include "common.h"
#include "pe_common.h"

static int num_left = NUM_SLOTS;

static void ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	desk_task_free(task);
	num_left--;
}

/* Progress until nothing is due, request a notification, then sleep: an event before the request ends the sleep immediately. */
static doca_error_t sleep_until_ended(struct doca_pe *pe, int epoll)
{
	struct epoll_event event;
	doca_error_t status = DOCA_SUCCESS;

	while (status == DOCA_SUCCESS) {
		while (doca_pe_progress(pe))
			;
		if (num_left == 0)
			return DOCA_SUCCESS;
		status = doca_pe_request_notification(pe);
		if (status == DOCA_SUCCESS && epoll_wait(epoll, &event, 1, SAMPLE_PATIENCE_SECONDS * 1000) != 1)
			status = DOCA_ERROR_TIME_OUT;
		if (status == DOCA_SUCCESS)
			status = doca_pe_clear_notification(pe, 0);
	}
	return status;
}

static doca_error_t run(struct desk *desk, struct doca_dma *dma, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN};
	doca_notification_handle_t handle;
	doca_error_t status = doca_pe_get_notification_handle(desk->pe, &handle);

	if (status == DOCA_SUCCESS && epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &event) != 0)
		status = DOCA_ERROR_OPERATING_SYSTEM;
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(doca_dma_as_ctx(dma));
	for (int slot = 0; slot < NUM_SLOTS && status == DOCA_SUCCESS; slot++)
		status = desk_submit(desk, dma, slot, SLOT_BYTES);
	if (status == DOCA_SUCCESS)
		status = sleep_until_ended(desk->pe, epoll);
	if (status == DOCA_SUCCESS)
		printf("%d of %d copies are right, and nobody polled for them\n", desk_num_copied(desk), NUM_SLOTS);
	return status == DOCA_SUCCESS ? status : sample_failed("run", status);
}

int main(int argc, char **argv)
{
	sample_arguments(argc, argv, 0, "");

	struct desk desk;
	struct doca_dma *dma = NULL;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	doca_error_t status = desk_open(&desk);

	if (status == DOCA_SUCCESS)
		status = desk_dma_create(&desk, ended, ended, NULL, &dma);
	if (status == DOCA_SUCCESS)
		status = run(&desk, dma, epoll);
	if (status == DOCA_SUCCESS)
		status = desk_dma_destroy(&desk, dma);
	desk_close(&desk);
	close(epoll);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
