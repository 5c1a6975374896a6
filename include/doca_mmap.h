/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap.h
 * Memory maps: one range of memory that devices may access, and the access rights.
 *
 *     doca_mmap_create(&mmap);
 *     doca_mmap_add_dev(mmap, dev);
 *     doca_mmap_set_memrange(mmap, memory, size);
 *     doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
 *     doca_mmap_start(mmap);                  then make buffers in it (doca_buf_inventory.h, doca_buf_pool.h)
 *     ...
 *     doca_mmap_destroy(mmap);                stops it first
 *
 * The program owns the memory, and frees it after the memory map is stopped or destroyed, or in the free callback. Ranges of
 * several memory maps may overlap. Attributes are set before start. After doca_mmap_stop() all but the range and the number of
 * devices may be set again.
 *
 * A memory map and its buffers, of whatever inventory, belong to one thread at a time unless doca_mmap_enable_thread_safety()
 * was called. (Core guide, "DOCA Memory Subsystem")
 *
 * @retval DOCA_ERROR_BAD_STATE doca_mmap_set_memrange, doca_mmap_set_d*, doca_mmap_set_free_cb, doca_mmap_set_permissions,
 *   doca_mmap_set_user_data: the memory map is started
 * @retval DOCA_ERROR_NO_MEMORY doca_mmap_create*, doca_mmap_export_*: out of memory
 * @retval DOCA_ERROR_NOT_FOUND doca_mmap_export_*, doca_mmap_get_mkey, doca_mmap_dev_*, doca_mmap_rm_dev: the memory map does
 *   not have this device
 */
#ifndef DOCA_MMAP_H_
#define DOCA_MMAP_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;

/** A memory map. */
struct doca_mmap;

/** A handle for code on a DPA. */
typedef uint32_t doca_dpa_dev_mmap_t;

/** Creates a memory map without memory or devices, with DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Stops and destroys a memory map. Its export descriptors become invalid. The free callback runs last.
 * @retval DOCA_ERROR_NOT_PERMITTED buffers of it, or contexts, still use it
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Starts a memory map: buffers can be made in it. Does nothing if it is started.
 * @retval DOCA_ERROR_INVALID_VALUE it has no memory range or no device
 * @retval DOCA_ERROR_NOT_PERMITTED it is started and was exported, or it was made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Stops a memory map. Memory keys and exports for RDMA become invalid: peers' tasks in this memory fail from here on, also those
 * in flight; what successful tasks wrote stays. A memory map made from an export for RDMA releases the peer's memory and can
 * only be destroyed then. Does nothing if it is not started.
 * @retval DOCA_ERROR_NOT_PERMITTED buffers of it, or contexts, still use it; it was exported over PCI, or made from such an
 *   export
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Adds a device that may access the memory. The device cannot be closed meanwhile.
 * @retval DOCA_ERROR_NOT_PERMITTED the memory map is started
 * @retval DOCA_ERROR_NO_MEMORY it has as many devices as doca_mmap_set_max_num_devices() allows
 * @retval DOCA_ERROR_ALREADY_EXIST it has this device
 */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Removes a device that doca_mmap_add_dev() added.
 * @retval DOCA_ERROR_NOT_PERMITTED the memory map is started
 */
DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/** Called when the memory is no longer used: free or unmap it here. cookie is the opaque of doca_mmap_set_free_cb(). */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Describes the memory map to the node at the other end of the PCI bus, for doca_mmap_create_from_export() there. The memory map
 * cannot be stopped afterwards, only destroyed.
 * @param export_desc belongs to the memory map, and is freed with it
 * @retval DOCA_ERROR_NOT_PERMITTED it is not started, was made from an export, or has no PCI access flag
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot (doca_mmap_cap_is_export_pci_supported()), or the memory is a GPU's
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);

/**
 * Describes the memory map to peers on the network. doca_mmap_stop() ends the export. A memory map made from an export over PCI
 * can be exported too: peers then access its owner's memory, while the owner exports it.
 * @param export_desc belongs to the memory map, and is freed when it stops
 * @retval DOCA_ERROR_NOT_PERMITTED it is not started, was made from an export for RDMA, or has no RDMA access flag
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot, or the memory is a GPU's
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len);

/**
 * Always fails: there is no DPA.
 * @retval DOCA_ERROR_NOT_PERMITTED there is no DPA
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle);

/**
 * Creates a memory map of another node's memory; may block until the exporter answers. It is started and cannot be configured.
 * Buffers in it are made with the exporter's addresses, and are for tasks only: this process must not access them. For a memory
 * map that was exported over PCI, dev is the exporting device, the DPU's port for a function behind it, or such a function for
 * the DPU's memory. For an export for RDMA any device will do.
 * @param user_data user data of the new memory map, or NULL
 * @param export_desc a copy of the exporter's descriptor
 * @retval DOCA_ERROR_INVALID_VALUE the descriptor is damaged
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot, see doca_mmap_cap_is_create_from_export_pci_supported()
 * @retval DOCA_ERROR_NOT_PERMITTED the exporter denies it or is gone, or dev cannot access its device
 * @retval DOCA_ERROR_DRIVER the exporter did not answer
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap);

/**
 * @name The memory range
 * Set once in the life of a memory map: a GPU's memory, or any memory of this process. doca_mmap_set_memrange() also accepts the
 * same range again.
 * @retval DOCA_ERROR_NOT_PERMITTED doca_mmap_set_*: it has another range already
 * @{
 */

/** @retval DOCA_ERROR_INVALID_VALUE len is 0, or the range exceeds the address space */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * A range of a dmabuf, which is accessed by its address. The descriptor must be open, and stays the program's.
 * @param addr where the range begins for this process or for kernels
 * @retval DOCA_ERROR_INVALID_VALUE dmabuf_fd is not open, len is 0, or a sum overflows
 * @retval DOCA_ERROR_NOT_SUPPORTED addr is NULL: only memory with an address can be accessed
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset, size_t len);

/**
 * @retval DOCA_ERROR_NOT_SUPPORTED always: there is no DPA
 * @retval DOCA_ERROR_INVALID_VALUE dpa_addr or len is 0
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len);

/** @} */

/**
 * The memory range. If it was made from an export: the exporter's address and length.
 * @retval DOCA_ERROR_BAD_STATE it has no range yet
 */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/** Sets the callback that runs at the end of doca_mmap_destroy(), if the memory map is started at least once after this call. */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * @name Attributes
 * @{
 */

DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/** 32 unless it was set. */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/** Buffers of the memory map that are in use. Always 0 with doca_mmap_enable_thread_safety(). */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * @param max_num_devices 1 to 4096
 * @retval DOCA_ERROR_INVALID_VALUE out of range, or below the number of devices it has
 * @retval DOCA_ERROR_NOT_PERMITTED it was started before
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * @param access_mask enum doca_access_flag values, or-ed; replaces the last mask
 * @retval DOCA_ERROR_INVALID_VALUE unknown bits, or both PCI_READ_ONLY and PCI_READ_WRITE
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/** @} */

/** Whether the device can export memory over PCI. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

/** Whether the device can use memory that was exported over PCI. */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Sets the secret of the exports of one device, which is random otherwise. A descriptor carries a key that is derived from it,
 * without which no import succeeds. The last call counts, as long as the memory map has the device.
 * @param token_sz 1 to doca_mmap_cap_get_max_export_access_token_size()
 * @retval DOCA_ERROR_INVALID_VALUE token_sz is out of range
 * @retval DOCA_ERROR_NOT_PERMITTED the memory map is exported, or made from an export
 * @retval DOCA_ERROR_BAD_STATE it is started
 * @retval DOCA_ERROR_NOT_FOUND it does not have the device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_export_access_token(struct doca_mmap *mmap, const struct doca_dev *dev, const uint8_t *token,
					       size_t token_sz);

/** The longest token in bytes: 32. */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_cap_get_max_export_access_token_size(const struct doca_devinfo *devinfo, size_t *max_sz);

/**
 * Lets several threads use buffers of this memory map, each from an inventory of its own. Buffers are not counted any more, so
 * stop and destroy do not detect those in use. Cannot be undone.
 * @retval DOCA_ERROR_NOT_PERMITTED the memory map is started; or, if made from an export, buffers of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/**
 * The memory key for kernels and devices, never 0. Valid until the memory map stops; each start gives another key.
 * @retval DOCA_ERROR_BAD_STATE it is not started
 * @retval DOCA_ERROR_NO_MEMORY too many keys are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_mkey(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H_ */
