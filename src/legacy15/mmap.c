/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps: create, start, stop, destroy; devices and ranges. */
#include "legacy15/mmap.h"

#include <assert.h>
#include <stdlib.h>

#include "core/dev.h"

#define RANGES_DEFAULT 64
#define DEVICES_DEFAULT 32 /* as today's */
#define PAGE_MIN 4096

/* ---- create, start, stop, destroy ---- */

struct legacy15_mmap *legacy15_mmap_new(const union doca_data *user_data)
{
	struct legacy15_mmap *mmap = calloc(1, sizeof(*mmap));

	if (mmap == NULL) {
		SF_LOG_ERR("no memory for a memory map");
		return NULL;
	}
	if (user_data != NULL)
		mmap->user_data = *user_data;
	mmap->max_ranges = RANGES_DEFAULT;
	mmap->max_devs = DEVICES_DEFAULT;
	return mmap;
}

doca_error_t legacy15_mmap_room_make(struct legacy15_mmap *mmap)
{
	mmap->ranges = calloc(mmap->max_ranges, sizeof(*mmap->ranges));
	mmap->devs = calloc(mmap->max_devs, sizeof(struct doca_dev *));
	if (mmap->ranges != NULL && mmap->devs != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("no memory for a memory map of up to %u ranges and %u devices", mmap->max_ranges, mmap->max_devs);
	free(mmap->ranges);
	free(mmap->devs);
	mmap->ranges = NULL;
	mmap->devs = NULL;
	return DOCA_ERROR_NO_MEMORY;
}

void legacy15_mmap_free(struct legacy15_mmap *mmap)
{
	for (uint32_t i = 0; i < mmap->num_devs; i++)
		sf_dev_release(mmap->devs[i]);
	free(mmap->ranges);
	free(mmap->devs);
	free(mmap);
}

LEGACY15_API doca_error_t doca_1_5_mmap_create(const union doca_data *user_data, struct legacy15_mmap **mmap)
{
	doca_error_t result = legacy15_check("doca_mmap_create", mmap, mmap);
	struct legacy15_mmap *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = legacy15_mmap_new(user_data);
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*mmap = created;
	return DOCA_SUCCESS;
}

static uint32_t num_bufs(const struct legacy15_mmap *mmap)
{
	uint32_t sum = 0, num;

	for (uint32_t i = 0; i < mmap->num_ranges; i++) {
		if (doca_mmap_get_num_bufs(mmap->ranges[i].map, &num) == DOCA_SUCCESS)
			sum += num;
	}
	return sum;
}

/* NOT_PERMITTED, logged, while bufs of the map are in use. */
static doca_error_t check_no_bufs(const struct legacy15_mmap *mmap, const char *function)
{
	uint32_t num = num_bufs(mmap);

	if (num == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %u bufs of the memory map are in use: release those first", function, num);
	return DOCA_ERROR_NOT_PERMITTED;
}

LEGACY15_API doca_error_t doca_1_5_mmap_destroy(struct legacy15_mmap *mmap)
{
	doca_error_t result = legacy15_check("doca_mmap_destroy", mmap, mmap);

	if (result == DOCA_SUCCESS)
		result = check_no_bufs(mmap, "doca_mmap_destroy");
	if (result != DOCA_SUCCESS)
		return result;
	while (mmap->num_ranges > 0) {
		struct legacy15_range *range = &mmap->ranges[mmap->num_ranges - 1];

		result = doca_mmap_destroy(range->map);
		if (result != DOCA_SUCCESS)
			return result; /* a context uses it; the program can destroy the map later */
		assert(mmap->num_ranges > 0);
		mmap->num_ranges--;
		if (range->free_cb != NULL)
			range->free_cb(range->addr, range->len, range->opaque);
	}
	legacy15_mmap_free(mmap);
	return DOCA_SUCCESS;
}

LEGACY15_API doca_error_t doca_1_5_mmap_start(struct legacy15_mmap *mmap)
{
	doca_error_t result = legacy15_check("doca_mmap_start", mmap, mmap);

	if (result == DOCA_SUCCESS && !mmap->was_started)
		result = legacy15_mmap_room_make(mmap);
	if (result == DOCA_SUCCESS)
		mmap->started = mmap->was_started = true;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_stop(struct legacy15_mmap *mmap)
{
	doca_error_t result = legacy15_check("doca_mmap_stop", mmap, mmap);

	if (result == DOCA_SUCCESS)
		mmap->started = false;
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_get_num_bufs(const struct legacy15_mmap *mmap, uint32_t *num)
{
	doca_error_t result = legacy15_check("doca_mmap_get_num_bufs", mmap, num);

	if (result == DOCA_SUCCESS)
		*num = num_bufs(mmap);
	return result;
}

/* ---- checks ---- */

doca_error_t legacy15_mmap_check_open(const struct legacy15_mmap *mmap, const char *function)
{
	if (mmap->started && !mmap->exported && !mmap->imported)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the memory map %s", function,
		   mmap->imported   ? "was made from an export and cannot be changed"
		   : mmap->exported ? "was exported and cannot be changed"
				    : "is not started: call doca_mmap_start first");
	return DOCA_ERROR_NOT_PERMITTED;
}

bool legacy15_mmap_has_dev(const struct legacy15_mmap *mmap, const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_devs; i++) {
		if (mmap->devs[i] == dev)
			return true;
	}
	return false;
}

/* ---- devices ---- */

/* Restarts ranges that were stopped for a change of devices, if the map still has a device. */
static doca_error_t ranges_start(struct legacy15_mmap *mmap, uint32_t num)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < num && mmap->num_devs > 0 && result == DOCA_SUCCESS; i++)
		result = doca_mmap_start(mmap->ranges[i].map);
	return result;
}

static doca_error_t ranges_stop(struct legacy15_mmap *mmap)
{
	for (uint32_t i = 0; i < mmap->num_ranges; i++) {
		if (doca_mmap_stop(mmap->ranges[i].map) == DOCA_SUCCESS)
			continue;
		ranges_start(mmap, i);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

/* For both calls below: checks their arguments, and that the devices may change. */
static doca_error_t check_devs_change(const struct legacy15_mmap *mmap, const struct doca_dev *dev, const char *function)
{
	doca_error_t result = legacy15_check(function, mmap, dev);

	if (result == DOCA_SUCCESS)
		result = legacy15_mmap_check_open(mmap, function);
	return result;
}

static doca_error_t check_dev_new(const struct legacy15_mmap *mmap, const struct doca_dev *dev)
{
	if (legacy15_mmap_has_dev(mmap, dev)) {
		SF_LOG_ERR("memory map has device %s already", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_IN_USE;
	}
	if (mmap->num_devs == mmap->max_devs) {
		SF_LOG_ERR("memory map has %u devices, which is its maximum: raise it with doca_mmap_set_max_num_devices",
			   mmap->num_devs);
		return DOCA_ERROR_NO_MEMORY;
	}
	return check_no_bufs(mmap, "doca_mmap_dev_add");
}

LEGACY15_API doca_error_t doca_1_5_mmap_dev_add(struct legacy15_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_devs_change(mmap, dev, "doca_mmap_dev_add");

	if (result == DOCA_SUCCESS)
		result = check_dev_new(mmap, dev);
	if (result == DOCA_SUCCESS)
		result = ranges_stop(mmap);
	for (uint32_t i = 0; i < mmap->num_ranges && result == DOCA_SUCCESS; i++)
		result = doca_mmap_add_dev(mmap->ranges[i].map, dev);
	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_hold(dev);
	mmap->devs[mmap->num_devs++] = dev;
	return ranges_start(mmap, mmap->num_ranges);
}

LEGACY15_API doca_error_t doca_1_5_mmap_dev_rm(struct legacy15_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_devs_change(mmap, dev, "doca_mmap_dev_rm");
	uint32_t at = 0;

	if (result == DOCA_SUCCESS && !legacy15_mmap_has_dev(mmap, dev)) {
		SF_LOG_ERR("memory map does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		result = check_no_bufs(mmap, "doca_mmap_dev_rm");
	if (result == DOCA_SUCCESS)
		result = ranges_stop(mmap);
	for (uint32_t i = 0; i < mmap->num_ranges && result == DOCA_SUCCESS; i++)
		result = doca_mmap_rm_dev(mmap->ranges[i].map, dev);
	if (result != DOCA_SUCCESS)
		return result;
	while (mmap->devs[at] != dev)
		at++;
	assert(at < mmap->num_devs);
	mmap->devs[at] = mmap->devs[--mmap->num_devs];
	sf_dev_release(dev);
	return ranges_start(mmap, mmap->num_ranges);
}

/* ---- ranges ---- */

static doca_error_t check_range(const void *addr, size_t len, size_t pg_sz)
{
	if (len == 0 || (uintptr_t)addr + len < (uintptr_t)addr) {
		SF_LOG_ERR("memory range of %zu bytes at %p is %s", len, addr,
			   len == 0 ? "empty" : "past the end of the address space");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (pg_sz < PAGE_MIN || (pg_sz & (pg_sz - 1)) != 0) {
		SF_LOG_ERR("page size %zu is invalid: use a power of two, %d or more", pg_sz, PAGE_MIN);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_range_new(const struct legacy15_mmap *mmap, const uint8_t *addr, size_t len)
{
	for (uint32_t i = 0; i < mmap->num_ranges; i++) {
		const struct legacy15_range *range = &mmap->ranges[i];

		if (addr >= range->addr + range->len || addr + len <= range->addr)
			continue;
		SF_LOG_ERR("%zu bytes at %p overlap a range of the memory map, %zu bytes at %p", len, (const void *)addr,
			   range->len, (void *)range->addr);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (mmap->num_ranges < mmap->max_ranges)
		return DOCA_SUCCESS;
	SF_LOG_ERR("memory map has %u ranges, which is its maximum: raise it with doca_mmap_set_max_num_chunks",
		   mmap->num_ranges);
	return DOCA_ERROR_NO_MEMORY;
}

/* Configures today's memory map of the range, with all permissions. */
static doca_error_t range_configure(const struct legacy15_mmap *mmap, struct doca_mmap *map, void *addr, size_t len)
{
	doca_error_t result = doca_mmap_set_max_num_devices(map, mmap->max_devs);

	for (uint32_t i = 0; i < mmap->num_devs && result == DOCA_SUCCESS; i++)
		result = doca_mmap_add_dev(map, mmap->devs[i]);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(map, addr, len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (result == DOCA_SUCCESS && mmap->num_devs > 0)
		result = doca_mmap_start(map);
	return result;
}

LEGACY15_API doca_error_t doca_1_5_mmap_populate(struct legacy15_mmap *mmap, void *addr, size_t len, size_t pg_sz,
						 doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	doca_error_t result = legacy15_check("doca_mmap_populate", mmap, addr);
	struct doca_mmap *map;

	if (result == DOCA_SUCCESS)
		result = check_range(addr, len, pg_sz);
	if (result == DOCA_SUCCESS)
		result = legacy15_mmap_check_open(mmap, "doca_mmap_populate");
	if (result == DOCA_SUCCESS)
		result = check_range_new(mmap, addr, len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&map);
	if (result != DOCA_SUCCESS)
		return result;
	result = range_configure(mmap, map, addr, len);
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(map);
		return result;
	}
	mmap->ranges[mmap->num_ranges++] =
		(struct legacy15_range){.map = map, .addr = addr, .len = len, .free_cb = free_cb, .opaque = opaque};
	return DOCA_SUCCESS;
}

struct doca_mmap *legacy15_mmap_find(const struct legacy15_mmap *mmap, const void *addr, size_t len)
{
	for (uint32_t i = 0; i < mmap->num_ranges; i++) {
		size_t offset = (size_t)((uintptr_t)addr - (uintptr_t)mmap->ranges[i].addr);

		if (offset <= mmap->ranges[i].len && len <= mmap->ranges[i].len - offset)
			return mmap->ranges[i].map;
	}
	return NULL;
}
