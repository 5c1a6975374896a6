/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of today's API. */
#include "abuse.h"

static const struct group *const groups[] = {&dev_group,	&mmap_group,  &buf_group,	  &pool_group, &array_group,
					     &ctx_group,	&clock_group, &advise_group,	  &dma_group,  &sha_group,
					     &sync_event_group, &graph_group, &comm_channel_group};

static const struct reason excluded[] = {
	{"doca_task_batch_*", "only producers and consumers make batches, see tests/api/comch_data_test.c"},
	{"doca_gpu_*", "kernels and their memory, see tests/api/gpu_test.c"},
};

static const struct reason never_succeeds[] = {
	{"doca_dev_accelerate_resource_reclaim", "nothing to accelerate"},
	{"doca_devinfo_get_lid", "Ethernet"},
	{"doca_devinfo_get_sf_index", "the default topology has no SF"},
	{"doca_devinfo_rep_get_sf_index", "the default topology has no SF"},
	{"doca_devinfo_get_iface_index", "the default topology names no interface of the kernel"},
	{"doca_devinfo_rep_get_iface_index", "the default topology names no interface of the kernel"},
	{"doca_devinfo_get_data_direct_pci_dev", "there are none"},
	{"doca_devinfo_rep_get_data_direct_pci_dev", "there are none"},
	{"doca_mmap_dev_get_dpa_handle", "no DPA"},
	{"doca_mmap_set_dpa_memrange", "no DPA"},
	{"doca_buf_arr_set_target_dpa", "no DPA"},
	{"doca_buf_arr_get_dpa_handle", "no DPA"},
	{"doca_ctx_set_datapath_on_dpa", "no DPA"},
	{"doca_clock_cap_nic_dpa_timer_is_supported", "no DPA"},
	{"doca_ctx_set_completion_vector", "there are none"},
	{"doca_ctx_profiler_set_max_nranges", "no NVTX"},
	{"doca_sync_event_add_publisher_location_dpa", "no DPA"},
	{"doca_sync_event_add_subscriber_location_dpa", "no DPA"},
	{"doca_sync_event_get_dpa_handle", "no DPA"},
	{"doca_sync_event_remote_net_get_dpa_handle", "no DPA"},
	{"doca_sync_event_cap_is_export_to_dpa_supported", "no DPA"},
	{"doca_sync_event_cap_remote_net_is_export_to_dpa_supported", "no DPA"},
	{"doca_sync_event_cap_remote_net_is_export_to_gpu_supported", "kernels have no way to another node"},
	{"doca_sync_event_remote_net_get_gpu_handle", "kernels have no way to another node"},
	{"doca_rdma_bridge_*", "software devices"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const struct suite suite = {
	.num_sequences = 4000,
	.num_groups = COUNT(groups),
	.groups = groups,
	.num_excluded = COUNT(excluded),
	.num_never = COUNT(never_succeeds),
	.excluded = excluded,
	.never_succeeds = never_succeeds,
};
