/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_array.h
 * Arrays of bufs of one size, for a GPU: those of 2.2, and the functions for a DPA, which no device has.
 */
#ifndef DOCA_2_5_BUF_ARRAY_H_
#define DOCA_2_5_BUF_ARRAY_H_

#include "../doca-2.2/doca_buf_array.h"
#include <doca_buf.h>
#include <doca_mmap.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa;

/** An array for code on a DPA. Opaque. */
struct doca_dpa_dev_buf_arr;

/** For an array on a DPA: always DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler)
	DOCA_2_5_SYMBOL(doca_2_5_buf_arr_set_target_dpa);

/** The handle of an array on a DPA: always DOCA_ERROR_BAD_STATE. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, struct doca_dpa_dev_buf_arr **dpa_buf_arr)
	DOCA_2_5_SYMBOL(doca_2_5_buf_arr_get_dpa_handle);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_BUF_ARRAY_H_ */
