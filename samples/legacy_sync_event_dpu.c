/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCA 2.2, the DPU's side of a sync event: gets the event from its host through the Comm Channel, waits for the host's signal
 * and answers. Start it before legacy_sync_event_host.
 */
#include <stdio.h>

#include "legacy_sync_event.h"

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *pci_address)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;
	uint8_t equal = 0;

	legacy_must(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &list, &num), "list the representors");
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		if (doca_devinfo_rep_get_is_pci_addr_equal(list[i], pci_address, &equal) == DOCA_SUCCESS && equal)
			legacy_must(doca_dev_rep_open(list[i], &rep), "open the representor");
	}
	doca_devinfo_rep_list_destroy(list);
	legacy_must(rep != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, pci_address);
	return rep;
}

int main(int argc, char **argv)
{
	struct legacy_event_side side = {.dev_address = "03:00.0", .rep_address = "d8:00.0", .qdepth = 8};
	uint8_t descriptor[LEGACY_EVENT_DESCRIPTOR_MAX];

	legacy_event_flags(&side, "legacy_sync_event_dpu", argc, argv);
	side.dev = legacy_open_device(side.dev_address);

	struct doca_dev_rep *rep = open_representor(side.dev, side.rep_address);

	legacy_must(doca_comm_channel_ep_create(&side.ep), "create the endpoint");
	legacy_must(doca_comm_channel_ep_set_device(side.ep, side.dev), "set its device");
	legacy_must(doca_comm_channel_ep_set_device_rep(side.ep, rep), "set its representor");
	legacy_must(doca_comm_channel_ep_listen(side.ep, LEGACY_EVENT_SERVICE), "listen");

	size_t size = legacy_event_receive(&side, descriptor, sizeof(descriptor));

	legacy_must(doca_sync_event_create_from_export(side.dev, descriptor, size, &side.event), "import the sync event");
	legacy_event_start(&side);
	legacy_event_send(&side, "ready", 6);
	legacy_event_wait(&side, 0);
	printf("the host has signalled\n");
	legacy_event_signal(&side, 2);
	legacy_event_receive(&side, descriptor, sizeof(descriptor)); /* the host has seen it */
	legacy_event_end(&side);
	legacy_event_send(&side, "done", 5);
	legacy_must(doca_comm_channel_ep_destroy(side.ep), "destroy the endpoint");
	legacy_must(doca_dev_rep_close(rep), "close the representor");
	legacy_must(doca_dev_close(side.dev), "close the device");
	return 0;
}
