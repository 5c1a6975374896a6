/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma_bridge.h
 * The bridge to rdma-core: which of its objects stand behind those of DOCA, for programs that use both.
 *
 *     doca_rdma_bridge_get_dev_pd(dev, &pd);                   the protection domain of an opened device
 *     doca_rdma_bridge_get_buf_mkey(buf, dev, &mkey);          the key by which that device knows a buf's memory
 *
 *     doca_rdma_bridge_open_dev_from_pd(pd, &dev);             the other way: the device of a protection domain
 *     doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &mkey); the key of a memory map there
 *
 * A device is backed by rdma-core when it is a real RDMA device. A software device is not: for one, and for what lies in
 * its memory maps, every function here answers DOCA_ERROR_NOT_SUPPORTED and logs one line. The keys here are those of the
 * hardware; they are not the keys that a GPU kernel is given.
 *
 * What is returned belongs to the device or memory map and lives as long; do not deallocate or deregister it. This header needs
 * that of libibverbs (libibverbs-dev); linking the library is the program's own affair. Any thread. (Core guide, section 3.6)
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <stdint.h>
#include <infiniband/verbs.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_mmap;

/**
 * Gives the protection domain of a device. There is one for each device, made with it.
 *
 * @param dev  an opened device
 * @param pd  set to its protection domain, which lives until the device is closed
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the device is a real one, but could not be opened
 * - DOCA_ERROR_NOT_SUPPORTED: it is a software device
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * Opens the device of a protection domain: the same as doca_dev_open() of the device that the domain belongs to, closed by
 * doca_dev_close().
 *
 * @param pd  a protection domain, which must outlive the device opened here
 * @param dev  set to the device
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: no device here is the one of the domain
 * - DOCA_ERROR_NO_MEMORY: no memory for it
 * - DOCA_ERROR_NOT_SUPPORTED: all devices here are software devices
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * Gives the key by which a device knows the memory of a buf.
 *
 * @param buf  the buf
 * @param dev  a device of the buf's memory map
 * @param mkey  set to the key, which holds until the memory map is stopped
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the buf's memory map lacks the device
 * - DOCA_ERROR_NOT_SUPPORTED: it is a software device
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey);

/**
 * Gives the key by which the device of a protection domain knows a memory map.
 *
 * @param mmap  the memory map, started
 * @param pd  a protection domain of one of its devices
 * @param mkey  set to the key, which holds until the memory map is stopped
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the memory map is not started
 * - DOCA_ERROR_NOT_FOUND: no device of the memory map has this protection domain
 * - DOCA_ERROR_OPERATING_SYSTEM: the memory could not be registered
 * - DOCA_ERROR_NOT_SUPPORTED: all devices here are software devices
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif
