/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner of a sync event: creates it, exports it to the other end of PCI, signals that side and waits for its answer. Runs
 * on a host function or on a DPU's port; sync_event_remote_pci is the other side.
 */
#include <stdio.h>

#include "common.h"
#include "sync_event_common.h"

static doca_error_t create_event(struct doca_dev *dev, struct doca_sync_event **event)
{
	doca_error_t status = doca_sync_event_create(event);

	if (status != DOCA_SUCCESS)
		return sample_failed("sync event", status);
	status = doca_sync_event_add_publisher_location_remote_pci(*event);
	if (status == DOCA_SUCCESS)
		status = doca_sync_event_add_subscriber_location_cpu(*event, dev);
	if (status != DOCA_SUCCESS) {
		doca_sync_event_destroy(*event);
		return sample_failed("locations of the event", status);
	}
	return status;
}

static doca_error_t export_event(struct doca_sync_event *event, struct doca_dev *dev, const char *file)
{
	const uint8_t *data;
	size_t size;
	doca_error_t status = doca_sync_event_export_to_remote_pci(event, dev, &data, &size);

	if (status != DOCA_SUCCESS)
		return sample_failed("export", status);
	printf("exported the event: %zu bytes\n", size);
	return sample_leave(file, data, size);
}

static doca_error_t converse(struct side *side)
{
	doca_error_t status = side_signal(side, 1);

	if (status == DOCA_SUCCESS)
		status = side_wait(side, 2);
	if (status == DOCA_SUCCESS)
		printf("the event is 2: the other side has answered\n");
	return status;
}

static doca_error_t run(const struct options *options, struct doca_dev *dev)
{
	struct side side = {.options = options};
	doca_error_t status = create_event(dev, &side.event);

	if (status != DOCA_SUCCESS)
		return status;
	status = side_start(&side);
	if (status == DOCA_SUCCESS)
		status = export_event(side.event, dev, options->file);
	if (status == DOCA_SUCCESS)
		status = converse(&side);
	side_end(&side);
	return status;
}

int main(int argc, char **argv)
{
	return side_main(argc, argv, "sync_event_local_pci", doca_sync_event_cap_is_export_to_remote_pci_supported, run);
}
