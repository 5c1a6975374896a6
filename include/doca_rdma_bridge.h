/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma_bridge.h
 * The bridge to rdma-core, for programs that use both: the objects of libibverbs behind those of DOCA.
 *
 *     doca_rdma_bridge_get_dev_pd(dev, &pd);                   the protection domain of an opened device
 *     doca_rdma_bridge_get_buf_mkey(buf, dev, &mkey);          the device's key for a buffer's memory
 *
 *     doca_rdma_bridge_open_dev_from_pd(pd, &dev);             the device of a protection domain
 *     doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, &mkey); its key for a memory map
 *
 * Only real RDMA devices are backed by rdma-core. The keys are the hardware's, not those of GPU kernels. A result belongs to its
 * device or memory map and is valid as long as that: do not deallocate or deregister it. This header needs libibverbs-dev; the
 * program links the library itself. Any thread may call any function. (Core guide, section 3.6)
 *
 * @retval DOCA_ERROR_NOT_SUPPORTED doca_rdma_bridge_*: the device, or every device, is a software device
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
 * The device's one protection domain, until the device is closed.
 * @retval DOCA_ERROR_BAD_STATE the real device could not be opened
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * As doca_dev_open() for the device of the domain. The domain must outlive the opened device. Closed by doca_dev_close().
 * @retval DOCA_ERROR_NOT_FOUND no device has this domain
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * Valid until the memory map is stopped.
 * @retval DOCA_ERROR_INVALID_VALUE the buffer's memory map lacks the device
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_STABLE
doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey);

/**
 * Valid until the memory map is stopped.
 * @retval DOCA_ERROR_INVALID_VALUE the memory map is not started
 * @retval DOCA_ERROR_NOT_FOUND no device of the memory map has this domain
 * @retval DOCA_ERROR_OPERATING_SYSTEM the memory cannot be registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd, uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif
