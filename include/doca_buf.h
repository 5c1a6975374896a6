/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf.h
 * Bufs: what tasks read from and write to. A buf is a window on the memory of a memory map:
 *
 *     head            data                data + data_len         head + len
 *      | <- headroom -> | <- data section -> | <- tailroom -------> |
 *
 * A source is read from its data section. A destination is written after it, into the tailroom, and its data section grows
 * by what was written: call doca_buf_reset_data_len() first to write from data on.
 *
 * Bufs come from an inventory (doca_buf_inventory.h) or a pool (doca_buf_pool.h) with one reference, and go back there when
 * the last reference is dropped. Tasks take no reference: drop it after the task's callback.
 *
 * Bufs can be chained to a list, which a task takes by its head. Only the head counts references; dropping the last
 * releases the whole list.
 *
 * Nothing here is checked against the memory map but where it says so. Not safe for several threads at once. (Core guide,
 * "Inventories")
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buf. */
struct doca_buf;

/**
 * Takes another reference.
 *
 * @param buf   the buf
 * @param refcount  set to the count before; may be NULL
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is inside a list, not its head
 * - DOCA_ERROR_TOO_BIG: it has 65535 references
 * - DOCA_ERROR_BAD_STATE: it was released
 */
DOCA_STABLE
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drops a reference. With the last one the buf, or its whole list, is released.
 *
 * @param buf   the buf
 * @param refcount  set to the count before; may be NULL
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is inside a list, not its head
 * - DOCA_ERROR_BAD_STATE: it was released already
 */
DOCA_STABLE
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Gets the number of references. 1 for a buf inside a list.
 *
 * @param buf   the buf
 * @param refcount  set to the count
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/**
 * Gets the bytes of the whole window.
 *
 * @param buf   the buf
 * @param len   set to them
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/**
 * Gets where the window begins.
 *
 * @param buf   the buf
 * @param head  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/**
 * Gets the bytes of the data section.
 *
 * @param buf   the buf
 * @param data_len  set to them
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/**
 * Gets where the data section begins.
 *
 * @param buf   the buf
 * @param data  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Moves the data section. It must lie inside the window; this is not checked.
 *
 * @param buf   the buf
 * @param data  where it begins
 * @param data_len  its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Sets the bytes of the data section. It must end inside the window; this is not checked.
 *
 * @param buf   the buf
 * @param data_len  its bytes
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/**
 * Empties the data section where it begins.
 *
 * @param buf   the buf
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/**
 * Gets the buf after this one.
 *
 * @param buf   the buf
 * @param next_buf  set to it, or to NULL after the last
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/**
 * Gets the last buf of the list that this one is in; itself when it is alone.
 *
 * @param buf   the buf
 * @param last_buf  set to it
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/**
 * Tells whether no buf comes after this one.
 *
 * @param buf   the buf
 * @param is_last  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/**
 * Tells whether this buf is the head of its list. True for one that is alone.
 *
 * @param buf   the buf
 * @param is_first  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/**
 * Tells whether this buf shares a list with others.
 *
 * @param buf   the buf
 * @param is_in_list  set to 1 or 0
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/**
 * Counts the bufs of a list.
 *
 * @param buf   the head of the list
 * @param num_elements  set to the count, at least 1
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is not a head
 */
DOCA_STABLE
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Appends a list to another. The second list's reference goes over to the first.
 *
 * @param list1  the head of the list to grow
 * @param list2  the head of the list to append
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: one is not a head, both are the same, or list2 has not exactly one reference
 */
DOCA_STABLE
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Appends a list to another whose last buf is known.
 *
 * @param list1_head  the head of the list to grow
 * @param list1_tail  its last buf
 * @param list2  the head of the list to append
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: as doca_buf_chain_list(), or list1_tail is not the last buf of list1_head
 */
DOCA_EXPERIMENTAL
doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2);

/**
 * Splits a list in two. The second part gets one reference.
 *
 * @param list1  the head of the list
 * @param list2  the buf in it with which the second part begins
 *
 * @return DOCA_SUCCESS; else
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, list1 is not a head, or list2 is not a later buf of it
 */
DOCA_STABLE
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H_ */
