/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations of memory with a device. */
#ifndef SF_FABRIC_VERBS_MR_H
#define SF_FABRIC_VERBS_MR_H

#include <stdatomic.h>

#include "fabric/verbs/device.h"

/* A registration with references of its region and of operations in flight. */
struct vb_mr {
	struct ibv_mr *mr;
	_Atomic uint32_t refs;
};

/* Creates one for the caller alone. NULL, logged. */
struct vb_mr *sf_verbs_mr_make(struct vb_domain *domain, void *addr, size_t len, int access);
/* NULL does nothing. */
void sf_verbs_mr_put(struct vb_mr *mr);

#endif
