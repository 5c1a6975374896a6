/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: bufs of one size, cut from a memory map once, so that getting one needs no check of the memory. */
#include <assert.h>
#include <stdlib.h>

#include <doca_buf_pool.h>

#include "base/log.h"
#include "mem/buf_source.h"
#include "validation/validation.h"

struct doca_buf_pool {
	struct sf_buf_source source;
	struct doca_mmap *mmap; /* must live while bufs are in use; stop and destroy do not access it */
	size_t element_size;
	size_t alignment;
	uint8_t *base; /* of element 0, while started */
	size_t stride;
	union doca_data user_data;
	struct doca_buf elements[];
};

static doca_error_t check_pool(const struct doca_buf_pool *pool, const void *out)
{
	if (pool != NULL && out != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s is NULL", pool == NULL ? "buf_pool" : "the output argument");
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_set(const struct doca_buf_pool *pool, const char *what)
{
	doca_error_t result = check_pool(pool, pool);

	if (result == DOCA_SUCCESS && pool->source.started) {
		SF_LOG_ERR("the %s of a started buf pool cannot change", what);
		result = DOCA_ERROR_BAD_STATE;
	}
	return result;
}

/* Returns IN_USE, logged, while bufs are in use. */
static doca_error_t check_unused(const struct doca_buf_pool *pool, const char *what)
{
	uint32_t out = pool->source.num_elements - pool->source.num_free;

	if (out == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("buf pool cannot be %s while %u of its bufs are in use: release them first (doca_buf_dec_refcount)", what,
		   out);
	SF_BROKEN(BUF_006, pool, NULL, "%u of its bufs are out", out);
	return DOCA_ERROR_IN_USE;
}

doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
				  struct doca_buf_pool **buf_pool)
{
	if (mmap == NULL || buf_pool == NULL || num_elements == 0 || num_elements > UINT32_MAX || element_size == 0) {
		SF_LOG_ERR("buf pool of %zu elements of %zu bytes: give at least one of each, and an mmap and a buf_pool that "
			   "are not "
			   "NULL",
			   num_elements, element_size);
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_buf_pool *created = calloc(1, sizeof(*created) + num_elements * sizeof(struct doca_buf));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a pool of %zu bufs", num_elements);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (sf_validation_is_on)
		sf_objects_forget((uintptr_t)created, sizeof(*created) + num_elements * sizeof(struct doca_buf));
	created->mmap = (struct doca_mmap *)mmap; /* the mmap will count its bufs there */
	created->element_size = element_size;
	created->alignment = 1;
	sf_buf_source_add(&created->source, created->elements, (uint32_t)num_elements);
	created->source.faults = sf_faults_attach(SF_FAULT_BUFS, "pool", NULL);
	sf_object_add(created, "buf pool", NULL);
	*buf_pool = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
	doca_error_t result = check_pool(buf_pool, buf_pool);

	if (result == DOCA_SUCCESS)
		result = check_unused(buf_pool, "destroyed");
	if (result != DOCA_SUCCESS)
		return result;
	sf_faults_detach(buf_pool->source.faults);
	sf_object_remove(buf_pool);
	free(buf_pool);
	return DOCA_SUCCESS;
}

/* Computes the address of the elements. INITIALIZATION, logged, if the memory map is too small for them. */
static doca_error_t elements_place(struct doca_buf_pool *pool)
{
	uintptr_t mask = pool->alignment - 1;
	uintptr_t addr = (uintptr_t)pool->mmap->addr;
	size_t skipped = (size_t)(((addr + mask) & ~mask) - addr);
	size_t stride, total;

	if (__builtin_add_overflow(pool->element_size, mask, &stride) ||
	    __builtin_mul_overflow(stride & ~mask, pool->source.num_elements - 1, &total) ||
	    __builtin_add_overflow(total, pool->element_size, &total) || __builtin_add_overflow(total, skipped, &total) ||
	    total > pool->mmap->len) {
		SF_LOG_ERR("memory map of %zu bytes is too small for %u elements of %zu bytes, aligned to %zu", pool->mmap->len,
			   pool->source.num_elements, pool->element_size, pool->alignment);
		return DOCA_ERROR_INITIALIZATION;
	}
	pool->base = (uint8_t *)pool->mmap->addr + skipped;
	assert((((uintptr_t)pool->base) & mask) == 0);
	pool->stride = stride & ~mask;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool)
{
	doca_error_t result = check_pool(buf_pool, buf_pool);

	if (result != DOCA_SUCCESS)
		return result;
	if (buf_pool->source.started) {
		SF_LOG_ERR("buf pool is started already");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!buf_pool->mmap->started) {
		SF_LOG_ERR("buf pool has a memory map that is not started: call doca_mmap_start first");
		SF_BROKEN(MMAP_003, buf_pool->mmap, "doca_buf_pool_start", "it is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	result = elements_place(buf_pool);
	if (result == DOCA_SUCCESS)
		buf_pool->source.started = true;
	return result;
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool)
{
	doca_error_t result = check_pool(buf_pool, buf_pool);

	if (result == DOCA_SUCCESS)
		result = check_unused(buf_pool, "stopped");
	if (result == DOCA_SUCCESS)
		buf_pool->source.started = false;
	return result;
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
	doca_error_t result = check_pool(buf_pool, buf);

	if (result != DOCA_SUCCESS)
		return result;
	if (!buf_pool->source.started || !buf_pool->mmap->started) {
		SF_LOG_ERR("buf pool %s not started: call %s first", buf_pool->source.started ? "has a memory map that is" : "is",
			   buf_pool->source.started ? "doca_mmap_start" : "doca_buf_pool_start");
		if (!buf_pool->source.started)
			SF_BROKEN(BUF_004, buf_pool, "doca_buf_pool_buf_alloc", "it is not started");
		return DOCA_ERROR_BAD_STATE;
	}
	if (sf_buf_source_fails(&buf_pool->source))
		return DOCA_ERROR_EMPTY;
	struct doca_buf *taken = sf_buf_source_take(&buf_pool->source);
	if (taken == NULL) {
		SF_LOG_ERR("all %u bufs of the pool are in use: release some first", buf_pool->source.num_elements);
		SF_BROKEN(BUF_005, buf_pool, "doca_buf_pool_buf_alloc", "all of its bufs are out: %u",
			  buf_pool->source.num_elements);
		return DOCA_ERROR_EMPTY;
	}
	assert(taken >= buf_pool->elements && taken < buf_pool->elements + buf_pool->source.num_elements);
	uint8_t *head = buf_pool->base + (size_t)(taken - buf_pool->elements) * buf_pool->stride;
	sf_buf_init(taken, buf_pool->mmap, head, buf_pool->element_size, head, 0);
	*buf = taken;
	return DOCA_SUCCESS;
}

/* ---- attributes ---- */

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data)
{
	doca_error_t result = check_set(buf_pool, "user data");

	if (result == DOCA_SUCCESS)
		buf_pool->user_data = user_data;
	return result;
}

doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data)
{
	doca_error_t result = check_pool(buf_pool, user_data);

	if (result == DOCA_SUCCESS)
		*user_data = buf_pool->user_data;
	return result;
}

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment)
{
	doca_error_t result = check_set(buf_pool, "alignment");

	if (result != DOCA_SUCCESS)
		return result;
	if (element_alignment == 0 || (element_alignment & (element_alignment - 1)) != 0) {
		SF_LOG_ERR("alignment %zu is not a power of two", element_alignment);
		return DOCA_ERROR_INVALID_VALUE;
	}
	buf_pool->alignment = element_alignment;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment)
{
	doca_error_t result = check_pool(buf_pool, element_alignment);

	if (result == DOCA_SUCCESS)
		*element_alignment = buf_pool->alignment;
	return result;
}

doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements)
{
	doca_error_t result = check_pool(buf_pool, num_of_elements);

	if (result == DOCA_SUCCESS)
		*num_of_elements = buf_pool->source.num_elements;
	return result;
}

doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements)
{
	doca_error_t result = check_pool(buf_pool, num_of_free_elements);

	if (result == DOCA_SUCCESS)
		*num_of_free_elements = buf_pool->source.num_free;
	return result;
}
