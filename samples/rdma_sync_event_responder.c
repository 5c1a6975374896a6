/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns a sync event that rdma_sync_event_requester signals over the network: waits for it, answers, and waits for the end. */
#include <stdio.h>

#include <doca_sync_event.h>

#include "rdma_side.h"

static struct doca_sync_event *event;

/* The peer publishes and this side waits; the owner may publish too. */
static doca_error_t export_event(struct side *side, struct bytes *descriptor)
{
	const uint8_t *data;
	size_t len;
	doca_error_t status = doca_sync_event_create(&event);

	if (status == DOCA_SUCCESS)
		status = doca_sync_event_add_publisher_location_remote_net(event);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_add_subscriber_location_cpu(event, side->dev);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_start(event);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_export_to_remote_net(event, &data, &len);
	return status == DOCA_SUCCESS ? bytes_set(descriptor, data, len) : sample_failed("sync event", status);
}

static doca_error_t work(struct side *side)
{
	doca_error_t status = doca_sync_event_wait_eq_yield(event, 1, UINT64_MAX);

	(void)side;
	if (status == DOCA_SUCCESS)
		printf("the event is 1: the requester has signalled\n");
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_update_set(event, 2);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_wait_eq_yield(event, 3, UINT64_MAX);
	if (status == DOCA_SUCCESS)
		printf("the event is 3: the requester has seen the answer\n");
	return status == DOCA_SUCCESS ? status : sample_failed("event", status);
}

static void clean(struct side *side)
{
	(void)side;
	if (event == NULL)
		return;
	(void)doca_sync_event_stop(event);
	(void)doca_sync_event_destroy(event);
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_sync_event_responder",
		.peer = "rdma_sync_event_requester",
		.listens = true,
		.options = OPTION_RESOURCE,
		.supports = doca_sync_event_cap_is_export_to_remote_net_supported,
		.permissions = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE,
		.export = export_event,
		.work = work,
		.clean = clean,
	};

	return side_main(argc, argv, &sample);
}
