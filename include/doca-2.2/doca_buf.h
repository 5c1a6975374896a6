/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf.h
 * Bufs: today's, with the functions whose name or signature has changed since.
 *
 * A buf is a piece of a memory map: headroom, data, tailroom. Libraries read the data of a source and append to the data of a
 * destination. Bufs may be chained to lists; the head of a list carries the only count of references.
 */
#ifndef DOCA_2_2_BUF_H_
#define DOCA_2_2_BUF_H_

#include <stdbool.h>
/* Its signature differs today. */
#define doca_buf_get_refcount doca_buf_get_refcount_of_today
#include "../doca_buf.h"
#undef doca_buf_get_refcount
#include <doca_error.h>
#include <doca_types.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Extensions of bufs: there are none. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE = 0, /**< plain bufs */
};

/**
 * Adds a reference. Today doca_buf_inc_refcount().
 * @param buf the buf; of a list, its head
 * @param refcount set to the count before
 * @retval DOCA_ERROR_NOT_PERMITTED inside a list
 * @retval DOCA_ERROR_TOO_BIG 65535
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount) DOCA_2_2_SYMBOL(doca_buf_inc_refcount);

/**
 * Drops a reference; the last one releases the buf, or the list. Today doca_buf_dec_refcount().
 * @param buf the buf; of a list, its head
 * @param refcount set to the count before; may be NULL
 * @retval DOCA_ERROR_NOT_PERMITTED inside a list
 * @retval DOCA_ERROR_BAD_STATE none left
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount) DOCA_2_2_SYMBOL(doca_buf_dec_refcount);

/** The count of references. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_get_refcount(struct doca_buf *buf, uint16_t *refcount);

/** The buf after this one in its list, NULL after the last. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf) DOCA_2_2_SYMBOL(doca_buf_get_next_in_list);

/** The last buf of its list, which may be itself. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf) DOCA_2_2_SYMBOL(doca_buf_get_last_in_list);

/** Whether it is the last buf of its list. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_is_last(const struct doca_buf *buf, bool *is_last) DOCA_2_2_SYMBOL(doca_buf_is_last_in_list);

/** Whether it is the head of its list, or alone. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_is_first(const struct doca_buf *buf, bool *is_first) DOCA_2_2_SYMBOL(doca_buf_is_first_in_list);

/**
 * Bufs in a list.
 * @retval DOCA_ERROR_NOT_PERMITTED buf is not the head
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf, uint32_t *num_elements)
	DOCA_2_2_SYMBOL(doca_buf_get_list_len);

/**
 * Appends a list, or a buf, to another.
 * @param list2 head of the second, with one reference
 * @retval DOCA_ERROR_NOT_PERMITTED not heads, or list2 has more references
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2) DOCA_2_2_SYMBOL(doca_buf_chain_list);

/**
 * Splits a list before list2, which becomes a head with one reference.
 * @retval DOCA_ERROR_INVALID_VALUE list2 is not in list1, or list1 is not the head
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2) DOCA_2_2_SYMBOL(doca_buf_unchain_list);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_BUF_H_ */
