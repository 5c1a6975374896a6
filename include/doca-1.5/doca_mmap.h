/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap.h
 * Memory maps of 1.5: several ranges of memory, which come after start, as do the devices.
 *
 *     doca_mmap_create(NULL, &mmap);
 *     doca_mmap_start(mmap);
 *     doca_mmap_dev_add(mmap, dev);
 *     doca_mmap_populate(mmap, memory, size, 4096, NULL, NULL);
 *     doca_mmap_export(mmap, dev, &descriptor, &len);     // the DPU: doca_mmap_create_from_export()
 *     free(descriptor);
 *     doca_mmap_destroy(mmap);
 *
 * The devices of a map, and importers, may read and write all of its memory. An exported map cannot be changed: devices and
 * ranges can neither be added nor removed, and it cannot be exported again. An export has one range.
 *
 * An export descriptor is a JSON text with a NUL at its end, `{"addr": 4096, "len": 65536, ...}`: the range's address in the
 * exporter, and its length. Programs may read those two; the rest is internal.
 *
 * Threads: any thread may acquire bufs of a map. All other calls must be made by one thread at a time.
 */
#ifndef DOCA_1_5_MMAP_H_
#define DOCA_1_5_MMAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A memory map. Opaque. */
struct doca_mmap;

/** What doca_mmap_property_set() sets. */
enum doca_mmap_property {
	DOCA_MMAP_MAX_NUM_CHUNKS, /**< as doca_mmap_set_max_num_chunks(), a uint32_t */
};

/** Frees the memory of a range; called by destroy. */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *opaque);

/**
 * Creates an empty memory map.
 * @param user_data kept with it, or NULL for none
 * @param mmap the new object; destroyed by doca_mmap_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap) DOCA_1_5_SYMBOL(doca_1_5_mmap_create);

/**
 * Destroys a memory map, started or not, and calls the free callback of each range. Its export ends.
 * @param mmap the map
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NOT_PERMITTED bufs of it are in use, or contexts use it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap) DOCA_1_5_SYMBOL(doca_1_5_mmap_destroy);

/**
 * Starts a memory map. Its limits are fixed from the first start on.
 * @param mmap the map
 * @return DOCA_SUCCESS, also when it is started
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_start(struct doca_mmap *mmap) DOCA_1_5_SYMBOL(doca_1_5_mmap_start);

/**
 * Stops a memory map: until the next start nothing can be added or exported, and no bufs acquired. Bufs in use stay usable, and
 * so does its export.
 * @param mmap the map
 * @return DOCA_SUCCESS, also when it is not started
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_stop(struct doca_mmap *mmap) DOCA_1_5_SYMBOL(doca_1_5_mmap_stop);

/**
 * Lets a device access the memory: present ranges and later ones.
 * @param mmap a started map
 * @param dev the device
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NOT_PERMITTED not started, exported, imported, or bufs of it are in use
 * @retval DOCA_ERROR_NO_MEMORY as many devices as it can have, or out of memory
 * @retval DOCA_ERROR_IN_USE this device is there already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev) DOCA_1_5_SYMBOL(doca_1_5_mmap_dev_add);

/**
 * Removes a device.
 * @param mmap a started map
 * @param dev the device
 * @retval DOCA_ERROR_INVALID_VALUE NULL, or not one of its devices
 * @retval DOCA_ERROR_NOT_PERMITTED not started, exported, imported, or bufs of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev) DOCA_1_5_SYMBOL(doca_1_5_mmap_dev_rm);

/**
 * Adds a range of memory. The memory must exist until the map is destroyed; free_cb may free it then.
 * @param mmap a started map
 * @param addr where the range begins
 * @param len its bytes
 * @param pg_sz bytes of a page of it: a power of two, 4096 or more
 * @param free_cb called once when the map is destroyed, or NULL
 * @param opaque passed to free_cb
 * @retval DOCA_ERROR_INVALID_VALUE NULL, no bytes, past the end of the address space, or no such page
 * @retval DOCA_ERROR_NOT_PERMITTED not started, exported, imported, or the range overlaps another one of the map
 * @retval DOCA_ERROR_NO_MEMORY as many ranges as it can have, or out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
				doca_mmap_memrange_free_cb_t *free_cb, void *opaque) DOCA_1_5_SYMBOL(doca_1_5_mmap_populate);

/**
 * Creates a descriptor, by which the DPU imports the map.
 * @param mmap a started map of one range
 * @param dev one of its devices, whose representor the DPU sees
 * @param export_desc set to the descriptor, a JSON text; the caller must free() it
 * @param export_desc_len set to its length, including the NUL
 * @retval DOCA_ERROR_INVALID_VALUE NULL, or not one of its devices
 * @retval DOCA_ERROR_NOT_PERMITTED not started, exported already, imported, or without memory
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device does not support exports, or the map has several ranges
 * @retval DOCA_ERROR_DRIVER the device cannot describe the memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, void **export_desc, size_t *export_desc_len)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_export);

/**
 * Creates a memory map from an export: started, with one device and the exporter's memory.
 * @param user_data kept with it, or NULL for none
 * @param export_desc the descriptor
 * @param export_desc_len its bytes, with or without the NUL
 * @param dev the device that the exporter's is behind
 * @param mmap the new object; destroyed by doca_mmap_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE NULL, or not a descriptor
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device does not support imports
 * @retval DOCA_ERROR_NOT_PERMITTED the exporter has gone, or this device may not access its memory
 * @retval DOCA_ERROR_DRIVER the device cannot connect to the exporter
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_create_from_export);

/** The user data passed to create. DOCA_ERROR_INVALID_VALUE: NULL, here and below. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_user_data(struct doca_mmap *mmap, union doca_data *user_data)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_get_user_data);

/** How many ranges it can have; 64 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_max_num_chunks(struct doca_mmap *mmap, uint32_t *max_num_chunks)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_get_max_num_chunks);

/** How many devices it can have; 32 at first. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_max_num_devices(struct doca_mmap *mmap, uint32_t *max_num_devices)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_get_max_num_devices);

/** How many of its bufs are in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs) DOCA_1_5_SYMBOL(doca_1_5_mmap_get_num_bufs);

/** Whether it was exported: 1 or 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_exported(struct doca_mmap *mmap, uint8_t *exported) DOCA_1_5_SYMBOL(doca_1_5_mmap_get_exported);

/** Whether it was created from an export: 1 or 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_from_export(struct doca_mmap *mmap, uint8_t *from_export)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_get_from_export);

/**
 * Sets how many ranges it can have. Before its first start.
 * @param mmap the map
 * @param max_num_chunks 1 to 65536
 * @retval DOCA_ERROR_INVALID_VALUE NULL or out of bounds
 * @retval DOCA_ERROR_NOT_PERMITTED it was started, or imported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_max_num_chunks(struct doca_mmap *mmap, uint32_t max_num_chunks)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_set_max_num_chunks);

/**
 * Sets how many devices it can have. Before its first start.
 * @param mmap the map
 * @param max_num_devices 1 to 4096
 * @retval DOCA_ERROR_INVALID_VALUE NULL or out of bounds
 * @retval DOCA_ERROR_NOT_PERMITTED it was started, or imported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_set_max_num_devices);

/**
 * Sets a property, as of 1.3. Before the map's first start.
 * @param mmap the map
 * @param property DOCA_MMAP_MAX_NUM_CHUNKS, the only one
 * @param value a uint32_t
 * @param size its bytes
 * @retval DOCA_ERROR_INVALID_VALUE NULL, another property, another size, or out of bounds
 * @retval DOCA_ERROR_NOT_PERMITTED it was started, or imported
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_property_set(struct doca_mmap *mmap, enum doca_mmap_property property, const uint8_t *value, uint32_t size)
	DOCA_1_5_SYMBOL(doca_1_5_mmap_property_set);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_MMAP_H_ */
