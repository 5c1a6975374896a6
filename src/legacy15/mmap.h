/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory map of the 1.5 API: ranges, each of which is one of today's memory maps with all devices. The ranges are started while
 * the map has a device; start and stop of the map itself only control which calls are valid.
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
	struct legacy15_range *ranges; /* array of max_ranges, allocated by the first start */
	struct doca_dev **devs;	       /* array of max_devs, likewise */
};

/* NULL, logged, without memory. */
struct legacy15_mmap *legacy15_mmap_new(const union doca_data *user_data);

/* Allocates the arrays of ranges and devices. NO_MEMORY, logged. */
doca_error_t legacy15_mmap_room_make(struct legacy15_mmap *mmap);

/* Frees the map, whose ranges are destroyed already. */
void legacy15_mmap_free(struct legacy15_mmap *mmap);

/* Returns whether the map has the device. */
bool legacy15_mmap_has_dev(const struct legacy15_mmap *mmap, const struct doca_dev *dev);

/* NOT_PERMITTED, logged, unless the map is started and was neither exported nor imported. */
doca_error_t legacy15_mmap_check_open(const struct legacy15_mmap *mmap, const char *function);

/* Today's memory map of the range that contains these bytes, or NULL. */
struct doca_mmap *legacy15_mmap_find(const struct legacy15_mmap *mmap, const void *addr, size_t len);

#endif
