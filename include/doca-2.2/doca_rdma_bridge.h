/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_rdma_bridge.h
 * From DOCA's objects to rdma-core's: today's functions by their names of DOCA 2.2. They need a real RDMA device.
 */
#ifndef DOCA_2_2_RDMA_BRIDGE_H_
#define DOCA_2_2_RDMA_BRIDGE_H_

#include <stdint.h>
#include <infiniband/verbs.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;

/**
 * The protection domain of a device, which stays the device's.
 * @retval DOCA_ERROR_BAD_STATE the real device could not be opened
 * @retval DOCA_ERROR_NOT_SUPPORTED a software device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd) DOCA_2_2_SYMBOL(doca_rdma_bridge_get_dev_pd);

/** Opens the device that a protection domain belongs to. Errors as today's doca_rdma_bridge_open_dev_from_pd(). */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev) DOCA_2_2_SYMBOL(doca_rdma_bridge_open_dev_from_pd);

/**
 * The memory key of a buf on a device.
 * @retval DOCA_ERROR_NOT_SUPPORTED a software device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey)
	DOCA_2_2_SYMBOL(doca_rdma_bridge_get_buf_mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_RDMA_BRIDGE_H_ */
