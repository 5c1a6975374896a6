/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices for tests: by index, if any will do, and by PCI address. */
#ifndef SF_TEST_DEV_H
#define SF_TEST_DEV_H

#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>

#include "support/check.h"

/* Opens the device of that index in the list, or NULL. */
static inline struct doca_dev *test_dev_open(uint32_t index)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return NULL;
	if (index >= num || doca_dev_open(list[index], &dev) != DOCA_SUCCESS)
		dev = NULL;
	doca_devinfo_destroy_list(list);
	return dev;
}

/* Opens the device at the address, which must exist. */
static inline struct doca_dev *test_dev_open_pci(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;
	uint8_t equal;

	CHECK_OK(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		CHECK_OK(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &equal));
		if (equal)
			CHECK_OK(doca_dev_open(list[i], &dev));
	}
	CHECK_OK(doca_devinfo_destroy_list(list));
	CHECK(dev != NULL);
	return dev;
}

#endif
