/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens devices and representors by the names that a user types: PCI address, ibdev or interface name, VUID. */
#ifndef REMOTE_OFFLOAD_DEVICES_H
#define REMOTE_OFFLOAD_DEVICES_H

#include <doca_dev.h>

/* NOT_FOUND: logged with the devices that exist. */
doca_error_t device_open(const char *id, struct doca_dev **dev);
doca_error_t representor_open(struct doca_dev *dev, const char *id, struct doca_dev_rep **rep);

#endif
