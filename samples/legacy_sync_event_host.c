/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCA 2.2, the host's side of a sync event: creates the event, exports it to its DPU through the Comm Channel, signals, and
 * waits for the answer.
 */
#include <stdio.h>

#include "legacy_sync_event.h"

/* Tries repeatedly, because the DPU's program may not listen yet. */
static void connect_service(struct legacy_event_side *side)
{
	double begin = legacy_now();
	doca_error_t status;

	while ((status = doca_comm_channel_ep_connect(side->ep, LEGACY_EVENT_SERVICE, &side->peer)) ==
	       DOCA_ERROR_CONNECTION_ABORTED)
		legacy_patience(begin, "connect");
	legacy_must(status, "connect");
	while ((status = doca_comm_channel_peer_addr_update_info(side->peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
		legacy_patience(begin, "connect");
	legacy_must(status, "connect");
}

int main(int argc, char **argv)
{
	struct legacy_event_side side = {.dev_address = "d8:00.0", .qdepth = 8};
	const uint8_t *descriptor;
	char answer[16];
	size_t size;

	legacy_event_flags(&side, "legacy_sync_event_host", argc, argv);
	side.dev = legacy_open_device(side.dev_address);
	legacy_must(doca_sync_event_create(&side.event), "create the sync event");
	legacy_must(doca_sync_event_publisher_add_location_dpu(side.event), "say who signals");
	legacy_must(doca_sync_event_subscriber_add_location_cpu(side.event, side.dev), "say who waits");
	legacy_event_start(&side);
	legacy_must(doca_sync_event_export_to_dpu(side.event, side.dev, &descriptor, &size), "export the sync event");

	legacy_must(doca_comm_channel_ep_create(&side.ep), "create the endpoint");
	legacy_must(doca_comm_channel_ep_set_device(side.ep, side.dev), "set its device");
	connect_service(&side);
	legacy_event_send(&side, descriptor, size);
	legacy_event_receive(&side, answer, sizeof(answer)); /* the DPU is waiting now */
	legacy_event_signal(&side, 1);
	legacy_event_wait(&side, 1);
	printf("the DPU has answered\n");
	legacy_event_send(&side, "seen", 5);
	legacy_event_receive(&side, answer, sizeof(answer)); /* the DPU has destroyed its event */
	legacy_event_end(&side);
	legacy_must(doca_comm_channel_ep_destroy(side.ep), "destroy the endpoint");
	legacy_must(doca_dev_close(side.dev), "close the device");
	return 0;
}
