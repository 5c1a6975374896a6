/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite of compress, AES-GCM and erasure coding, with the memory and engines that they need, and graphs of their tasks. */
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "abuse.h"
#include "buf_calls.h"

/* ---- suitable bufs: by chance alone, few belong to the context's device and have room ---- */

#define SUITABLE_LEN 1024

static void take_suitable(bool has_data)
{
	struct object *inventory = object_any(INVENTORY), *mmap = object_any(MMAP);
	uint8_t *at = memory + SUITABLE_LEN * random_below(MEMORY_SIZE / SUITABLE_LEN);
	struct doca_buf *buf;

	if (inventory == NULL || mmap == NULL || !has_room(BUF))
		return;
	if (CALL(doca_buf_inventory_buf_get_by_args, inventory->pointer, mmap->pointer, at, SUITABLE_LEN, at,
		 has_data ? SUITABLE_LEN / 2 : 0, &buf) == DOCA_SUCCESS)
		buf_made(buf, inventory->id, mmap->id);
}

static void buf_with_data(void)
{
	take_suitable(true);
}

static void buf_with_room(void)
{
	take_suitable(false);
}

/* Adds all devices to the memory map, and gets bufs from it. */
static void prepare(void)
{
	struct object *mmap = object_any(MMAP);
	struct doca_buf_inventory *inventory;

	if (mmap == NULL || CALL(doca_buf_inventory_create, 4, &inventory) != DOCA_SUCCESS)
		return;
	object_add(INVENTORY, inventory);
	CALL(doca_buf_inventory_start, inventory);
	CALL(doca_mmap_stop, mmap->pointer);
	for (uint32_t i = 0; i < object_count(DEV); i++)
		CALL(doca_mmap_add_dev, mmap->pointer, object_at(DEV, i)->pointer);
	CALL(doca_mmap_start, mmap->pointer);
	take_suitable(true);
	take_suitable(false);
}

static const struct call calls[] = {
	{"doca_buf_inventory_buf_get_by_args", buf_with_data, 2},
	{"doca_buf_inventory_buf_get_by_args", buf_with_room, 2},
};
static const struct group memory_group = GROUP(calls, prepare);

/* ---- the suite ---- */

static const struct group *const groups[] = {
	&dev_group,
	&mmap_group,
	&memory_group,
	&buf_group,
	&ctx_group,
	&compress_group,
	&aes_gcm_group,
#ifdef HAVE_ISAL
	&erasure_coding_group,
#endif
	&graph_group,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
const struct suite suite = {
	.num_sequences = 4000,
	.num_groups = COUNT(groups),
	.groups = groups,
};
