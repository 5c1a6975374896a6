/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of a memory map: its range, rights, callback and limits. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include "base/log.h"
#include "mem/mmap_private.h"
#include "validation/validation.h"

#define ACCESS_FLAGS ((DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING << 1) - 1)
#define ACCESS_PCI_BOTH (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* For getters. INVALID_VALUE, logged: the mmap or the output argument is NULL. */
static doca_error_t check_get(const struct doca_mmap *mmap, const void *out, const char *what)
{
	if (mmap != NULL && out != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL: cannot get the %s", mmap == NULL ? "mmap" : "the output argument", what);
	return DOCA_ERROR_INVALID_VALUE;
}

/* For setters; has_value is false if the value is NULL. Also checks that the mmap is not started. */
static doca_error_t check_set(const struct doca_mmap *mmap, bool has_value, const char *what)
{
	if (mmap == NULL || !has_value) {
		SF_LOG_ERR("%s is NULL: cannot set the %s", mmap == NULL ? "mmap" : "the value", what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->started) {
		SF_LOG_ERR("the %s of a started memory map cannot change: set it before doca_mmap_start", what);
		SF_BROKEN(MMAP_002, mmap, NULL, "it is started already, and its %s cannot change", what);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

/* ---- the range ---- */

static doca_error_t check_range(const struct doca_mmap *mmap, uintptr_t addr, size_t len)
{
	if (len == 0 || addr + len < addr) {
		SF_LOG_ERR("memory range of %zu bytes at 0x%zx is %s", len, (size_t)addr,
			   len == 0 ? "empty" : "past the end of the address space");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->has_range) {
		SF_LOG_ERR("memory map has its range already, %zu bytes at %p: a second range needs a second memory map",
			   mmap->len, mmap->addr);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

static doca_error_t range_set(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result = check_range(mmap, (uintptr_t)addr, len);

	if (result != DOCA_SUCCESS)
		return result;
	mmap->addr = addr;
	mmap->len = len;
	mmap->has_range = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result = check_set(mmap, addr != NULL, "memory range");

	if (result != DOCA_SUCCESS)
		return result;
	/* Programs name GPU memory a second time by its address, after its dmabuf or instead of it. */
	if (mmap->has_range && mmap->addr == addr && mmap->len == len)
		return DOCA_SUCCESS;
	return range_set(mmap, addr, len);
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset, size_t len)
{
	doca_error_t result = check_set(mmap, true, "memory range");

	if (result != DOCA_SUCCESS)
		return result;
	if (fcntl(dmabuf_fd, F_GETFD) < 0) {
		SF_LOG_ERR("dmabuf descriptor %d: %s", dmabuf_fd, strerror(errno));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (dmabuf_offset + len < dmabuf_offset) {
		SF_LOG_ERR("dmabuf range of %zu bytes at offset %zu is too large", len, dmabuf_offset);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (addr == NULL) {
		SF_LOG_ERR("a dmabuf without an address in this process cannot be accessed here: give the address, or use "
			   "doca_mmap_set_memrange");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return range_set(mmap, addr, len);
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len)
{
	doca_error_t result = check_set(mmap, dpa != NULL, "memory range");

	if (result != DOCA_SUCCESS)
		return result;
	result = check_range(mmap, dpa_addr, len);
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("there is no DPA here whose memory could be mapped: use doca_mmap_set_memrange");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	doca_error_t result = check_get(mmap, addr != NULL ? len : NULL, "memory range");

	if (result != DOCA_SUCCESS)
		return result;
	if (!mmap->has_range) {
		SF_LOG_ERR("memory map has no range yet: call doca_mmap_set_memrange first");
		return DOCA_ERROR_BAD_STATE;
	}
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	doca_error_t result = check_set(mmap, free_cb != NULL, "free callback");

	if (result != DOCA_SUCCESS)
		return result;
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	mmap->free_due = false;
	return DOCA_SUCCESS;
}

/* ---- rights and limits ---- */

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	doca_error_t result = check_set(mmap, true, "permissions");

	if (result != DOCA_SUCCESS)
		return result;
	if ((access_mask & ~(uint32_t)ACCESS_FLAGS) != 0) {
		SF_LOG_ERR("permissions 0x%x have unknown bits: use DOCA_ACCESS_FLAG values", access_mask);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((access_mask & ACCESS_PCI_BOTH) == ACCESS_PCI_BOTH) {
		SF_LOG_ERR("permissions 0x%x ask for PCI_READ_ONLY and PCI_READ_WRITE: choose one", access_mask);
		return DOCA_ERROR_INVALID_VALUE;
	}
	mmap->permissions = access_mask;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->was_started) {
		SF_LOG_ERR("the number of devices can be set only before the memory map is first started");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (max_num_devices == 0 || max_num_devices > SF_MMAP_DEVICES_MAX || max_num_devices < mmap->num_devs) {
		SF_LOG_ERR("%u devices: give 1 to %u; the memory map has %u already", max_num_devices, SF_MMAP_DEVICES_MAX,
			   mmap->num_devs);
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct sf_mmap_dev *devs = realloc(mmap->devs, max_num_devices * sizeof(*devs));
	if (devs == NULL) {
		SF_LOG_ERR("no memory for %u devices of a memory map", max_num_devices);
		return DOCA_ERROR_NO_MEMORY;
	}
	mmap->devs = devs;
	mmap->max_devs = max_num_devices;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
	doca_error_t result = check_get(mmap, max_num_devices, "number of devices");

	if (result == DOCA_SUCCESS)
		*max_num_devices = mmap->max_devs;
	return result;
}

doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	if (mmap == NULL) {
		SF_LOG_ERR("mmap is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->started && (!mmap->from_export || mmap->num_bufs != 0)) { /* one made from an export is always started */
		SF_LOG_ERR(
			"thread safety can be enabled only before doca_mmap_start, or before the first buf of an imported one");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	mmap->thread_safe = true;
	return DOCA_SUCCESS;
}

/* ---- the rest ---- */

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	doca_error_t result = check_set(mmap, true, "user data");

	if (result == DOCA_SUCCESS)
		mmap->user_data = user_data;
	return result;
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
	doca_error_t result = check_get(mmap, user_data, "user data");

	if (result == DOCA_SUCCESS)
		*user_data = mmap->user_data;
	return result;
}

doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs)
{
	doca_error_t result = check_get(mmap, num_bufs, "number of bufs");

	if (result == DOCA_SUCCESS)
		*num_bufs = mmap->num_bufs;
	return result;
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
	doca_error_t result = check_get(mmap, exported, "export state");

	if (result == DOCA_SUCCESS)
		*exported = sf_mmap_is_exported(mmap);
	return result;
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
	doca_error_t result = check_get(mmap, from_export, "import state");

	if (result == DOCA_SUCCESS)
		*from_export = mmap->from_export;
	return result;
}
