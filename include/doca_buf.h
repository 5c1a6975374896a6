/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf.h
 * Buffers: what tasks read and write. A buffer is a range of a memory map, with a data section:
 *
 *     head            data                data + data_len         head + len
 *      | <- headroom -> | <- data section -> | <- tailroom -------> |
 *
 * A task reads a source's data section. It writes a destination's tailroom, and the data section grows by what was written: call
 * doca_buf_reset_data_len() first to write from data on.
 *
 * Buffers come from an inventory (doca_buf_inventory.h) or a pool (doca_buf_pool.h) with one reference, and return there with
 * their last reference. Tasks take no reference: drop yours after the task's callback. Buffers can be chained to a list, which a
 * task takes by its head. Only the head counts references; its last reference releases the whole list.
 *
 * Addresses are not checked against the memory map unless a comment says so. Not thread-safe. (Core guide, "Inventories")
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A range of a memory map. */
struct doca_buf;

/**
 * Takes a reference.
 * @param refcount set to the count before; may be NULL
 * @retval DOCA_ERROR_NOT_PERMITTED the buffer is in a list and not its head
 * @retval DOCA_ERROR_TOO_BIG it has 65535 references
 * @retval DOCA_ERROR_BAD_STATE it was released
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drops a reference; the last one releases the buffer, or its whole list.
 * @param refcount set to the count before; may be NULL
 * @retval DOCA_ERROR_NOT_PERMITTED the buffer is in a list and not its head
 * @retval DOCA_ERROR_BAD_STATE it was released already
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * @name Fields and place in a list
 * A buffer that is alone is the first and the last of its list.
 * @{
 */

/** 1 for a buffer in a list that is not its head. */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/** Moves the data section, which must lie inside the buffer. Not checked. */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/** The data section must end inside the buffer. Not checked. */
DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/** Sets the length of the data section to 0. */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/** NULL after the last buffer. */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/** Whether the buffer shares a list with others. */
DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/** @} */

/**
 * Counts the buffers of a list, at least 1.
 * @retval DOCA_ERROR_NOT_PERMITTED the buffer is not a head
 */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Appends list2 to list1, which takes over its reference. Both are heads.
 * @retval DOCA_ERROR_NOT_PERMITTED one is not a head, both are the same, or list2 has not exactly one reference
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * As doca_buf_chain_list(), with the last buffer known.
 * @retval DOCA_ERROR_NOT_PERMITTED list1_tail is not the last buffer of list1_head
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2);

/**
 * Splits the list of head list1 before its buffer list2, which becomes a head with one reference.
 * @retval DOCA_ERROR_INVALID_VALUE list1 is not a head, or list2 is not a later buffer of it
 */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H_ */
