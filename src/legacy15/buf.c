/* SPDX-License-Identifier: BSD-3-Clause */
/* Bufs of 1.5's memory maps, and their memory keys. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_rdma_bridge.h>

#include "legacy15/mmap.h"

#define EXTENSIONS 1U	 /* DOCA_BUF_EXTENSION_LINKED_LIST: lists need none here */
#define ACCESS_FLAGS 15U /* DOCA_ACCESS_LOCAL_WRITE to DOCA_ACCESS_REMOTE_ATOMIC */

LEGACY15_API doca_error_t doca_1_5_buf_inventory_create(const union doca_data *user_data, size_t num_elements,
							uint32_t extensions, struct doca_buf_inventory **buf_inventory)
{
	struct doca_buf_inventory *created;
	doca_error_t result = legacy15_check("doca_buf_inventory_create", buf_inventory, buf_inventory);

	if (result == DOCA_SUCCESS && (extensions & ~EXTENSIONS) != 0) {
		SF_LOG_ERR("doca_buf_inventory_create: extensions 0x%x are unknown: use DOCA_BUF_EXTENSION_LINKED_LIST or 0",
			   extensions);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(num_elements, &created);
	if (result == DOCA_SUCCESS && user_data != NULL)
		result = doca_buf_inventory_set_user_data(created, *user_data);
	if (result == DOCA_SUCCESS)
		*buf_inventory = created;
	return result;
}

/* Logs why there is no such buf and returns INVALID_VALUE. */
static __attribute__((noinline, cold)) doca_error_t buf_refused(const struct legacy15_mmap *mmap, const void *addr, size_t len)
{
	if (legacy15_check("doca_buf_inventory_buf_by_args", mmap, mmap) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started)
		SF_LOG_ERR("memory map is not started: call doca_mmap_start first");
	else if (mmap->num_devs == 0)
		SF_LOG_ERR("memory map has no device: call doca_mmap_dev_add first");
	else
		SF_LOG_ERR("a buf of %zu bytes at %p is not in any of the %u ranges of the memory map", len, addr,
			   mmap->num_ranges);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY15_API doca_error_t doca_1_5_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory, struct legacy15_mmap *mmap,
							     void *addr, size_t len, void *data, size_t data_len,
							     struct doca_buf **buf)
{
	struct doca_mmap *map = NULL;

	if (__builtin_expect(mmap != NULL && mmap->started && mmap->num_devs > 0, 1))
		map = legacy15_mmap_find(mmap, addr, len);
	if (__builtin_expect(map == NULL, 0))
		return buf_refused(mmap, addr, len);
	return doca_buf_inventory_buf_get_by_args(inventory, map, addr, len, data, data_len, buf);
}

LEGACY15_API doca_error_t doca_1_5_buf_get_lkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t access_flags,
						uint32_t *lkey)
{
	if ((access_flags & ~ACCESS_FLAGS) != 0) {
		SF_LOG_ERR("doca_buf_get_lkey: access flags 0x%x hold bits that no DOCA_ACCESS flag has", access_flags);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return doca_rdma_bridge_get_buf_mkey(buf, dev, lkey);
}
