/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals the sync event of rdma_sync_event_responder over the network, reads it until that side has answered, and ends it. */
#include <stdio.h>
#include <string.h>

#include <doca_sync_event.h>

#include "rdma_side.h"

static struct doca_sync_event_remote_net *event;

static doca_error_t import_event(struct side *side, const struct bytes *descriptor)
{
	doca_error_t status = doca_sync_event_remote_net_create_from_export(side->dev, descriptor->data, descriptor->len, &event);

	return status == DOCA_SUCCESS ? status : sample_failed("the peer's sync event", status);
}

static void set_ended(struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_data,
		      union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
}

static void get_ended(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data task_data, union doca_data side)
{
	(void)task_data;
	side_task_ended(side, doca_rdma_task_remote_net_sync_event_get_as_task(task));
}

static doca_error_t configure(struct side *side)
{
	doca_error_t status = doca_rdma_task_remote_net_sync_event_notify_set_set_conf(side->rdma, set_ended, set_ended, 1);

	if (status != DOCA_SUCCESS)
		return status;
	return doca_rdma_task_remote_net_sync_event_get_set_conf(side->rdma, get_ended, get_ended, 1);
}

/* The value is the source's data. */
static doca_error_t set(struct side *side, struct doca_buf *src, uint64_t value)
{
	const union doca_data none = {0};
	struct doca_rdma_task_remote_net_sync_event_notify_set *task;
	doca_error_t status;

	memcpy(side->memory, &value, sizeof(value));
	status = doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(side->rdma, side->connections[0], event, src, none,
									       &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	printf("setting the event to %lu\n", (unsigned long)value);
	return side_run(side, doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
}

static doca_error_t get(struct side *side, struct doca_buf *dst, uint64_t *value)
{
	const union doca_data none = {0};
	struct doca_rdma_task_remote_net_sync_event_get *task;
	void *data;
	doca_error_t status = doca_buf_reset_data_len(dst); /* a get appends to the data */

	if (status == DOCA_SUCCESS)
		status = doca_rdma_task_remote_net_sync_event_get_allocate_init(side->rdma, side->connections[0], event, dst,
										none, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = side_run(side, doca_rdma_task_remote_net_sync_event_get_as_task(task));
	if (status == DOCA_SUCCESS)
		status = doca_buf_get_data(dst, &data);
	if (status == DOCA_SUCCESS)
		memcpy(value, data, sizeof(*value));
	return status;
}

static doca_error_t work(struct side *side)
{
	struct doca_buf *src, *dst;
	uint64_t value = 0;
	doca_error_t status = side_data(side, 0, sizeof(value), &src);

	if (status == DOCA_SUCCESS)
		status = side_room(side, sizeof(value), sizeof(value), &dst);
	if (status == DOCA_SUCCESS)
		status = set(side, src, 1);
	while (status == DOCA_SUCCESS && value != 2)
		status = get(side, dst, &value);
	if (status == DOCA_SUCCESS)
		printf("the event is 2: the responder has answered\n");
	return status == DOCA_SUCCESS ? set(side, src, 3) : status;
}

static void clean(struct side *side)
{
	(void)side;
	if (event != NULL)
		(void)doca_sync_event_remote_net_destroy(event);
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_sync_event_requester",
		.peer = "rdma_sync_event_responder",
		.options = OPTION_RESOURCE,
		.supports = doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported,
		.configure = configure,
		.import = import_event,
		.work = work,
		.clean = clean,
	};

	return side_main(argc, argv, &sample);
}
