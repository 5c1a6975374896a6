/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bridge to rdma-core: access to the libibverbs objects of a provider that is built on it. Other providers leave the table
 * NULL. Call it through the functions below; their comments are the contract. None blocks, and each returns NOT_SUPPORTED, not
 * logged, for a provider without the table.
 */
#ifndef SF_FABRIC_BRIDGE_H
#define SF_FABRIC_BRIDGE_H

#include "fabric/fabric.h"

struct ibv_pd;

struct sf_fabric_bridge_ops {
	doca_error_t (*domain_pd)(struct sf_domain *domain, struct ibv_pd **pd);
	doca_error_t (*region_mkey)(struct sf_region *region, uint32_t *mkey);
	doca_error_t (*pd_device)(struct ibv_pd *pd, const char **device);
};

/* The protection domain of a domain, the same for the domain's whole life. */
static inline doca_error_t sf_domain_pd(struct sf_domain *domain, struct ibv_pd **pd)
{
	const struct sf_fabric_bridge_ops *bridge = domain->ops->bridge;

	return bridge != NULL ? bridge->domain_pd(domain, pd) : DOCA_ERROR_NOT_SUPPORTED;
}

/* The local key of a region's memory registration, valid until the region is closed. OPERATING_SYSTEM: registration failed.
 * NOT_SUPPORTED: the region is imported. */
static inline doca_error_t sf_region_mkey(struct sf_region *region, uint32_t *mkey)
{
	const struct sf_fabric_bridge_ops *bridge = region->ops->bridge;

	return bridge != NULL ? bridge->region_mkey(region, mkey) : DOCA_ERROR_NOT_SUPPORTED;
}

/* The key of the device of a program's own protection domain, valid as long as the process. A domain of that device
 * that is opened from now on uses this protection domain. NOT_FOUND: the device is unknown. NOT_SUPPORTED: there is no
 * RDMA device. */
static inline doca_error_t sf_pd_device(const struct sf_fabric_ops *ops, struct ibv_pd *pd, const char **device)
{
	return ops->bridge != NULL ? ops->bridge->pd_device(pd, device) : DOCA_ERROR_NOT_SUPPORTED;
}

#endif
