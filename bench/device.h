/* SPDX-License-Identifier: BSD-3-Clause */
/* The device that a measuring program uses. Whatever fails ends the program. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdint.h>

#include <doca_dev.h>

#include "measure.h"

static inline struct doca_dev *device_open(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	check(doca_devinfo_create_list(&list, &num), "listing the devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &equal) == DOCA_SUCCESS && equal)
			check(doca_dev_open(list[i], &dev), "opening a device");
	}
	doca_devinfo_destroy_list(list);
	check(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, pci_addr);
	return dev;
}

/* By its place among the devices of this process. */
static inline struct doca_dev *device_open_at(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	check(doca_devinfo_create_list(&list, &num), "listing the devices");
	check(index < num ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "a device");
	check(doca_dev_open(list[index], &dev), "opening a device");
	doca_devinfo_destroy_list(list);
	return dev;
}

#endif
