/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools, which use their map when they start and when bufs are allocated; and arrays of bufs for GPUs. The `of` of both is a
 * map. */
#include <doca_buf_array.h>
#include <doca_buf_pool.h>
#include <doca_gpunetio.h>

#include "abuse.h"
#include "buf_calls.h"

/* Returns true if the map that it needs still exists. True for NULL. */
static bool has_map(enum kind kind, const void *pointer)
{
	const struct object *object = pointer != NULL ? object_find(kind, pointer) : NULL;

	return object == NULL || object->of == 0 || object_by_id(MMAP, object->of) != NULL;
}

static void pool_create(void)
{
	struct doca_buf_pool *pool;
	size_t num = random_below(5), size = chance(4) ? MEMORY_SIZE : random_below(300);

	if (!has_room(POOL))
		return;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_buf_pool **place = or_null(&pool);

	refuse_if(num == 0 || size == 0);
	if (CALL(doca_buf_pool_create, num, size, mmap, place) == DOCA_SUCCESS)
		object_add(POOL, pool)->of = object_find(MMAP, mmap)->id;
}

static void pool_destroy(void)
{
	struct doca_buf_pool *pool = pick(POOL);
	bool in_use = source_has_bufs(POOL, pool);

	refuse_if(in_use);
	expect_if(!in_use);
	if (CALL(doca_buf_pool_destroy, pool) == DOCA_SUCCESS)
		object_drop(POOL, pool);
}

static void pool_start(void)
{
	struct doca_buf_pool *pool = pick(POOL);

	if (has_map(POOL, pool))
		CALL(doca_buf_pool_start, pool);
}

static void pool_stop(void)
{
	struct doca_buf_pool *pool = pick(POOL);

	refuse_if(source_has_bufs(POOL, pool));
	CALL(doca_buf_pool_stop, pool);
}

static void pool_alloc(void)
{
	struct doca_buf *buf;
	struct doca_buf_pool *pool = pick(POOL);

	if (!has_room(BUF) || !has_map(POOL, pool))
		return;
	struct doca_buf **place = or_null(&buf);

	if (CALL(doca_buf_pool_buf_alloc, pool, place) == DOCA_SUCCESS)
		buf_made(buf, object_find(POOL, pool)->id, object_find(POOL, pool)->of);
}

static void pool_set_user_data(void)
{
	struct doca_buf_pool *object = pick(POOL);

	CALL(doca_buf_pool_set_user_data, object, (union doca_data){.u64 = 5});
}

static void pool_set_alignment(void)
{
	size_t alignment = chance(3) ? random_below(70) : (size_t)1 << random_below(8);

	refuse_if(alignment == 0 || (alignment & (alignment - 1)) != 0);
	struct doca_buf_pool *object = pick(POOL);

	CALL(doca_buf_pool_set_element_alignment, object, alignment);
}

#define POOL_GETTER(name, function, type) CALL_GETTER(name, function, POOL, struct doca_buf_pool, type, true)
POOL_GETTER(pool_get_num, doca_buf_pool_get_num_elements, uint32_t)
POOL_GETTER(pool_get_num_free, doca_buf_pool_get_num_free_elements, uint32_t)
POOL_GETTER(pool_get_user_data, doca_buf_pool_get_user_data, union doca_data)
POOL_GETTER(pool_get_alignment, doca_buf_pool_get_element_alignment, size_t)

static void pool_prepare(void)
{
	struct object *mmap = object_any(MMAP);
	struct doca_buf_pool *pool;

	if (mmap == NULL || CALL(doca_buf_pool_create, 4, 256, mmap->pointer, &pool) != DOCA_SUCCESS)
		return;
	object_add(POOL, pool)->of = mmap->id;
	CALL(doca_buf_pool_start, pool);
}

static const struct call pool_calls[] = {
	{"doca_buf_pool_create", pool_create, 3},
	{"doca_buf_pool_destroy", pool_destroy, 1, true},
	{"doca_buf_pool_start", pool_start, 3},
	{"doca_buf_pool_stop", pool_stop, 1, true},
	{"doca_buf_pool_buf_alloc", pool_alloc, 4},
	{"doca_buf_pool_set_user_data", pool_set_user_data},
	{"doca_buf_pool_set_element_alignment", pool_set_alignment},
	{"doca_buf_pool_get_num_elements", pool_get_num},
	{"doca_buf_pool_get_num_free_elements", pool_get_num_free},
	{"doca_buf_pool_get_user_data", pool_get_user_data},
	{"doca_buf_pool_get_element_alignment", pool_get_alignment},
};
const struct group pool_group = GROUP(pool_calls, pool_prepare);

/* ---- arrays and their GPU ---- */

static void gpu_create(void)
{
	static char *const addresses[] = {"b5:00.0", "0000:b5:00.0", "00:00.0", "b5"};
	struct doca_gpu *gpu;

	if (object_count(GPU) >= 2 || is_ending())
		return;
	char *address = or_null(addresses[random_below(4)]);
	struct doca_gpu **place = or_null(&gpu);

	if (CALL(doca_gpu_create, address, place) == DOCA_SUCCESS)
		object_add(GPU, gpu);
}

static void gpu_destroy(void)
{
	struct doca_gpu *gpu = pick(GPU);

	if (CALL(doca_gpu_destroy, gpu) == DOCA_SUCCESS)
		object_drop(GPU, gpu);
}

static void array_create(void)
{
	struct doca_buf_arr *array;
	size_t num = random_below(9);

	if (!has_room(ARRAY))
		return;
	struct doca_buf_arr **place = or_null(&array);

	if (CALL(doca_buf_arr_create, num, place) == DOCA_SUCCESS)
		object_add(ARRAY, array);
}

static void array_destroy(void)
{
	struct doca_buf_arr *array = pick(ARRAY);

	if (CALL(doca_buf_arr_destroy, array) == DOCA_SUCCESS)
		object_drop(ARRAY, array);
}

static void array_target_gpu(void)
{
	struct doca_buf_arr *array = pick(ARRAY);
	struct doca_gpu *gpu = pick(GPU);

	CALL(doca_buf_arr_set_target_gpu, array, gpu);
}

static void array_target_dpa(void)
{
	struct doca_buf_arr *array = pick(ARRAY);
	struct doca_dpa *dpa = or_null(memory);

	refuse_if(true);
	CALL(doca_buf_arr_set_target_dpa, array, dpa);
}

static void array_set_params(void)
{
	struct doca_buf_arr *array = pick(ARRAY);
	struct doca_mmap *mmap = pick(MMAP);

	if (CALL(doca_buf_arr_set_params, array, mmap, random_below(300), random_below(2) * 4096) == DOCA_SUCCESS)
		object_find(ARRAY, array)->of = object_find(MMAP, mmap)->id;
}

static void array_start(void)
{
	struct doca_buf_arr *array = pick(ARRAY);

	if (has_map(ARRAY, array))
		CALL(doca_buf_arr_start, array);
}

static void array_stop(void)
{
	struct doca_buf_arr *object = pick(ARRAY);

	CALL(doca_buf_arr_stop, object);
}

static void array_gpu_handle(void)
{
	struct doca_gpu_buf_arr *handle;
	struct doca_buf_arr *array = pick(ARRAY);
	struct doca_gpu_buf_arr **place = or_null(&handle);

	CALL(doca_buf_arr_get_gpu_handle, array, place);
}

static void array_dpa_handle(void)
{
	doca_dpa_dev_buf_arr_t handle;
	struct doca_buf_arr *array = pick(ARRAY);
	doca_dpa_dev_buf_arr_t *place = or_null(&handle);

	refuse_if(true);
	CALL(doca_buf_arr_get_dpa_handle, array, place);
}

static void array_prepare(void)
{
	struct object *mmap = object_any(MMAP);
	struct doca_buf_arr *array;
	struct doca_gpu *gpu;

	if (mmap == NULL || CALL(doca_gpu_create, "b5:00.0", &gpu) != DOCA_SUCCESS)
		return;
	object_add(GPU, gpu);
	if (CALL(doca_buf_arr_create, 8, &array) != DOCA_SUCCESS)
		return;
	object_add(ARRAY, array);
	CALL(doca_buf_arr_set_target_gpu, array, gpu);
	if (CALL(doca_buf_arr_set_params, array, mmap->pointer, 64, 0) == DOCA_SUCCESS)
		object_find(ARRAY, array)->of = mmap->id;
	CALL(doca_buf_arr_start, array);
}

static const struct call array_calls[] = {
	{"doca_gpu_create", gpu_create},
	{"doca_gpu_destroy", gpu_destroy, 1, true},
	{"doca_buf_arr_create", array_create, 2},
	{"doca_buf_arr_destroy", array_destroy, 1, true},
	{"doca_buf_arr_set_target_gpu", array_target_gpu, 2},
	{"doca_buf_arr_set_target_dpa", array_target_dpa},
	{"doca_buf_arr_set_params", array_set_params, 3},
	{"doca_buf_arr_start", array_start, 3},
	{"doca_buf_arr_stop", array_stop},
	{"doca_buf_arr_get_gpu_handle", array_gpu_handle},
	{"doca_buf_arr_get_dpa_handle", array_dpa_handle},
};
const struct group array_group = GROUP(array_calls, array_prepare);
