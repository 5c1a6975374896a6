/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inventories and bufs. A buf is a user of its map; its `of` is its inventory or pool; its flag says that it is inside a list,
 * not its head. Tasks are users of a buf: a buf with users is not released, because a task holds no reference.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>

#include "abuse.h"
#include "buf_calls.h"

static void map_user(const struct doca_buf *buf, int change)
{
	uint64_t id = map_of[buf_index(buf)];
	struct object *mmap = id != 0 ? object_by_id(MMAP, id) : NULL;

	if (mmap != NULL)
		mmap->users = (uint32_t)((int)mmap->users + change);
}

/* ---- the map of each buf, by its place in the table ---- */

static const struct doca_buf *bufs[OBJECTS_MAX];
uint64_t map_of[OBJECTS_MAX];

uint32_t buf_index(const struct doca_buf *buf)
{
	uint32_t i = 0;

	while (i < OBJECTS_MAX - 1 && bufs[i] != buf)
		i++;
	return i;
}

uint64_t buf_map_id(const struct doca_buf *buf)
{
	return map_of[buf_index(buf)];
}

void buf_made(struct doca_buf *buf, uint64_t source_id, uint64_t mmap_id)
{
	object_add(BUF, buf)->of = source_id;
	uint32_t i = buf_index(NULL);

	bufs[i] = buf;
	map_of[i] = mmap_id;
	map_user(buf, 1);
}

static void buf_gone(struct doca_buf *buf)
{
	map_user(buf, -1);
	bufs[buf_index(buf)] = NULL;
	object_drop(BUF, buf);
}

/* ---- inventories ---- */

static void create(void)
{
	struct doca_buf_inventory *inventory;
	size_t num = random_below(7);

	if (!has_room(INVENTORY))
		return;
	struct doca_buf_inventory **place = or_null(&inventory);

	refuse_if(num == 0);
	expect_if(true);
	if (CALL(doca_buf_inventory_create, num, place) == DOCA_SUCCESS)
		object_add(INVENTORY, inventory);
}

static bool has_bufs(uint64_t source)
{
	for (uint32_t i = 0; i < OBJECTS_MAX; i++) {
		struct object *buf = bufs[i] != NULL ? object_find(BUF, bufs[i]) : NULL;

		if (buf != NULL && buf->of == source)
			return true;
	}
	return false;
}

bool source_has_bufs(enum kind kind, void *source)
{
	return source != NULL && has_bufs(object_find(kind, source)->id);
}

static void destroy(void)
{
	struct doca_buf_inventory *inventory = pick(INVENTORY);
	bool in_use = source_has_bufs(INVENTORY, inventory);

	refuse_if(in_use);
	expect_if(!in_use);
	if (CALL(doca_buf_inventory_destroy, inventory) == DOCA_SUCCESS)
		object_drop(INVENTORY, inventory);
}

static void start(void)
{
	struct doca_buf_inventory *object = pick(INVENTORY);

	CALL(doca_buf_inventory_start, object);
}

static void stop(void)
{
	struct doca_buf_inventory *object = pick(INVENTORY);

	CALL(doca_buf_inventory_stop, object);
}

static void expand(void)
{
	struct doca_buf_inventory *object = pick(INVENTORY);

	CALL(doca_buf_inventory_expand, object, random_below(4));
}

static void set_user_data(void)
{
	struct doca_buf_inventory *object = pick(INVENTORY);

	CALL(doca_buf_inventory_set_user_data, object, (union doca_data){.u64 = 3});
}

#define INVENTORY_GETTER(name, function, type) CALL_GETTER(name, function, INVENTORY, struct doca_buf_inventory, type, true)
INVENTORY_GETTER(get_num, doca_buf_inventory_get_num_elements, uint32_t)
INVENTORY_GETTER(get_num_free, doca_buf_inventory_get_num_free_elements, uint32_t)
INVENTORY_GETTER(get_user_data, doca_buf_inventory_get_user_data, union doca_data)

/* ---- getting bufs ---- */

static uint64_t id_of(enum kind kind, const void *pointer)
{
	return pointer != NULL ? object_find(kind, pointer)->id : 0;
}

/* `...` are the function's arguments between the map and the buf. */
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
			buf_made(buf, id_of(INVENTORY, inventory), id_of(MMAP, mmap));                                           \
	}
TAKE(get_by_args, doca_buf_inventory_buf_get_by_args, addr, len, addr + len / 4, len / 2)
TAKE(get_by_addr, doca_buf_inventory_buf_get_by_addr, addr, len)
TAKE(get_by_data, doca_buf_inventory_buf_get_by_data, addr, len)

/* A copy needs as many bufs as the list has. Each copied buf is in the map of its original. */
static void dup_buf(void)
{
	struct doca_buf *copy, *next = NULL;
	uint32_t num = 1;

	struct doca_buf_inventory *inventory = pick(INVENTORY);
	struct doca_buf *buf = pick(BUF);
	struct doca_buf **place = or_null(&copy);

	if (buf != NULL && doca_buf_get_list_len(buf, &num) != DOCA_SUCCESS)
		num = 1;
	if (object_count(BUF) + num > OBJECTS_MAX || is_ending())
		return;
	refuse_if(buf != NULL && object_find(BUF, buf)->flag);
	if (CALL(doca_buf_inventory_buf_dup, inventory, buf, place) != DOCA_SUCCESS)
		return;
	for (bool inside = false; copy != NULL; copy = next, inside = true) {
		(void)doca_buf_get_next_in_list(copy, &next);
		uint64_t mmap = map_of[buf_index(buf)];

		(void)doca_buf_get_next_in_list(buf, &buf);
		buf_made(copy, id_of(INVENTORY, inventory), mmap);
		object_find(BUF, copy)->flag = inside;
	}
}

/* Returns whether the buf's map exists and no task uses the buf: these calls do not check more. */
static bool can_reuse(const struct doca_buf *buf)
{
	struct object *object = object_find(BUF, buf), *mmap = object_by_id(MMAP, map_of[buf_index(buf)]);

	return mmap != NULL && object->users == 0;
}

#define REUSE(name, function, ...)                                                                                               \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		uint8_t *addr;                                                                                                   \
		size_t len;                                                                                                      \
		struct doca_buf *buf = pick(BUF);                                                                                \
		random_range(&addr, &len);                                                                                       \
		if (buf == NULL || can_reuse(buf))                                                                               \
			CALL(function, buf, __VA_ARGS__);                                                                        \
	}
REUSE(reuse_by_args, doca_buf_inventory_buf_reuse_by_args, addr, len, addr + len / 4, chance(4) ? len : len / 2)
REUSE(reuse_by_addr, doca_buf_inventory_buf_reuse_by_addr, addr, len)
REUSE(reuse_by_data, doca_buf_inventory_buf_reuse_by_data, addr, len)

/* ---- references ---- */

static void inc_refcount(void)
{
	uint16_t count;
	struct doca_buf *buf = pick(BUF);

	refuse_if(buf != NULL && object_find(BUF, buf)->flag);
	CALL(doca_buf_inc_refcount, buf, chance(2) ? &count : NULL);
}

/* Returns true if a task uses a buf of this list. */
static bool list_has_users(struct doca_buf *buf)
{
	for (; buf != NULL; (void)doca_buf_get_next_in_list(buf, &buf)) {
		if (object_find(BUF, buf)->users > 0)
			return true;
	}
	return false;
}

static void dec_refcount(void)
{
	uint16_t before = 0;
	struct doca_buf *buf = pick(BUF), *list[OBJECTS_MAX], *next;
	uint32_t num = 0;

	if (buf != NULL && list_has_users(buf))
		return;
	for (next = buf; next != NULL; (void)doca_buf_get_next_in_list(next, &next))
		list[num++] = next;
	bool inside = buf != NULL && object_find(BUF, buf)->flag;

	refuse_if(inside);
	expect_if(!inside);
	if (buf != NULL)
		(void)doca_buf_get_refcount(buf, &before);
	if (CALL(doca_buf_dec_refcount, buf, chance(2) ? &before : NULL) != DOCA_SUCCESS || before > 1)
		return;
	for (uint32_t i = 0; i < num; i++)
		buf_gone(list[i]);
}

/* ---- fields ---- */

#define GETTER(name, function, type, sure) CALL_GETTER(name, function, BUF, struct doca_buf, type, sure)
GETTER(get_refcount, doca_buf_get_refcount, uint16_t, true)
GETTER(get_len, doca_buf_get_len, size_t, true)
GETTER(get_head, doca_buf_get_head, void *, true)
GETTER(get_data_len, doca_buf_get_data_len, size_t, true)
GETTER(get_data, doca_buf_get_data, void *, true)
GETTER(get_next, doca_buf_get_next_in_list, struct doca_buf *, true)
GETTER(get_last, doca_buf_get_last_in_list, struct doca_buf *, true)
GETTER(is_last, doca_buf_is_last_in_list, uint8_t, true)
GETTER(is_first, doca_buf_is_first_in_list, uint8_t, true)
GETTER(is_in_list, doca_buf_is_in_list, uint8_t, true)
GETTER(get_list_len, doca_buf_get_list_len, uint32_t, false)

/* Stays inside the buf; outside, the result is undefined. A task in flight owns the bufs that it names. */
static void set_data(void)
{
	struct doca_buf *buf = pick(BUF);
	void *head = memory;
	size_t len = 0, from;

	if (buf != NULL && object_find(BUF, buf)->users > 0)
		return;
	if (buf != NULL) {
		(void)doca_buf_get_head(buf, &head);
		(void)doca_buf_get_len(buf, &len);
	}
	from = len > 0 ? random_below((uint32_t)len) : 0;
	expect_if(true);
	CALL(doca_buf_set_data, buf, (uint8_t *)head + from, len > from ? random_below((uint32_t)(len - from + 1)) : 0);
}

static void set_data_len(void)
{
	struct doca_buf *buf = pick(BUF);
	void *head = NULL, *data = NULL;
	size_t len = 0;

	if (buf != NULL && object_find(BUF, buf)->users > 0)
		return;
	if (buf != NULL) {
		(void)doca_buf_get_head(buf, &head);
		(void)doca_buf_get_data(buf, &data);
		(void)doca_buf_get_len(buf, &len);
		len -= (size_t)((uint8_t *)data - (uint8_t *)head);
	}
	expect_if(true);
	CALL(doca_buf_set_data_len, buf, random_below((uint32_t)len + 1));
}

static void reset_data_len(void)
{
	struct doca_buf *buf = pick(BUF);

	if (buf != NULL && object_find(BUF, buf)->users > 0)
		return;
	expect_if(true);
	CALL(doca_buf_reset_data_len, buf);
}

/* ---- lists ---- */

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
	if (CALL(doca_buf_chain_list, first, second) == DOCA_SUCCESS)
		object_find(BUF, second)->flag = true;
}

static void chain_tail(void)
{
	struct doca_buf *first = pick(BUF), *tail = NULL, *second;

	if (first != NULL && chance(2))
		(void)doca_buf_get_last_in_list(first, &tail);
	if (tail == NULL)
		tail = pick(BUF);
	second = pick(BUF);
	if (is_busy(first) || is_busy(tail) || is_busy(second))
		return;
	if (CALL(doca_buf_chain_list_tail, first, tail, second) == DOCA_SUCCESS)
		object_find(BUF, second)->flag = true;
}

static void unchain(void)
{
	struct doca_buf *first = pick(BUF), *second = NULL;

	if (first != NULL && chance(2))
		(void)doca_buf_get_next_in_list(first, &second);
	if (second == NULL)
		second = pick(BUF);
	if (is_busy(first) || is_busy(second))
		return;
	if (CALL(doca_buf_unchain_list, first, second) == DOCA_SUCCESS)
		object_find(BUF, second)->flag = false;
}

static void prepare(void)
{
	struct doca_buf_inventory *inventory;
	struct object *mmap = object_any(MMAP);
	struct doca_buf *buf;

	if (CALL(doca_buf_inventory_create, 6, &inventory) != DOCA_SUCCESS)
		return;
	uint64_t id = object_add(INVENTORY, inventory)->id;

	CALL(doca_buf_inventory_start, inventory);
	for (uint32_t i = 0; i < 3 && mmap != NULL; i++) {
		if (CALL(doca_buf_inventory_buf_get_by_data, inventory, mmap->pointer, memory + 4096 * (i + 1), 64 * i, &buf) ==
		    DOCA_SUCCESS)
			buf_made(buf, id, mmap->id);
	}
}

static const struct call calls[] = {
	{"doca_buf_inventory_create", create, 2},
	{"doca_buf_inventory_destroy", destroy, 1, true},
	{"doca_buf_inventory_start", start, 3},
	{"doca_buf_inventory_stop", stop},
	{"doca_buf_inventory_expand", expand},
	{"doca_buf_inventory_set_user_data", set_user_data},
	{"doca_buf_inventory_get_num_elements", get_num},
	{"doca_buf_inventory_get_num_free_elements", get_num_free},
	{"doca_buf_inventory_get_user_data", get_user_data},
	{"doca_buf_inventory_buf_get_by_args", get_by_args, 4},
	{"doca_buf_inventory_buf_get_by_addr", get_by_addr, 4},
	{"doca_buf_inventory_buf_get_by_data", get_by_data, 6},
	{"doca_buf_inventory_buf_dup", dup_buf, 2},
	{"doca_buf_inventory_buf_reuse_by_args", reuse_by_args},
	{"doca_buf_inventory_buf_reuse_by_addr", reuse_by_addr},
	{"doca_buf_inventory_buf_reuse_by_data", reuse_by_data},
	{"doca_buf_inc_refcount", inc_refcount},
	{"doca_buf_dec_refcount", dec_refcount, 4, true},
	{"doca_buf_get_refcount", get_refcount},
	{"doca_buf_get_len", get_len},
	{"doca_buf_get_head", get_head},
	{"doca_buf_get_data_len", get_data_len},
	{"doca_buf_get_data", get_data},
	{"doca_buf_get_next_in_list", get_next},
	{"doca_buf_get_last_in_list", get_last},
	{"doca_buf_is_last_in_list", is_last},
	{"doca_buf_is_first_in_list", is_first},
	{"doca_buf_is_in_list", is_in_list},
	{"doca_buf_get_list_len", get_list_len},
	{"doca_buf_set_data", set_data},
	{"doca_buf_set_data_len", set_data_len},
	{"doca_buf_reset_data_len", reset_data_len},
	{"doca_buf_chain_list", chain, 3},
	{"doca_buf_chain_list_tail", chain_tail, 2},
	{"doca_buf_unchain_list", unchain, 2},
};
const struct group buf_group = GROUP(calls, prepare);
