/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf.h
 * Bufs: 2.2's, with the functions whose signature has changed since.
 */
#ifndef DOCA_1_5_BUF_H_
#define DOCA_1_5_BUF_H_

/* These take a const buf today, and 2.2 has one extension. */
#define doca_buf_get_len doca_buf_get_len_of_today
#define doca_buf_get_head doca_buf_get_head_of_today
#define doca_buf_get_data_len doca_buf_get_data_len_of_today
#define doca_buf_get_data doca_buf_get_data_of_today
#define doca_buf_extension doca_buf_extension_of_2_2
#define DOCA_BUF_EXTENSION_NONE DOCA_BUF_EXTENSION_NONE_OF_2_2
#include "../doca-2.2/doca_buf.h"
#undef doca_buf_get_len
#undef doca_buf_get_head
#undef doca_buf_get_data_len
#undef doca_buf_get_data
#undef doca_buf_extension
#undef DOCA_BUF_EXTENSION_NONE
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;

/** Extensions of bufs. Lists work with and without: every inventory has them. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE = 0,		 /**< plain bufs */
	DOCA_BUF_EXTENSION_LINKED_LIST = 1 << 0, /**< bufs that may be chained */
};

/** Bytes of the buf, headroom and tailroom included. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_len(struct doca_buf *buf, size_t *len);

/** Where the buf begins. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_head(struct doca_buf *buf, void **head);

/** Bytes of its data. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_data_len(struct doca_buf *buf, size_t *data_len);

/** Where its data begin. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_data(struct doca_buf *buf, void **data);

/**
 * The key by which an RDMA device accesses the buf's memory.
 * @param buf the buf
 * @param dev a device of its memory map
 * @param doca_access_flags enum doca_access_flags; the key is the same for all of them
 * @param lkey set to the key
 * @retval DOCA_ERROR_INVALID_VALUE NULL, flags that do not exist, or not a device of the memory map
 * @retval DOCA_ERROR_NOT_SUPPORTED the memory has no key: it is imported, or the device is not an RDMA device
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_lkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t doca_access_flags, uint32_t *lkey)
	DOCA_1_5_SYMBOL(doca_1_5_buf_get_lkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_BUF_H_ */
