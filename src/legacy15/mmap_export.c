/* SPDX-License-Identifier: BSD-3-Clause */
/* Export of memory maps as JSON texts, and import from them. */
#include <stdlib.h>
#include <string.h>

#include "base/log_rate.h"
#include "core/dev.h"
#include "legacy15/descriptor.h"
#include "legacy15/mmap.h"

/* ---- export ---- */

static doca_error_t check_export(const struct legacy15_mmap *mmap, const struct doca_dev *dev)
{
	doca_error_t result = legacy15_mmap_check_open(mmap, "doca_mmap_export");

	if (result != DOCA_SUCCESS)
		return result;
	if (!legacy15_mmap_has_dev(mmap, dev)) {
		SF_LOG_ERR("memory map does not have device %s: add it with doca_mmap_dev_add", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->num_ranges == 1)
		return DOCA_SUCCESS;
	SF_LOG_ERR("memory map has %u ranges, but only one with one range can be exported%s", mmap->num_ranges,
		   mmap->num_ranges == 0 ? ": call doca_mmap_populate first" : ": create a map for each range");
	return mmap->num_ranges == 0 ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t range_describe(const struct legacy15_range *range, const struct doca_dev *dev, char **text, size_t *text_len)
{
	struct legacy15_descriptor descriptor = {.addr = (uintptr_t)range->addr, .len = range->len};
	const void *bytes;
	doca_error_t result = doca_mmap_export_pci(range->map, dev, &bytes, &descriptor.num_bytes);

	if (result != DOCA_SUCCESS)
		return result;
	if (descriptor.num_bytes > sizeof(descriptor.bytes)) {
		SF_LOG_ERR("export descriptor of %zu bytes: at most %zu fit into the JSON text", descriptor.num_bytes,
			   sizeof(descriptor.bytes));
		return DOCA_ERROR_DRIVER;
	}
	memcpy(descriptor.bytes, bytes, descriptor.num_bytes);
	return legacy15_descriptor_pack(&descriptor, text, text_len);
}

LEGACY15_API doca_error_t doca_1_5_mmap_export(struct legacy15_mmap *mmap, const struct doca_dev *dev, void **export_desc,
					       size_t *export_desc_len)
{
	doca_error_t result = legacy15_check("doca_mmap_export", mmap, dev);
	char *text;
	size_t len;

	if (result == DOCA_SUCCESS)
		result = legacy15_check("doca_mmap_export", export_desc, export_desc_len);
	if (result == DOCA_SUCCESS)
		result = check_export(mmap, dev);
	if (result == DOCA_SUCCESS)
		result = range_describe(&mmap->ranges[0], dev, &text, &len);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->exported = true;
	*export_desc = text;
	*export_desc_len = len;
	return DOCA_SUCCESS;
}

/* ---- import ---- */

/* The imported range must match addr and len of the text. */
static doca_error_t range_import(const struct legacy15_descriptor *descriptor, struct doca_dev *dev, struct doca_mmap **map)
{
	doca_error_t result = doca_mmap_create_from_export(NULL, descriptor->bytes, descriptor->num_bytes, dev, map);
	void *addr;
	size_t len;

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_get_memrange(*map, &addr, &len);
	if (result == DOCA_SUCCESS && ((uintptr_t)addr != descriptor->addr || len != descriptor->len)) {
		SF_LOG_ERR_LIMITED("export descriptor names %llu bytes at 0x%llx, but contains an export of %zu bytes at %p",
				   (unsigned long long)descriptor->len, (unsigned long long)descriptor->addr, len, addr);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS)
		doca_mmap_destroy(*map);
	return result;
}

static doca_error_t imported_init(struct legacy15_mmap *mmap, const struct legacy15_descriptor *descriptor, struct doca_dev *dev)
{
	doca_error_t result = legacy15_mmap_room_make(mmap);

	if (result == DOCA_SUCCESS)
		result = range_import(descriptor, dev, &mmap->ranges[0].map);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->ranges[0].addr = (uint8_t *)(uintptr_t)descriptor->addr;
	mmap->ranges[0].len = descriptor->len;
	mmap->num_ranges = 1;
	sf_dev_hold(dev);
	mmap->devs[mmap->num_devs++] = dev;
	mmap->started = mmap->was_started = mmap->imported = true;
	return DOCA_SUCCESS;
}

LEGACY15_API doca_error_t doca_1_5_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
							   size_t export_desc_len, struct doca_dev *dev,
							   struct legacy15_mmap **mmap)
{
	struct legacy15_descriptor descriptor;
	doca_error_t result = legacy15_check("doca_mmap_create_from_export", dev, mmap != NULL ? export_desc : NULL);
	struct legacy15_mmap *created;

	if (result == DOCA_SUCCESS)
		result = legacy15_descriptor_unpack(export_desc, export_desc_len, &descriptor);
	if (result != DOCA_SUCCESS)
		return result;
	created = legacy15_mmap_new(user_data);
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = imported_init(created, &descriptor, dev);
	if (result != DOCA_SUCCESS) {
		legacy15_mmap_free(created);
		return result;
	}
	*mmap = created;
	return DOCA_SUCCESS;
}
