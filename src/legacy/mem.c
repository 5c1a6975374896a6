/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of memory maps, inventories and pools whose signatures or errors differ in the 2.2 API. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_mmap.h>

#include "legacy/legacy.h"

/* ---- memory maps ---- */

LEGACY_API doca_error_t doca_2_2_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
	struct doca_mmap *created;
	doca_error_t result = legacy_check("doca_mmap_create", mmap, mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&created);
	if (result == DOCA_SUCCESS && user_data != NULL)
		result = doca_mmap_set_user_data(created, *user_data);
	if (result == DOCA_SUCCESS)
		*mmap = created;
	return result;
}

LEGACY_API doca_error_t doca_2_2_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = doca_mmap_add_dev(mmap, dev);

	return result == DOCA_ERROR_ALREADY_EXIST ? DOCA_ERROR_IN_USE : result;
}

LEGACY_API doca_error_t doca_2_2_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = doca_mmap_rm_dev(mmap, dev);

	return result == DOCA_ERROR_NOT_FOUND ? DOCA_ERROR_INVALID_VALUE : result;
}

LEGACY_API doca_error_t doca_2_2_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
						 size_t *export_desc_len)
{
	doca_error_t result = doca_mmap_export_pci(mmap, dev, export_desc, export_desc_len);

	return result == DOCA_ERROR_NOT_FOUND ? DOCA_ERROR_INVALID_VALUE : result;
}

/* Today's call needs the address, too, so the memory is mapped here; the free callback unmaps it. */
static void dmabuf_unmap(void *addr, size_t len, void *cookie)
{
	(void)cookie;
	munmap(addr, len);
}

LEGACY_API doca_error_t doca_2_2_mmap_set_dmabuf_memrange(struct doca_mmap *map, int dmabuf_fd, size_t offset, size_t len)
{
	doca_error_t result = legacy_check("doca_mmap_set_dmabuf_memrange", map, map);
	void *addr;

	if (result != DOCA_SUCCESS)
		return result;
	if (len == 0 || offset % (size_t)sysconf(_SC_PAGESIZE) != 0) {
		SF_LOG_ERR("dmabuf range of %zu bytes at offset %zu: use at least 1 byte and a page-aligned offset", len, offset);
		return DOCA_ERROR_INVALID_VALUE;
	}
	addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf_fd, (off_t)offset);
	if (addr == MAP_FAILED) {
		SF_LOG_ERR("dmabuf descriptor %d cannot be mapped: %s", dmabuf_fd, strerror(errno));
		return errno == EBADF ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
	}
	result = doca_mmap_set_dmabuf_memrange(map, dmabuf_fd, addr, offset, len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_free_cb(map, dmabuf_unmap, NULL);
	if (result != DOCA_SUCCESS)
		munmap(addr, len);
	return result;
}

/* ---- inventories ---- */

/* INVALID_VALUE, logged, for any extension: the 2.2 API defines none. */
static doca_error_t check_extensions(uint32_t extensions, const char *function)
{
	if (extensions == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: extensions 0x%x are unknown: use DOCA_BUF_EXTENSION_NONE", function, extensions);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API doca_error_t doca_2_2_buf_inventory_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
						      struct doca_buf_inventory **buf_inventory)
{
	struct doca_buf_inventory *created;
	doca_error_t result = legacy_check("doca_buf_inventory_create", buf_inventory, buf_inventory);

	if (result == DOCA_SUCCESS)
		result = check_extensions(extensions, "doca_buf_inventory_create");
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(num_elements, &created);
	if (result == DOCA_SUCCESS && user_data != NULL)
		result = doca_buf_inventory_set_user_data(created, *user_data);
	if (result == DOCA_SUCCESS)
		*buf_inventory = created;
	return result;
}

/* ---- pools ---- */

LEGACY_API doca_error_t doca_2_2_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
						size_t element_size, size_t element_alignment, const struct doca_mmap *map,
						struct doca_buf_pool **bufpool)
{
	struct doca_buf_pool *created;
	doca_error_t result = legacy_check("doca_bufpool_create", bufpool, map);

	if (result == DOCA_SUCCESS)
		result = check_extensions(extensions, "doca_bufpool_create");
	if (result == DOCA_SUCCESS)
		result = doca_buf_pool_create(num_elements, element_size, map, &created);
	if (result != DOCA_SUCCESS)
		return result;
	if (element_alignment > 1)
		result = doca_buf_pool_set_element_alignment(created, element_alignment);
	if (result == DOCA_SUCCESS && user_data != NULL)
		result = doca_buf_pool_set_user_data(created, *user_data);
	if (result == DOCA_SUCCESS)
		*bufpool = created;
	else
		doca_buf_pool_destroy(created);
	return result;
}

LEGACY_API doca_error_t doca_2_2_bufpool_buf_alloc(struct doca_buf_pool *bufpool, struct doca_buf **buf)
{
	doca_error_t result = doca_buf_pool_buf_alloc(bufpool, buf);

	return result == DOCA_ERROR_EMPTY ? DOCA_ERROR_NO_MEMORY : result;
}
