/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: their limits and properties. */
#include <string.h>

#include "legacy15/mmap.h"

#define RANGES_MAX 65536
#define DEVICES_MAX 4096	  /* as today's */
#define PROPERTY_MAX_NUM_CHUNKS 0 /* DOCA_MMAP_MAX_NUM_CHUNKS */

/* Checks a new limit: the map was never started, and the limit is 1 to max. */
static doca_error_t check_limit(const struct legacy15_mmap *mmap, uint32_t limit, uint32_t max, const char *function)
{
	doca_error_t result = legacy15_check(function, mmap, mmap);

	if (result != DOCA_SUCCESS)
		return result;
	if (mmap->was_started) {
		SF_LOG_ERR("%s: limits can be set only before the memory map is first started", function);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (limit == 0 || limit > max) {
		SF_LOG_ERR("%s: %u is out of range: use 1 to %u", function, limit, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

LEGACY15_API doca_error_t doca_1_5_mmap_set_max_num_chunks(struct legacy15_mmap *mmap, uint32_t max_num_chunks)
{
	doca_error_t result = check_limit(mmap, max_num_chunks, RANGES_MAX, "doca_mmap_set_max_num_chunks");

	if (result == DOCA_SUCCESS)
		mmap->max_ranges = max_num_chunks;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_set_max_num_devices(struct legacy15_mmap *mmap, uint32_t max_num_devices)
{
	doca_error_t result = check_limit(mmap, max_num_devices, DEVICES_MAX, "doca_mmap_set_max_num_devices");

	if (result == DOCA_SUCCESS)
		mmap->max_devs = max_num_devices;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_property_set(struct legacy15_mmap *mmap, int property, const uint8_t *value,
						     uint32_t size)
{
	doca_error_t result = legacy15_check("doca_mmap_property_set", mmap, value);
	uint32_t number;

	if (result != DOCA_SUCCESS)
		return result;
	if (property != PROPERTY_MAX_NUM_CHUNKS || size != sizeof(number)) {
		SF_LOG_ERR("property %d of %u bytes is unknown: use DOCA_MMAP_MAX_NUM_CHUNKS, of %zu bytes", property, size,
			   sizeof(number));
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(&number, value, sizeof(number));
	return doca_1_5_mmap_set_max_num_chunks(mmap, number);
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_max_num_chunks(const struct legacy15_mmap *mmap, uint32_t *max_num_chunks)
{
	doca_error_t result = legacy15_check("doca_mmap_get_max_num_chunks", mmap, max_num_chunks);

	if (result == DOCA_SUCCESS)
		*max_num_chunks = mmap->max_ranges;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_max_num_devices(const struct legacy15_mmap *mmap, uint32_t *max_num_devices)
{
	doca_error_t result = legacy15_check("doca_mmap_get_max_num_devices", mmap, max_num_devices);

	if (result == DOCA_SUCCESS)
		*max_num_devices = mmap->max_devs;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_user_data(const struct legacy15_mmap *mmap, union doca_data *user_data)
{
	doca_error_t result = legacy15_check("doca_mmap_get_user_data", mmap, user_data);

	if (result == DOCA_SUCCESS)
		*user_data = mmap->user_data;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_exported(const struct legacy15_mmap *mmap, uint8_t *exported)
{
	doca_error_t result = legacy15_check("doca_mmap_get_exported", mmap, exported);

	if (result == DOCA_SUCCESS)
		*exported = mmap->exported;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_from_export(const struct legacy15_mmap *mmap, uint8_t *from_export)
{
	doca_error_t result = legacy15_check("doca_mmap_get_from_export", mmap, from_export);

	if (result == DOCA_SUCCESS)
		*from_export = mmap->imported;
	return result;
}
