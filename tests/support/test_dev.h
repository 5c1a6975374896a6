/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices for tests that need one and do not care which. */
#ifndef SF_TEST_DEV_H
#define SF_TEST_DEV_H

#include <doca_dev.h>

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

#endif
