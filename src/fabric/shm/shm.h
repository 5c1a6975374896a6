/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_FABRIC_SHM_SHM_H
#define SF_FABRIC_SHM_SHM_H

#include "fabric/fabric.h"

doca_error_t sf_shm_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain);
/* Its peers include those of the network. */
void sf_shm_domain_join(struct sf_domain *domain);
void sf_shm_domain_close(struct sf_domain *domain);

#endif
