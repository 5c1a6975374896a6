/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap.h
 * Memory maps: one range of memory that devices may use, and what may be done with it.
 *
 *     doca_mmap_create(&mmap);
 *     doca_mmap_add_dev(mmap, dev);
 *     doca_mmap_set_memrange(mmap, memory, size);
 *     doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
 *     doca_mmap_start(mmap);                  then bufs can be made in it (doca_buf_inventory.h, doca_buf_pool.h)
 *     ...
 *     doca_mmap_destroy(mmap);                stops it first
 *
 * The memory stays the program's: it lives until the memory map is stopped or destroyed, or it is given back by the free
 * callback. Ranges of several memory maps may overlap. Attributes are set before start, or again after stop.
 *
 * Threads: a memory map belongs to one thread at a time, and so do all bufs of it, whatever inventory they come from,
 * unless doca_mmap_enable_thread_safety() was called. (Core guide, "DOCA Memory Subsystem")
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

/** A memory map as code on a DPA names it. */
typedef uint32_t doca_dpa_dev_mmap_t;

/**
 * Creates a memory map without memory or devices, with the rights LOCAL_READ_WRITE.
 *
 * @param mmap  set to the new memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 */
DOCA_STABLE
doca_error_t doca_mmap_create(struct doca_mmap **mmap);

/**
 * Destroys a memory map, stopping it first. At the very end the free callback runs, if it was started since that was set.
 * Descriptors that it exported die with it.
 *
 * @param mmap  the memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL
 * - DOCA_ERROR_NOT_PERMITTED: bufs of it, or contexts, still use it
 */
DOCA_STABLE
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/**
 * Starts a memory map: its attributes are final, bufs can be made. Needs a memory range and a device. A started one stays
 * as it is.
 *
 * @param mmap  the memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, or it has no memory range or no device
 * - DOCA_ERROR_NOT_PERMITTED: it is started and was exported, or it was made from an export
 */
DOCA_STABLE
doca_error_t doca_mmap_start(struct doca_mmap *mmap);

/**
 * Stops a memory map, so that its attributes can change. Devices forget the memory, memory keys end. Exports for RDMA end, with
 * their descriptors: peers' tasks in this memory fail from here on, those under way too, and what they wrote by tasks that
 * succeeded stays. One that was made from an export for RDMA lets go of the peer's memory, and is good for its destruction only.
 * One that is not started stays as it is.
 *
 * @param mmap  the memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL
 * - DOCA_ERROR_NOT_PERMITTED: bufs of it, or contexts, still use it; or it was exported over PCI, or made from an export
 *   over PCI
 */
DOCA_STABLE
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/**
 * Adds a device that may use the memory. The device cannot be closed meanwhile.
 *
 * @param mmap  the memory map
 * @param dev   the device
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is started
 * - DOCA_ERROR_NO_MEMORY: it has as many devices as doca_mmap_set_max_num_devices() allows
 * - DOCA_ERROR_ALREADY_EXIST: it has this device
 */
DOCA_STABLE
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Removes a device.
 *
 * @param mmap  the memory map
 * @param dev   the device
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is started
 * - DOCA_ERROR_NOT_FOUND: it does not have this device
 */
DOCA_STABLE
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/**
 * Told that the memory is no longer used: the place to free or unmap it.
 *
 * @param addr    the range that was set
 * @param len     its bytes
 * @param cookie  as given to doca_mmap_set_free_cb()
 */
typedef void(doca_mmap_memrange_free_cb_t)(void *addr, size_t len, void *cookie);

/**
 * Describes the memory map to the node at the other end of the PCI bus, which makes one of its own of it with
 * doca_mmap_create_from_export(). The memory map stays started until it is destroyed.
 *
 * @param mmap  the memory map
 * @param dev   one of its devices
 * @param export_desc  set to the descriptor, which belongs to the memory map and dies with it
 * @param export_desc_len  set to its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the memory map does not have this device
 * - DOCA_ERROR_NOT_PERMITTED: it is not started, was made from an export, or has no PCI right
 * - DOCA_ERROR_NO_MEMORY: no memory for the descriptor
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot, see doca_mmap_cap_is_export_pci_supported(), or the memory is a GPU's
 */
DOCA_STABLE
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len);

/**
 * Describes the memory map to peers on the network. As doca_mmap_export_pci(), with RDMA rights; but the memory map may be
 * stopped, which ends the export. One that was made from an export over PCI can be described too: peers then reach the memory of its
 * owner, for as long as that exports it.
 *
 * @param mmap  the memory map
 * @param dev   one of its devices
 * @param export_desc  set to the descriptor, which belongs to the memory map and dies with its stop or destruction
 * @param export_desc_len  set to its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the memory map does not have this device
 * - DOCA_ERROR_NOT_PERMITTED: it is not started, was made from an export for RDMA, or has no RDMA right
 * - DOCA_ERROR_NO_MEMORY: no memory for the descriptor
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot, or the memory is a GPU's
 */
DOCA_STABLE
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len);

/**
 * Gets the memory map as code on a DPA names it. There is no DPA here.
 *
 * @param mmap  the memory map
 * @param dev   one of its devices
 * @param dpa_mmap_handle  set to the handle
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the memory map does not have this device
 * - DOCA_ERROR_NOT_PERMITTED: else
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle);

/**
 * Makes a memory map of another node's memory. It is started, cannot be configured or exported again, and its range is the
 * exporter's: bufs in it are made with the exporter's addresses, and are for tasks only, not for this process to touch.
 *
 * @param user_data  user data of the new memory map, or NULL
 * @param export_desc  the descriptor, copied from the exporter
 * @param export_desc_len  its bytes
 * @param dev   the device that will reach the memory. Memory exported over PCI: the one it was exported on; the DPU's port, for
 *              memory of a host function (or SF) behind it; or a host function behind the port, for memory of that DPU. Memory
 *              exported for RDMA: any
 * @param mmap  set to the new memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument other than user_data is NULL, or the descriptor is damaged
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot, see doca_mmap_cap_is_create_from_export_pci_supported()
 * - DOCA_ERROR_NOT_PERMITTED: the exporter does not allow it, or is gone; or dev does not reach its device
 * - DOCA_ERROR_DRIVER: the exporter did not answer
 */
DOCA_STABLE
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap);

/**
 * Sets the memory. One range, once in the life of the memory map. Ordinary memory of the process of any alignment, or
 * memory of a GPU.
 *
 * @param mmap  the memory map
 * @param addr  where it begins
 * @param len   its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, len is 0, or the range passes the end of the address space
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 * - DOCA_ERROR_NOT_PERMITTED: it has another range already
 */
DOCA_STABLE
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/**
 * Sets the memory by a dmabuf, as GPUs export theirs. Here the memory is used by its address; the descriptor is only
 * checked to be open, and stays the program's.
 *
 * @param mmap  the memory map
 * @param dmabuf_fd  the dmabuf
 * @param addr  where the range begins for this process or for kernels
 * @param dmabuf_offset  where the range begins in the dmabuf
 * @param len   its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, dmabuf_fd is not open, len is 0, or a sum is too large
 * - DOCA_ERROR_NOT_SUPPORTED: addr is NULL: memory without an address is out of reach
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 * - DOCA_ERROR_NOT_PERMITTED: it has a range already
 */
DOCA_STABLE
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset, size_t len);

/**
 * Sets the memory to memory of a DPA. There is none here.
 *
 * @param mmap  the memory map
 * @param dpa   the DPA
 * @param dpa_addr  where it begins
 * @param len   its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_NOT_SUPPORTED: always, when the arguments are right
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL or 0
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 * - DOCA_ERROR_NOT_PERMITTED: it has a range already
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t dpa_addr, size_t len);

/**
 * Gets the memory range. For a memory map made from an export: the exporter's address and length.
 *
 * @param mmap  the memory map
 * @param addr  set to where it begins
 * @param len   set to its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: it has no range yet
 */
DOCA_STABLE
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);

/**
 * Sets the callback that runs at the end of doca_mmap_destroy(), provided the memory map is started at least once after
 * this call.
 *
 * @param mmap  the memory map
 * @param free_cb  the callback
 * @param opaque   for it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 */
DOCA_STABLE
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque);

/**
 * Gets the user data.
 *
 * @param mmap  the memory map
 * @param user_data  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/**
 * Gets how many devices the memory map can have: 32 unless it was set.
 *
 * @param mmap  the memory map
 * @param max_num_devices  set to the number
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices);

/**
 * Counts the bufs of the memory map that are in use. Always 0 with doca_mmap_enable_thread_safety().
 *
 * @param mmap  the memory map
 * @param num_bufs  set to the count
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/**
 * Tells whether the memory map was exported.
 *
 * @param mmap  the memory map
 * @param exported  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported);

/**
 * Tells whether the memory map was made from an export.
 *
 * @param mmap  the memory map
 * @param from_export  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export);

/**
 * Sets how many devices the memory map can have, before its first start.
 *
 * @param mmap  the memory map
 * @param max_num_devices  1 to 4096
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, or the number is out of range or below the number of devices it has
 * - DOCA_ERROR_NOT_PERMITTED: it was started
 * - DOCA_ERROR_NO_MEMORY: no memory for so many
 */
DOCA_STABLE
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/**
 * Sets what may be done with the memory. Replaces what was set before.
 *
 * @param mmap  the memory map
 * @param access_mask  enum doca_access_flag values, or-ed
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, unknown bits are set, or both PCI_READ_ONLY and PCI_READ_WRITE
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 */
DOCA_STABLE
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/**
 * Sets data of the program's own.
 *
 * @param mmap  the memory map
 * @param user_data  the data
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL
 * - DOCA_ERROR_BAD_STATE: the memory map is started
 */
DOCA_STABLE
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

/**
 * Tells whether a device can export memory over PCI.
 *
 * @param devinfo  the device
 * @param mmap_export  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export);

/**
 * Tells whether a device can use memory that was exported over PCI.
 *
 * @param devinfo  the device
 * @param from_export  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *from_export);

/**
 * Lets several threads use bufs of this memory map at a time, each from an inventory of its own. Bufs are no longer
 * counted, so that stop and destroy do not notice those in use. For the life of the memory map.
 *
 * @param mmap  the memory map
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is started; one made from an export: bufs of it are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap);

/**
 * Gets the memory key by which kernels and devices name the memory. Valid until the memory map stops; another start gives
 * another key.
 *
 * @param mmap  the memory map
 * @param dev   one of its devices
 * @param mkey  set to the key, never 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the memory map does not have this device
 * - DOCA_ERROR_BAD_STATE: it is not started
 * - DOCA_ERROR_NO_MEMORY: too many keys are in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_mmap_get_mkey(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_H_ */
