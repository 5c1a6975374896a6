/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories: bufs that are allocated in advance, and set to their memory when a program gets one. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf_inventory.h>

#include "base/log.h"
#include "mem/buf_checks.h"
#include "mem/buf_source.h"
#include "validation/validation.h"

/* Elements are allocated in blocks: one by create, one by each expand. */
struct block {
	struct block *next;
	struct doca_buf elements[];
};

struct doca_buf_inventory {
	struct sf_buf_source source;
	struct block *blocks;
	union doca_data user_data;
};

struct doca_mmap sf_buf_no_mmap = {.live_addr = UINTPTR_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};

void sf_buf_source_add(struct sf_buf_source *source, struct doca_buf *elements, uint32_t num)
{
	for (uint32_t i = num; i-- > 0;) { /* so that the first buf is the first in memory */
		elements[i] =
			(struct doca_buf){.source = source, .mmap = &sf_buf_no_mmap, .first = &elements[i], .next = source->free};
		source->free = &elements[i];
	}
	if (sf_validation_is_on) /* before there is a buffer */
		__atomic_store_n(&sf_buf_refs_checked, 1, __ATOMIC_RELAXED);
	source->num_elements += num;
	source->num_free += num;
}

static doca_error_t block_add(struct doca_buf_inventory *inventory, uint32_t num)
{
	struct block *block = malloc(sizeof(*block) + sizeof(struct doca_buf) * num);

	if (block == NULL) {
		SF_LOG_ERR("no memory for %u bufs of an inventory", num);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (sf_validation_is_on)
		sf_objects_forget((uintptr_t)block, sizeof(*block) + sizeof(struct doca_buf) * num);
	block->next = inventory->blocks;
	inventory->blocks = block;
	sf_buf_source_add(&inventory->source, block->elements, num);
	return DOCA_SUCCESS;
}

static doca_error_t check_inventory(const struct doca_buf_inventory *inventory, const void *out)
{
	if (inventory != NULL && out != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL", inventory == NULL ? "inventory" : "the output argument");
	return DOCA_ERROR_INVALID_VALUE;
}

static void inventory_describe(const void *object, char *text, size_t size)
{
	const struct doca_buf_inventory *inventory = object;

	snprintf(text, size, "%u of its bufs are out", inventory->source.num_elements - inventory->source.num_free);
}

doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory)
{
	if (inventory == NULL || num_elements == 0 || num_elements > UINT32_MAX) {
		SF_LOG_ERR("buf inventory of %zu elements: give 1 to %u, and an inventory that is not NULL", num_elements,
			   UINT32_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_buf_inventory *created = calloc(1, sizeof(*created));
	if (created == NULL || block_add(created, (uint32_t)num_elements) != DOCA_SUCCESS) {
		free(created);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->source.faults = sf_faults_attach(SF_FAULT_BUFS, "inventory", NULL);
	sf_object_add(created, "buf inventory", inventory_describe);
	*inventory = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	doca_error_t result = check_inventory(inventory, inventory);

	if (result != DOCA_SUCCESS)
		return result;
	if (inventory->source.num_free != inventory->source.num_elements) {
		SF_LOG_ERR("%u bufs of the inventory are in use: release them first (doca_buf_dec_refcount)",
			   inventory->source.num_elements - inventory->source.num_free);
		SF_BROKEN(BUF_006, inventory, "doca_buf_inventory_destroy", "%u of its bufs are out",
			  inventory->source.num_elements - inventory->source.num_free);
		return DOCA_ERROR_IN_USE;
	}
	sf_object_remove(inventory);
	assert(inventory->source.num_free == inventory->source.num_elements);
	for (struct block *next, *block = inventory->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	sf_faults_detach(inventory->source.faults);
	free(inventory);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	doca_error_t result = check_inventory(inventory, inventory);

	if (result == DOCA_SUCCESS)
		inventory->source.started = true;
	return result;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	doca_error_t result = check_inventory(inventory, inventory);

	if (result == DOCA_SUCCESS)
		inventory->source.started = false;
	return result;
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
	doca_error_t result = check_inventory(inventory, inventory);

	if (result != DOCA_SUCCESS)
		return result;
	if (num_elements == 0 || num_elements > UINT32_MAX - inventory->source.num_elements) {
		SF_LOG_ERR("buf inventory of %u elements cannot grow by %u", inventory->source.num_elements, num_elements);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!inventory->source.started) {
		SF_LOG_ERR("buf inventory is not started: only a started one is expanded");
		return DOCA_ERROR_BAD_STATE;
	}
	return block_add(inventory, num_elements);
}

/* ---- taking bufs ---- */

/* Kept out of the fast path: logs why no buf was created. */
static __attribute__((noinline, cold)) doca_error_t range_refused(const char *call, const struct doca_mmap *mmap,
								  const void *addr, size_t len, const void *data, size_t data_len)
{
	if (!mmap->started)
		SF_LOG_ERR("memory map is not started, so no buf can lie in it: call doca_mmap_start first");
	else if (!sf_mmap_is_live(mmap, addr, len))
		SF_LOG_ERR("buf of %zu bytes at %p is not inside its memory map, %zu bytes at %p", len, addr, mmap->len,
			   mmap->addr);
	else
		SF_LOG_ERR("data of %zu bytes at %p is not inside its buf, %zu bytes at %p", data_len, data, len, addr);
	if (!mmap->started)
		SF_BROKEN(MMAP_003, mmap, call, "it is not started, so no buf can lie in it");
	else if (!sf_mmap_is_live(mmap, addr, len))
		SF_BROKEN(BUF_003, mmap, call, "a buf of %zu bytes at %p is not inside its %zu bytes at %p", len, addr, mmap->len,
			  mmap->addr);
	else
		SF_BROKEN(BUF_001, NULL, call, "data of %zu bytes at %p is not inside a buf of %zu bytes at %p", data_len, data,
			  len, addr);
	return DOCA_ERROR_INVALID_VALUE;
}

static __attribute__((noinline, cold)) doca_error_t take_refused(const struct doca_buf_inventory *inventory)
{
	SF_LOG_ERR("all %u bufs of the inventory are in use: release some, or expand it", inventory->source.num_elements);
	SF_BROKEN(BUF_005, inventory, "doca_buf_inventory_buf_get_by_args", "all of its bufs are out: %u",
		  inventory->source.num_elements);
	return DOCA_ERROR_NO_MEMORY;
}

static __attribute__((noinline, cold)) doca_error_t not_started(const struct doca_buf_inventory *inventory, const char *call,
								doca_error_t result)
{
	SF_LOG_ERR("buf inventory is not started: call doca_buf_inventory_start first");
	SF_BROKEN(BUF_004, inventory, call, "it is not started");
	return result;
}

/* Returns true if the data is inside the buf, and the buf inside the live range. */
static inline bool is_range_good(const struct doca_mmap *mmap, const void *addr, size_t len, const void *data, size_t data_len)
{
	uintptr_t offset = (uintptr_t)data - (uintptr_t)addr;

	return sf_mmap_is_live(mmap, addr, len) && offset <= len && data_len <= len - offset;
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr,
						size_t len, void *data, size_t data_len, struct doca_buf **buf)
{
	if (__builtin_expect(inventory == NULL || mmap == NULL || buf == NULL, 0)) {
		SF_LOG_ERR("inventory, mmap or buf is NULL: a buf needs all three");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (__builtin_expect(!is_range_good(mmap, addr, len, data, data_len), 0))
		return range_refused("doca_buf_inventory_buf_get_by_args", mmap, addr, len, data, data_len);
	if (__builtin_expect(!inventory->source.started, 0))
		return not_started(inventory, "doca_buf_inventory_buf_get_by_args", DOCA_ERROR_INVALID_VALUE);
	if (sf_buf_source_fails(&inventory->source))
		return DOCA_ERROR_NO_MEMORY;
	struct doca_buf *taken = sf_buf_source_take(&inventory->source);
	if (__builtin_expect(taken == NULL, 0))
		return take_refused(inventory);
	sf_buf_init(taken, mmap, addr, len, data, data_len);
	*buf = taken;
	return DOCA_SUCCESS;
}

static doca_error_t check_dup(const struct doca_buf_inventory *inventory, const struct doca_buf *src)
{
	if (!inventory->source.started)
		return not_started(inventory, "doca_buf_inventory_buf_dup", DOCA_ERROR_BAD_STATE);
	if (src->first != src) {
		SF_LOG_ERR("buf is inside a list: a list is duplicated from its head");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (src->refcount == 0) {
		SF_LOG_ERR("buf was released already and cannot be duplicated");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (src->list_len > inventory->source.num_free) {
		SF_LOG_ERR("a list of %u bufs exceeds the %u free ones of the inventory: release some, or expand it",
			   src->list_len, inventory->source.num_free);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory, const struct doca_buf *src_buf,
					struct doca_buf **dst_buf)
{
	if (inventory == NULL || src_buf == NULL || dst_buf == NULL) {
		SF_LOG_ERR("inventory, src_buf or dst_buf is NULL: duplicating a buf needs all three");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_dup(inventory, src_buf);
	if (result == DOCA_SUCCESS && sf_buf_source_fails(&inventory->source))
		result = DOCA_ERROR_NO_MEMORY;
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *head = NULL;
	for (const struct doca_buf *from = src_buf; from != NULL; from = from->next) {
		struct doca_buf *copy = sf_buf_source_take(&inventory->source);

		assert(copy != NULL);
		sf_buf_init(copy, from->mmap, from->head, from->len, from->data, from->data_len);
		if (head == NULL) {
			head = copy;
			continue;
		}
		copy->first = head;
		head->last->next = copy;
		head->last = copy;
		head->list_len++;
	}
	*dst_buf = head;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len)
{
	if (buf == NULL || buf->refcount == 0) {
		SF_LOG_ERR(buf == NULL ? "buf is NULL" : "buf was released already and cannot be reused");
		if (buf != NULL)
			SF_BROKEN(BUF_002, buf, "doca_buf_inventory_buf_reuse_by_args", "it was released already");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!is_range_good(buf->mmap, addr, len, data, data_len))
		return range_refused("doca_buf_inventory_buf_reuse_by_args", buf->mmap, addr, len, data, data_len);
	buf->head = addr;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, addr, len, addr, 0);
}

doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, data, data_len, data, data_len);
}

/* ---- attributes ---- */

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory, union doca_data user_data)
{
	doca_error_t result = check_inventory(inventory, inventory);

	if (result != DOCA_SUCCESS)
		return result;
	if (inventory->source.started) {
		SF_LOG_ERR("the user data of a started buf inventory cannot change");
		return DOCA_ERROR_BAD_STATE;
	}
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory, union doca_data *user_data)
{
	doca_error_t result = check_inventory(inventory, user_data);

	if (result == DOCA_SUCCESS)
		*user_data = inventory->user_data;
	return result;
}

doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_elements)
{
	doca_error_t result = check_inventory(inventory, num_of_elements);

	if (result == DOCA_SUCCESS)
		*num_of_elements = inventory->source.num_elements;
	return result;
}

doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements)
{
	doca_error_t result = check_inventory(inventory, num_of_free_elements);

	if (result == DOCA_SUCCESS)
		*num_of_free_elements = inventory->source.num_free;
	return result;
}
