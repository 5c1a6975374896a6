/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of DOCA 2.2's API. */
#include "legacy.h"

static const struct group *const groups[] = {
	&old_dev_group, &old_mmap_group,  &old_buf_group, &old_pool_group,  &old_array_group, &workq_group,	  &old_dma_group,
	&old_sha_group, &old_event_group, &old_ctx_group, &old_graph_group, &log_group,	      &comm_channel_group};

static const struct reason excluded[] = {
	{"doca_log_backend_*", "today's API, see tests/api/log_test.c"},
	{"doca_log_create_*", "today's API: a backend is never destroyed"},
	{"doca_log_global_level_set", "today's API; it would print the expected errors"},
	{"doca_log_global_set_upper_level_limit", "today's API; it would print the expected errors"},
};

static const struct reason never_succeeds[] = {
	{"doca_argp_get_grpc_addr", "no command line"},
	{"doca_ctx_set_datapath_on_gpu", "no context has one"},
	{"doca_workq_set_event_handle", "Windows"},
	{"doca_dev_get_pd", "software devices"},
	{"doca_dev_open_from_pd", "software devices"},
	{"doca_buf_get_mkey", "software devices"},
	{"doca_sync_event_publisher_add_location_dpa", "no DPA"},
	{"doca_sync_event_subscriber_add_location_dpa", "no DPA"},
	{"doca_sync_event_get_export_to_dpa_supported", "no DPA"},
	{"doca_sync_event_export_to_dpa", "no DPA"},
	{"doca_sync_event_export_remote", "16 bytes hold no export"},
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
};
