/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device and a representor tell about themselves, as text. */
#ifndef CAPS_DEVICE_H
#define CAPS_DEVICE_H

#include <stdbool.h>

#include <doca_dev.h>

#define ATTRIBUTES_MAX 12

/* In the order in which they are shown; those that a device does not have are left out. */
struct attributes {
	unsigned num;
	struct {
		const char *name; /* "mac_addr" */
		char value[128];
		bool is_number; /* decimal, of 64 bits */
	} list[ATTRIBUTES_MAX];
};

void device_attributes(const struct doca_devinfo *devinfo, struct attributes *attributes);
void representor_attributes(const struct doca_devinfo_rep *rep, struct attributes *attributes);

/* Its value, or NULL. */
const char *attribute_find(const struct attributes *attributes, const char *name);

/* The representors on a device: *list is NULL and *num 0 when it has none. Opens the device and closes it again; the list is
 * given back with doca_devinfo_rep_destroy_list. */
doca_error_t device_representors(struct doca_devinfo *devinfo, struct doca_devinfo_rep ***list, uint32_t *num);

#endif
