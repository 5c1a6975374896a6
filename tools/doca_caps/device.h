/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of a device or representor, as text. */
#ifndef CAPS_DEVICE_H
#define CAPS_DEVICE_H

#include <doca_dev.h>

#define ATTRIBUTES_MAX 12

enum attribute_kind {
	ATTRIBUTE_TEXT,
	ATTRIBUTE_NUMBER, /* decimal, of 64 bits */
	ATTRIBUTE_FLAG,	  /* "yes" or "no" */
};

/* In the order of output; attributes that a device lacks are omitted. */
struct attributes {
	unsigned num;
	struct {
		const char *name; /* "mac_addr" */
		char value[128];
		enum attribute_kind kind;
	} list[ATTRIBUTES_MAX];
};

void device_attributes(const struct doca_devinfo *devinfo, struct attributes *attributes);
void representor_attributes(const struct doca_devinfo_rep *rep, struct attributes *attributes);

/* Returns the attribute's value, or NULL. */
const char *attribute_find(const struct attributes *attributes, const char *name);

/* Lists the representors of a device: *list is NULL and *num 0 without any. Opens and closes the device; the caller destroys the
 * list with doca_devinfo_rep_destroy_list. */
doca_error_t device_representors(struct doca_devinfo *devinfo, struct doca_devinfo_rep ***list, uint32_t *num);

#endif
