/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory map of the 1.5 API: ranges, each of which is one of today's memory maps with all devices. Those are started while
 * there is a device; starting and stopping the map itself only says what may be done with it.
 */
#ifndef LEGACY15_MMAP_H
#define LEGACY15_MMAP_H

#include <stdbool.h>

#include <doca_mmap.h>

#include "legacy15/legacy15.h"

struct legacy15_range {
	struct doca_mmap *map;
	uint8_t *addr;
	size_t len;
	doca_mmap_memrange_free_cb_t *free_cb; /* or NULL */
	void *opaque;
};

struct legacy15_mmap {
	union doca_data user_data;
	bool started, was_started, exported, imported;
	uint32_t max_ranges, num_ranges;
	uint32_t max_devs, num_devs;
	struct legacy15_range *ranges; /* room for max_ranges, from the first start on */
	struct doca_dev **devs;	       /* room for max_devs, likewise */
};

/* NULL, logged: out of memory. */
struct legacy15_mmap *legacy15_mmap_new(const union doca_data *user_data);

/* Room for as many ranges and devices as the map may have. NO_MEMORY, logged. */
doca_error_t legacy15_mmap_room_make(struct legacy15_mmap *mmap);

/* Gives the map back; its ranges are ended. */
void legacy15_mmap_free(struct legacy15_mmap *mmap);

/* Does the map have the device? */
bool legacy15_mmap_has_dev(const struct legacy15_mmap *mmap, const struct doca_dev *dev);

/* NOT_PERMITTED, logged, unless the map is started and was neither exported nor imported. */
doca_error_t legacy15_mmap_check_open(const struct legacy15_mmap *mmap, const char *function);

/* Today's memory map of the range that holds these bytes, or NULL. */
struct doca_mmap *legacy15_mmap_find(const struct legacy15_mmap *mmap, const void *addr, size_t len);

#endif
