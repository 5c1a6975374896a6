/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps, as the libraries see them. */
#ifndef SF_MEM_MMAP_H
#define SF_MEM_MMAP_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_mmap.h>

#include "base/visibility.h"
#include "fabric/fabric.h"

/* The beginning of every mmap. */
struct sf_mmap_head {
	uint64_t id;
};

/*
 * Identifies one start of one mmap: unique in a process, 0 while stopped. Data that a library caches about a mmap is valid for
 * this id; by then the pointer may belong to another mmap. Cheap enough for a data path.
 */
static inline uint64_t sf_mmap_id(const struct doca_mmap *mmap)
{
	return ((const struct sf_mmap_head *)(const void *)mmap)->id;
}

/* A started mmap that a library uses cannot be stopped or destroyed (NOT_PERMITTED). Any thread. */
SF_API doca_error_t
sf_mmap_hold(struct doca_mmap *mmap); /* Returns true if the range is memory of a real GPU, which no CPU can access. */
SF_API void sf_mmap_release(struct doca_mmap *mmap);

SF_API uint32_t sf_mmap_permissions(const struct doca_mmap *mmap);
SF_API bool sf_mmap_has_dev(const struct doca_mmap *mmap, const struct doca_dev *dev);
SF_API bool sf_mmap_contains(const struct doca_mmap *mmap, const void *addr, size_t len);
/* True when the range is memory of a real GPU, which no CPU can touch. */
SF_API bool sf_mmap_is_gpu_memory(const struct doca_mmap *mmap);

/* The region of the whole range in the device's domain, with the rights that the permissions give; registered on first
 * use, closed by stop. NOT_FOUND when the mmap has no such device. */
SF_API doca_error_t sf_mmap_region(struct doca_mmap *mmap, struct doca_dev *dev, struct sf_region **region);

/* Memory that was exported over PCI, as the local operand of a network operation: where it is in this process. */
struct sf_mmap_here {
	uint8_t *addr; /* corresponds to the beginning of the range */
	/*
	 * Not every byte can be mapped, so addr is a bounce buffer. A reader first copies the owner's memory into it; a writer
	 * afterwards copies it to the owner's memory.
	 */
	bool bounced;
};

/* Created on first use, and freed with the mmap. There are two bounce buffers, so that incoming data is not overwritten by a copy
 * of outgoing data. NOT_FOUND: not imported with the device; NO_MEMORY, logged. */
SF_API doca_error_t sf_mmap_find_here(struct doca_mmap *mmap, struct doca_dev *dev, bool written, struct sf_mmap_here *here);
/* The region of that memory, for receives, which are written to. */
SF_API doca_error_t sf_mmap_here_region(struct doca_mmap *mmap, struct doca_dev *dev, struct sf_region **region);

#endif
