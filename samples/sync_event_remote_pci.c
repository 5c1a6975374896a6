/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side of a sync event: creates it from the owner's export, waits for its signal and answers. Runs at the other end
 * of the owner's PCI: on the DPU's port, or on a host function behind it.
 */
#include <stdio.h>

#include "common.h"
#include "sync_event_common.h"

static doca_error_t import_event(struct doca_dev *dev, const char *file, struct doca_sync_event **event)
{
	uint8_t data[EXPORT_SIZE_MAX];
	size_t size;
	doca_error_t status = sample_await(file, data, sizeof(data), &size);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_sync_event_create_from_export(dev, data, size, event);
	return status == DOCA_SUCCESS ? status : sample_failed("event from the export", status);
}

static doca_error_t converse(struct side *side)
{
	doca_error_t status = side_wait(side, 1);

	if (status != DOCA_SUCCESS)
		return status;
	printf("the event is 1: the other side has signalled\n");
	return side_signal(side, 2);
}

static doca_error_t run(const struct options *options, struct doca_dev *dev)
{
	struct side side = {.options = options};
	doca_error_t status = import_event(dev, options->file, &side.event);

	if (status != DOCA_SUCCESS)
		return status;
	status = side_start(&side);
	if (status == DOCA_SUCCESS)
		status = converse(&side);
	side_end(&side);
	return status;
}

int main(int argc, char **argv)
{
	return side_main(argc, argv, "sync_event_remote_pci", doca_sync_event_cap_is_create_from_export_supported, run);
}
