/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of Comch, with the memory and engines that it needs. */
#include "comch_calls.h"

static const struct group *const groups[] = {&ctx_group, &comch_group,	  &mmap_group,	  &buf_group,
					     &dev_group, &consumer_group, &producer_group};

static const struct reason never_succeeds[] = {
	{"doca_comch_consumer_completion_set_dpa_thread", "no DPA"},
	{"doca_comch_consumer_completion_start", "no DPA"},
	{"doca_comch_consumer_completion_stop", "no DPA"},
	{"doca_comch_consumer_completion_get_dpa_handle", "no DPA"},
	{"doca_comch_consumer_get_dpa_handle", "no DPA"},
	{"doca_comch_producer_get_dpa_handle", "no DPA"},
	{"doca_comch_producer_dpa_completion_attach", "no DPA"},
	{"doca_comch_consumer_get_gpu_handle", "no GPU in this suite, see tests/api/comch_gpu_test.c"},
	{"doca_comch_producer_get_gpu_handle", "no GPU in this suite, see tests/api/comch_gpu_test.c"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const struct suite suite = {
	.num_sequences = 800,
	.num_groups = COUNT(groups),
	.groups = groups,
	.num_never = COUNT(never_succeeds),
	.never_succeeds = never_succeeds,
	.ctx_changed = comch_ctx_changed,
};
