/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/mr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct vb_mr *sf_verbs_mr_make(struct vb_domain *domain, void *addr, size_t len, int access)
{
	struct vb_mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL)
		return NULL;
	mr->mr = sf_verbs_lib.reg_mr(domain->pd, addr, len, access);
	if (mr->mr == NULL && (access & IBV_ACCESS_REMOTE_WRITE) == 0 && (access & IBV_ACCESS_LOCAL_WRITE) != 0)
		mr->mr = sf_verbs_lib.reg_mr(domain->pd, addr, len, access & ~IBV_ACCESS_LOCAL_WRITE); /* read-only pages */
	if (mr->mr == NULL) {
		SF_LOG_ERR("the RDMA device cannot register %zu bytes at %p: %s; raise the limit of locked memory (ulimit -l)",
			   len, addr, strerror(errno));
		free(mr);
		return NULL;
	}
	atomic_init(&mr->refs, 1);
	return mr;
}

void sf_verbs_mr_put(struct vb_mr *mr)
{
	if (mr == NULL || atomic_fetch_sub(&mr->refs, 1) != 1)
		return;
	sf_verbs_lib.dereg_mr(mr->mr);
	free(mr);
}
