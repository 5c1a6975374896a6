/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of processes on the network: the importer's side, and the owner's. */
#ifndef SF_FABRIC_TCP_IMPORT_H
#define SF_FABRIC_TCP_IMPORT_H

#include "fabric/descriptor.h"
#include "fabric/tcp/session.h"

#define TCP_DESCRIPTOR_SIZE SF_DESCRIPTOR_SIZE(SF_ADDRESS_MAX)

/* The provider's table, as libraries see it. */
const struct sf_fabric_ops *sf_tcp_fabric_ops(void);

static inline bool tcp_is_import(const struct sf_region *region)
{
	return region != NULL && region->imported && region->ops == sf_tcp_fabric_ops();
}

/* A region of the owner, and the token that permits access. */
void sf_tcp_import_target(const struct sf_region *region, struct tcp_target *target);

/* Returns true for the descriptor of memory that is accessible by the network. */
bool sf_tcp_is_descriptor(const void *bytes, size_t len);

/* As sf_descriptor_unpack. */
doca_error_t sf_tcp_descriptor_read(const void *bytes, size_t len, struct sf_descriptor *descriptor);

doca_error_t sf_tcp_region_export(struct sf_region *region, void *descriptor, size_t *len);
doca_error_t sf_tcp_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);
doca_error_t sf_tcp_region_ready(struct sf_region *region, uint64_t limit_ns);
doca_error_t sf_tcp_region_access(struct sf_region *region, struct sf_op *op);
doca_error_t sf_tcp_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell);
void sf_tcp_region_close(struct sf_region *region);

/* Called by the agent, with sf_control_lock: an importer of one of our regions has connected. */
bool sf_tcp_import_serve(struct sf_channel *channel, const struct sf_msg *first);

#endif
