/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap.h
 * Memory maps: today's, with the functions whose name or signature has changed since.
 *
 *     doca_mmap_create(NULL, &mmap);
 *     doca_mmap_set_memrange(mmap, memory, size);
 *     doca_mmap_dev_add(mmap, dev);
 *     doca_mmap_set_permissions(mmap, DOCA_ACCESS_DPU_READ_WRITE);
 *     doca_mmap_start(mmap);
 *     doca_mmap_export_dpu(mmap, dev, &descriptor, &size);     // the DPU: doca_mmap_create_from_export()
 */
#ifndef DOCA_2_2_MMAP_H_
#define DOCA_2_2_MMAP_H_

/* The signatures of these differ today. */
#define doca_mmap_create doca_mmap_create_of_today
#define doca_mmap_set_dmabuf_memrange doca_mmap_set_dmabuf_memrange_of_today
#define doca_mmap_get_user_data doca_mmap_get_user_data_of_today
#define doca_mmap_get_max_num_devices doca_mmap_get_max_num_devices_of_today
#define doca_mmap_get_num_bufs doca_mmap_get_num_bufs_of_today
#define doca_mmap_get_exported doca_mmap_get_exported_of_today
#define doca_mmap_get_from_export doca_mmap_get_from_export_of_today
#include "../doca_mmap.h"
#undef doca_mmap_create
#undef doca_mmap_set_dmabuf_memrange
#undef doca_mmap_get_user_data
#undef doca_mmap_get_max_num_devices
#undef doca_mmap_get_num_bufs
#undef doca_mmap_get_exported
#undef doca_mmap_get_from_export
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates an empty memory map.
 * @param user_data kept with it, or NULL for none
 * @param mmap the new object; destroyed by doca_mmap_destroy()
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap) DOCA_2_2_SYMBOL(doca_2_2_mmap_create);

/**
 * Lets a device access the memory. Before the map is started.
 * @retval DOCA_ERROR_NOT_PERMITTED started, exported or imported
 * @retval DOCA_ERROR_NO_MEMORY as many devices as it can have
 * @retval DOCA_ERROR_IN_USE this device is there already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_mmap_dev_add);

/**
 * Removes a device. Not while the map is started.
 * @retval DOCA_ERROR_INVALID_VALUE not one of its devices
 * @retval DOCA_ERROR_NOT_PERMITTED started, exported or imported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev) DOCA_2_2_SYMBOL(doca_2_2_mmap_dev_rm);

/**
 * Creates a descriptor, by which the DPU imports the map. Today doca_mmap_export_pci(). Started maps with DOCA_ACCESS_DPU_*.
 * @param dev one of its devices, whose representor the DPU sees
 * @param export_desc set to the descriptor, which belongs to the map and is valid until it is stopped or destroyed
 * @retval DOCA_ERROR_INVALID_VALUE not one of its devices
 * @retval DOCA_ERROR_NOT_PERMITTED not started, imported, or without DOCA_ACCESS_DPU_*
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device does not support exports
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len) DOCA_2_2_SYMBOL(doca_2_2_mmap_export_dpu);

/**
 * Sets the memory of a dmabuf as the map's range. It is mapped into this process as long as the map exists. Before start, once.
 * @param dmabuf_fd the dmabuf, or another descriptor that can be mapped; it may be closed after
 * @param offset where the range begins in it, bytes, a multiple of the page
 * @retval DOCA_ERROR_INVALID_VALUE a length of 0, an offset inside a page, no descriptor
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot be mapped
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_PERMITTED it has memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
	DOCA_2_2_SYMBOL(doca_2_2_mmap_set_dmabuf_memrange);

/** The user data passed to create. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_user_data(struct doca_mmap *mmap, union doca_data *user_data);

/** How many devices it can have. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_max_num_devices(struct doca_mmap *mmap, uint32_t *max_num_devices);

/** How many of its bufs are in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs);

/** Whether it was exported: 1 or 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_exported(struct doca_mmap *mmap, uint8_t *exported);

/** Whether it was created from an export: 1 or 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_from_export(struct doca_mmap *mmap, uint8_t *from_export);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_MMAP_H_ */
