/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inventories, bufs, pools and arrays of DOCA 2.2. A buf is a user of its map; its `of` is its inventory or pool; its flag says
 * that it is inside a list. Jobs are users of a buf: they hold no reference.
 */
#include <doca_buf_array.h>
#include <doca_buf_inventory.h>
#include <doca_bufpool.h>
#include <doca_mmap.h>

#include "legacy.h"

static struct {
	struct doca_buf *buf;
	uint64_t map_id;
} bufs[OBJECTS_MAX];

static void buf_made(struct doca_buf *buf, uint64_t source, uint64_t map_id)
{
	object_add(BUF, buf)->of = source;
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		if (bufs[i].buf == NULL) {
			bufs[i].buf = buf;
			bufs[i].map_id = map_id;
			break;
		}
	}
	object_by_id(MMAP, map_id)->users++;
}

static void buf_gone(struct doca_buf *buf)
{
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		if (bufs[i].buf == buf) {
			object_by_id(MMAP, bufs[i].map_id)->users--;
			bufs[i].buf = NULL;
			break;
		}
	}
	object_drop(BUF, buf);
}

/* ---- inventories ---- */

static void create(void)
{
	union doca_data data = {.u64 = 4};
	struct doca_buf_inventory *inventory;
	size_t num = random_below(7);
	uint32_t extensions = chance(8);

	if (!has_room(INVENTORY))
		return;
	struct doca_buf_inventory **place = or_null(&inventory);

	refuse_if(num == 0 || extensions != 0);
	expect_if(true);
	if (CALL(doca_buf_inventory_create, chance(2) ? &data : NULL, num, extensions, place) == DOCA_SUCCESS)
		object_add(INVENTORY, inventory);
}

static void destroy(void)
{
	struct doca_buf_inventory *inventory = pick(INVENTORY);

	refuse_if(inventory != NULL && object_count_of(BUF, object_find(INVENTORY, inventory)->id) > 0);
	if (CALL(doca_buf_inventory_destroy, inventory) == DOCA_SUCCESS)
		object_drop(INVENTORY, inventory);
}

static void start(void)
{
	struct doca_buf_inventory *inventory = pick(INVENTORY);

	CALL(doca_buf_inventory_start, inventory);
}

CALL_GETTER(get_num, doca_buf_inventory_get_num_elements, INVENTORY, struct doca_buf_inventory, uint32_t, true)
CALL_GETTER(get_num_free, doca_buf_inventory_get_num_free_elements, INVENTORY, struct doca_buf_inventory, uint32_t, true)
CALL_GETTER(get_user_data, doca_buf_inventory_get_user_data, INVENTORY, struct doca_buf_inventory, union doca_data, true)

#define TAKE(name, function, ...)                                                                                                \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_buf *buf;                                                                                            \
		uint8_t *addr;                                                                                                   \
		size_t len;                                                                                                      \
		if (!has_room(BUF))                                                                                              \
			return;                                                                                                  \
		random_range(&addr, &len);                                                                                       \
		struct doca_buf_inventory *inventory = pick(INVENTORY);                                                          \
		struct doca_mmap *mmap = pick(MMAP);                                                                             \
		struct doca_buf **place = or_null(&buf);                                                                         \
		if (CALL(function, inventory, mmap, __VA_ARGS__, place) == DOCA_SUCCESS)                                         \
			buf_made(buf, object_find(INVENTORY, inventory)->id, object_find(MMAP, mmap)->id);                       \
	}
TAKE(by_args, doca_buf_inventory_buf_by_args, addr, len, addr + len / 2, len - len / 2)
TAKE(by_addr, doca_buf_inventory_buf_by_addr, addr, len)
TAKE(by_data, doca_buf_inventory_buf_by_data, addr, len)

/* ---- bufs ---- */

static bool list_has_users(struct doca_buf *buf)
{
	for (; buf != NULL; (void)doca_buf_list_next(buf, &buf)) {
		if (object_find(BUF, buf)->users > 0)
			return true;
	}
	return false;
}

static void refcount_add(void)
{
	uint16_t count;
	struct doca_buf *buf = pick(BUF);

	refuse_if(buf != NULL && object_find(BUF, buf)->flag);
	CALL(doca_buf_refcount_add, buf, &count);
}

static void refcount_rm(void)
{
	uint16_t before = 0;
	struct doca_buf *buf = pick(BUF), *list[OBJECTS_MAX];
	uint32_t num = 0;

	if (buf != NULL && list_has_users(buf))
		return;
	for (struct doca_buf *next = buf; next != NULL; (void)doca_buf_list_next(next, &next))
		list[num++] = next;
	bool inside = buf != NULL && object_find(BUF, buf)->flag;

	refuse_if(inside);
	expect_if(!inside);
	if (buf != NULL)
		(void)doca_buf_get_refcount(buf, &before);
	if (CALL(doca_buf_refcount_rm, buf, chance(2) ? &before : NULL) != DOCA_SUCCESS || before > 1)
		return;
	for (uint32_t i = 0; i < num; i++)
		buf_gone(list[i]);
}

CALL_GETTER(get_refcount, doca_buf_get_refcount, BUF, struct doca_buf, uint16_t, true)
CALL_GETTER(list_next, doca_buf_list_next, BUF, struct doca_buf, struct doca_buf *, true)
CALL_GETTER(list_last, doca_buf_list_last, BUF, struct doca_buf, struct doca_buf *, true)
CALL_GETTER(list_is_last, doca_buf_list_is_last, BUF, struct doca_buf, bool, true)
CALL_GETTER(list_is_first, doca_buf_list_is_first, BUF, struct doca_buf, bool, true)
CALL_GETTER(list_num, doca_buf_list_num_elements, BUF, struct doca_buf, uint32_t, false)

static bool is_busy(const struct doca_buf *buf)
{
	return buf != NULL && object_find(BUF, buf)->users > 0;
}

static void chain(void)
{
	struct doca_buf *first = pick(BUF), *second = pick(BUF);

	if (is_busy(first) || is_busy(second))
		return;
	refuse_if(first == second || (first != NULL && object_find(BUF, first)->flag) ||
		  (second != NULL && object_find(BUF, second)->flag));
	if (CALL(doca_buf_list_chain, first, second) == DOCA_SUCCESS)
		object_find(BUF, second)->flag = true;
}

static void unchain(void)
{
	struct doca_buf *first = pick(BUF), *second = NULL;

	if (first != NULL && chance(2))
		(void)doca_buf_list_next(first, &second);
	if (second == NULL)
		second = pick(BUF);
	if (is_busy(first) || is_busy(second))
		return;
	if (CALL(doca_buf_list_unchain, first, second) == DOCA_SUCCESS)
		object_find(BUF, second)->flag = false;
}

static void prepare(void)
{
	struct doca_buf_inventory *inventory;
	struct object *mmap = object_any(MMAP);
	struct doca_buf *buf;

	if (CALL(doca_buf_inventory_create, NULL, 6, DOCA_BUF_EXTENSION_NONE, &inventory) != DOCA_SUCCESS)
		return;
	uint64_t id = object_add(INVENTORY, inventory)->id;

	CALL(doca_buf_inventory_start, inventory);
	for (uint32_t i = 0; i < 4 && mmap != NULL; i++) {
		doca_error_t result = i % 2 == 0 ? CALL(doca_buf_inventory_buf_by_data, inventory, mmap->pointer,
							memory + 4096 * (i + 1), 64 * (i + 1), &buf)
						 : CALL(doca_buf_inventory_buf_by_addr, inventory, mmap->pointer,
							memory + 4096 * (i + 1), 512, &buf);

		if (result == DOCA_SUCCESS)
			buf_made(buf, id, mmap->id);
	}
}

static const struct call calls[] = {
	{"doca_buf_inventory_create", create, 2},
	{"doca_buf_inventory_destroy", destroy, 1, true},
	{"doca_buf_inventory_start", start, 2},
	{"doca_buf_inventory_get_num_elements", get_num},
	{"doca_buf_inventory_get_num_free_elements", get_num_free},
	{"doca_buf_inventory_get_user_data", get_user_data},
	{"doca_buf_inventory_buf_by_args", by_args, 3},
	{"doca_buf_inventory_buf_by_addr", by_addr, 4},
	{"doca_buf_inventory_buf_by_data", by_data, 4},
	{"doca_buf_refcount_add", refcount_add},
	{"doca_buf_refcount_rm", refcount_rm, 3, true},
	{"doca_buf_get_refcount", get_refcount},
	{"doca_buf_list_next", list_next},
	{"doca_buf_list_last", list_last},
	{"doca_buf_list_is_last", list_is_last},
	{"doca_buf_list_is_first", list_is_first},
	{"doca_buf_list_num_elements", list_num},
	{"doca_buf_list_chain", chain, 2},
	{"doca_buf_list_unchain", unchain, 2},
};
const struct group old_buf_group = GROUP(calls, prepare);

/* ---- pools ---- */

/* Returns true if the map that it needs still exists. True for NULL. */
static bool has_map(enum kind kind, const void *pointer)
{
	return pointer == NULL || object_by_id(MMAP, object_find(kind, pointer)->of) != NULL;
}

static void pool_create(void)
{
	union doca_data data = {.u64 = 5};
	struct doca_bufpool *pool;
	size_t num = random_below(5), size = chance(4) ? MEMORY_SIZE : random_below(300);
	size_t alignment = chance(3) ? random_below(70) : (size_t)1 << random_below(8);
	uint32_t extensions = chance(8);

	if (!has_room(OLD_POOL))
		return;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_bufpool **place = or_null(&pool);

	refuse_if(num == 0 || size == 0 || extensions != 0 || (alignment & (alignment - 1)) != 0);
	if (CALL(doca_bufpool_create, chance(2) ? &data : NULL, num, extensions, size, alignment, mmap, place) == DOCA_SUCCESS)
		object_add(OLD_POOL, pool)->of = object_find(MMAP, mmap)->id;
}

static bool pool_has_bufs(const struct doca_bufpool *pool)
{
	return pool != NULL && object_count_of(BUF, object_find(OLD_POOL, pool)->id) > 0;
}

static void pool_destroy(void)
{
	struct doca_bufpool *pool = pick(OLD_POOL);

	refuse_if(pool_has_bufs(pool));
	expect_if(true);
	if (CALL(doca_bufpool_destroy, pool) == DOCA_SUCCESS)
		object_drop(OLD_POOL, pool);
}

static void pool_start(void)
{
	struct doca_bufpool *pool = pick(OLD_POOL);

	if (has_map(OLD_POOL, pool))
		CALL(doca_bufpool_start, pool);
}

static void pool_stop(void)
{
	struct doca_bufpool *pool = pick(OLD_POOL);

	refuse_if(pool_has_bufs(pool));
	CALL(doca_bufpool_stop, pool);
}

static void pool_alloc(void)
{
	struct doca_buf *buf;
	struct doca_bufpool *pool = pick(OLD_POOL);

	if (!has_room(BUF) || !has_map(OLD_POOL, pool))
		return;
	struct doca_buf **place = or_null(&buf);

	if (CALL(doca_bufpool_buf_alloc, pool, place) == DOCA_SUCCESS)
		buf_made(buf, object_find(OLD_POOL, pool)->id, object_find(OLD_POOL, pool)->of);
}

CALL_GETTER(pool_num, doca_bufpool_get_num_elements, OLD_POOL, struct doca_bufpool, uint32_t, true)
CALL_GETTER(pool_num_free, doca_bufpool_get_num_free_elements, OLD_POOL, struct doca_bufpool, uint32_t, true)
CALL_GETTER(pool_user_data, doca_bufpool_get_user_data, OLD_POOL, struct doca_bufpool, union doca_data, true)

static const struct call pool_calls[] = {
	{"doca_bufpool_create", pool_create, 4},
	{"doca_bufpool_destroy", pool_destroy, 1, true},
	{"doca_bufpool_start", pool_start, 3},
	{"doca_bufpool_stop", pool_stop},
	{"doca_bufpool_buf_alloc", pool_alloc, 3},
	{"doca_bufpool_get_num_elements", pool_num},
	{"doca_bufpool_get_num_free_elements", pool_num_free},
	{"doca_bufpool_get_user_data", pool_user_data},
};
const struct group old_pool_group = GROUP(pool_calls, NULL);

/* ---- arrays ---- */

/* The 2.2 headers lack DOCA GPUNetIO, so today's calls create the GPU. All share one, as in a program. */
doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev);

static struct doca_gpu *the_gpu(void)
{
	static struct doca_gpu *gpu;

	if (gpu == NULL && doca_gpu_create("b5:00.0", &gpu) != DOCA_SUCCESS)
		gpu = NULL;
	return gpu;
}

static void array_create(void)
{
	struct doca_buf_arr *array;

	if (!has_room(OLD_ARRAY))
		return;
	struct doca_mmap *mmap = pick(MMAP);
	struct doca_buf_arr **place = or_null(&array);

	expect_if(true);
	if (CALL(doca_buf_arr_create, mmap, place) == DOCA_SUCCESS)
		object_add(OLD_ARRAY, array)->of = object_find(MMAP, mmap)->id;
}

static void array_destroy(void)
{
	struct doca_buf_arr *array = pick(OLD_ARRAY);

	expect_if(true);
	if (CALL(doca_buf_arr_destroy, array) == DOCA_SUCCESS)
		object_drop(OLD_ARRAY, array);
}

static void array_set_gpu(void)
{
	struct doca_buf_arr *array = pick(OLD_ARRAY);
	struct doca_gpu *gpu = or_null(the_gpu());

	CALL(doca_buf_arr_set_target_gpu, array, gpu);
}

static void array_set_params(void)
{
	struct doca_buf_arr *array = pick(OLD_ARRAY);
	size_t size = random_below(70);
	uint32_t num = chance(8) ? UINT32_MAX : random_below(8), offset = chance(2) ? 0 : random_below(MEMORY_SIZE);

	refuse_if(size == 0 || num == 0);
	CALL(doca_buf_arr_set_params, array, size, num, offset);
}

static void array_start(void)
{
	struct doca_buf_arr *array = pick(OLD_ARRAY);

	if (has_map(OLD_ARRAY, array))
		CALL(doca_buf_arr_start, array);
}

static void array_stop(void)
{
	struct doca_buf_arr *array = pick(OLD_ARRAY);

	CALL(doca_buf_arr_stop, array);
}

CALL_GETTER(array_handle, doca_buf_arr_get_gpu_handle, OLD_ARRAY, struct doca_buf_arr, struct doca_gpu_buf_arr *, false)

static const struct call array_calls[] = {
	{"doca_buf_arr_create", array_create, 2},
	{"doca_buf_arr_destroy", array_destroy, 1, true},
	{"doca_buf_arr_set_target_gpu", array_set_gpu, 2},
	{"doca_buf_arr_set_params", array_set_params, 2},
	{"doca_buf_arr_start", array_start, 3},
	{"doca_buf_arr_stop", array_stop},
	{"doca_buf_arr_get_gpu_handle", array_handle},
};
const struct group old_array_group = GROUP(array_calls, NULL);
