/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sha.h
 * SHA: today's, with the old names of three functions.
 */
#ifndef DOCA_2_5_SHA_H_
#define DOCA_2_5_SHA_H_

#include "../doca_sha.h"
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Today doca_sha_cap_get_max_src_buf_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buffer_size(struct doca_devinfo const *devinfo, uint64_t *max_buffer_size)
	DOCA_2_5_SYMBOL(doca_sha_cap_get_max_src_buf_size);

/** Today doca_sha_cap_get_min_dst_buf_size(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buffer_size(struct doca_devinfo const *devinfo, enum doca_sha_algorithm task_type,
						  uint32_t *min_buffer_size) DOCA_2_5_SYMBOL(doca_sha_cap_get_min_dst_buf_size);

/** Today doca_sha_task_partial_hash_set_is_final_buf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buffer(struct doca_sha_task_partial_hash *task)
	DOCA_2_5_SYMBOL(doca_sha_task_partial_hash_set_is_final_buf);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_SHA_H_ */
