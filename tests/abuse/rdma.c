/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of RDMA, with the memory and engines that it needs. */
#include "rdma_calls.h"

static const struct group *const groups[] = {&ctx_group, &mmap_group,	   &rdma_group, &rdma_connection_group,
					     &buf_group, &rdma_task_group, &dev_group};

static const struct reason excluded[] = {
	{"doca_rdma_bridge_*", "connections of a listener of the program's own, see tests/api/rdma_bridge_test.c"},
};

static const struct reason never_succeeds[] = {
	{"doca_rdma_get_dpa_handle", "no DPA"},
	{"doca_rdma_dpa_completion_attach", "no DPA"},
	{"doca_rdma_get_gpu_handle", "no GPU in this suite"},
	{"doca_rdma_set_recv_queue_size", "only for data paths on a GPU or a DPA"},
	{"doca_rdma_get_recv_queue_size", "only for data paths on a GPU or a DPA"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const struct suite suite = {
	.num_sequences = 3000,
	.num_groups = COUNT(groups),
	.groups = groups,
	.num_excluded = COUNT(excluded),
	.num_never = COUNT(never_succeeds),
	.excluded = excluded,
	.never_succeeds = never_succeeds,
	.ctx_changed = rdma_ctx_changed,
};
