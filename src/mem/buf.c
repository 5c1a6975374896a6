/* SPDX-License-Identifier: BSD-3-Clause */
/* Bufs: reference counts, the data section, lists. */
#include "mem/buf.h"

#include <assert.h>

#include "base/log.h"
#include "mem/buf_checks.h"
#include "mem/buf_source.h"
#include "validation/validation.h"

/* Returns INVALID_VALUE, logged, if one of the two is missing. */
static inline doca_error_t check_args(const void *buf, const void *other)
{
	if (__builtin_expect(buf != NULL && other != NULL, 1))
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL", buf == NULL ? "buf" : "the second argument");
	return DOCA_ERROR_INVALID_VALUE;
}

static inline bool is_head(const struct doca_buf *buf)
{
	return buf->first == buf;
}

/* ---- reference counts ---- */

static __attribute__((noinline, cold)) doca_error_t refcount_refused(const struct doca_buf *buf, const char *call)
{
	if (!is_head(buf)) {
		SF_LOG_ERR("buf is inside a list: only the list's head has a reference count");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (buf->refcount == 0) {
		SF_LOG_ERR("buf was released already");
		SF_BROKEN(BUF_002, buf, call, "it was released already");
		return DOCA_ERROR_BAD_STATE;
	}
	SF_LOG_ERR("buf has %u references, which is the maximum", buf->refcount);
	return DOCA_ERROR_TOO_BIG;
}

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t result = check_args(buf, buf);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_head(buf) || buf->refcount == 0 || buf->refcount == UINT16_MAX)
		return refcount_refused(buf, "doca_buf_inc_refcount");
	uint16_t before = buf->refcount++;
	if (refcount != NULL)
		*refcount = before;
	return DOCA_SUCCESS;
}

static void list_give_back(struct doca_buf *head)
{
	assert(head->first == head);
	for (struct doca_buf *next, *buf = head; buf != NULL; buf = next) {
		next = buf->next;
		buf->first = buf;
		sf_buf_give_back(buf);
	}
}

static inline __attribute__((always_inline)) doca_error_t reference_drop(struct doca_buf *buf, uint16_t *refcount)
{
	uint16_t before = buf->refcount;

	if (refcount != NULL)
		*refcount = before;
	if (before > 1)
		buf->refcount = before - 1;
	else if (buf->next == NULL)
		sf_buf_give_back(buf);
	else
		list_give_back(buf);
	return DOCA_SUCCESS;
}

/* The call is wrong, or it is the last reference and the validation layer is on. */
static __attribute__((noinline, cold)) doca_error_t dec_refcount_checked(struct doca_buf *buf, uint16_t *refcount)
{
	if (!is_head(buf) || buf->refcount == 0)
		return refcount_refused(buf, "doca_buf_dec_refcount");
	sf_buf_check_release(buf);
	return reference_drop(buf, refcount);
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t result = check_args(buf, buf);

	if (result != DOCA_SUCCESS)
		return result;
	if (__builtin_expect(!is_head(buf) || buf->refcount <= __atomic_load_n(&sf_buf_refs_checked, __ATOMIC_RELAXED), 0))
		return dec_refcount_checked(buf, refcount);
	return reference_drop(buf, refcount);
}

doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t result = check_args(buf, refcount);

	if (result == DOCA_SUCCESS)
		*refcount = buf->refcount;
	return result;
}

/* ---- memory ---- */

doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
	doca_error_t result = check_args(buf, len);

	if (result == DOCA_SUCCESS)
		*len = buf->len;
	return result;
}

doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head)
{
	doca_error_t result = check_args(buf, head);

	if (result == DOCA_SUCCESS)
		*head = buf->head;
	return result;
}

doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
	doca_error_t result = check_args(buf, data_len);

	if (result == DOCA_SUCCESS)
		*data_len = buf->data_len;
	return result;
}

doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data)
{
	doca_error_t result = check_args(buf, data);

	if (result == DOCA_SUCCESS)
		*data = buf->data;
	return result;
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	doca_error_t result = check_args(buf, buf);

	if (result != DOCA_SUCCESS)
		return result;
	buf->data = data;
	buf->data_len = data_len;
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_buf_check_data(buf, "doca_buf_set_data");
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	doca_error_t result = check_args(buf, buf);

	if (result != DOCA_SUCCESS)
		return result;
	buf->data_len = data_len;
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_buf_check_data(buf, "doca_buf_set_data_len");
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	return doca_buf_set_data_len(buf, 0);
}

/* ---- lists ---- */

doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf)
{
	doca_error_t result = check_args(buf, next_buf);

	if (result == DOCA_SUCCESS)
		*next_buf = buf->next;
	return result;
}

doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
	doca_error_t result = check_args(buf, last_buf);

	if (result == DOCA_SUCCESS)
		*last_buf = buf->first->last;
	return result;
}

doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last)
{
	doca_error_t result = check_args(buf, is_last);

	if (result == DOCA_SUCCESS)
		*is_last = buf->next == NULL;
	return result;
}

doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first)
{
	doca_error_t result = check_args(buf, is_first);

	if (result == DOCA_SUCCESS)
		*is_first = is_head(buf);
	return result;
}

doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list)
{
	doca_error_t result = check_args(buf, is_in_list);

	if (result == DOCA_SUCCESS)
		*is_in_list = buf->first->list_len > 1;
	return result;
}

doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements)
{
	doca_error_t result = check_args(buf, num_elements);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_head(buf)) {
		SF_LOG_ERR("buf is inside a list: only the list's head has the list's length");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*num_elements = buf->list_len;
	return DOCA_SUCCESS;
}

static doca_error_t check_chain(const struct doca_buf *list1, const struct doca_buf *list2)
{
	doca_error_t result = check_args(list1, list2);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_head(list1) || !is_head(list2) || list1 == list2) {
		SF_LOG_ERR("cannot chain: pass the heads of two lists, %s",
			   list1 == list2 ? "but both belong to one list" : "and one is inside a list");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (list1->refcount == 0 || list2->refcount != 1) {
		SF_LOG_ERR("lists with %u and %u references cannot be chained: the second must have exactly one", list1->refcount,
			   list2->refcount);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	doca_error_t result = check_chain(list1, list2);

	if (result != DOCA_SUCCESS)
		return result;
	assert(list1->last->next == NULL);
	for (struct doca_buf *buf = list2; buf != NULL; buf = buf->next)
		buf->first = list1;
	list1->last->next = list2;
	list1->last = list2->last;
	list1->list_len += list2->list_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail, struct doca_buf *list2)
{
	doca_error_t result = check_args(list1_head, list1_tail);

	if (result == DOCA_SUCCESS)
		result = check_args(list1_head, list2);
	if (result != DOCA_SUCCESS)
		return result;
	if (is_head(list1_head) && list1_head->last != list1_tail) {
		SF_LOG_ERR("list1_tail is not the last buf of the list");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return doca_buf_chain_list(list1_head, list2);
}

/* The buf before the given one, or NULL. */
static struct doca_buf *list_before(struct doca_buf *list, const struct doca_buf *buf)
{
	while (list != NULL && list->next != buf)
		list = list->next;
	return list;
}

doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	doca_error_t result = check_args(list1, list2);

	if (result != DOCA_SUCCESS)
		return result;
	if (!is_head(list1) || list2->first != list1 || list1 == list2) {
		SF_LOG_ERR("cannot unchain: pass the head of a list and a later buf of the same list");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_buf *before = list_before(list1, list2);
	list2->last = list1->last;
	list2->list_len = 0;
	list2->refcount = 1;
	for (struct doca_buf *buf = list2; buf != NULL; buf = buf->next) {
		buf->first = list2;
		list2->list_len++;
	}
	assert(before != NULL);
	before->next = NULL;
	list1->last = before;
	assert(list1->list_len > list2->list_len);
	list1->list_len -= list2->list_len;
	return DOCA_SUCCESS;
}
