/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the DMA samples: a context that makes one copy after the other, and memory maps. */
#ifndef SAMPLES_DMA_COMMON_H
#define SAMPLES_DMA_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define COPIER_BUFS 16

struct copier {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf_inventory *inventory;
	bool ended;
	doca_error_t status; /* of the completed copy */
};

/* All functions print errors to stderr. */
doca_error_t copier_open(struct copier *copier, const char *pci_address);
void copier_close(struct copier *copier);

/* Appends the source's data to the destination, and waits for it. Either may be a list. */
doca_error_t copier_copy(struct copier *copier, const struct doca_buf *src, struct doca_buf *dst);

/* The same between ranges of two memory maps. */
doca_error_t copier_copy_range(struct copier *copier, struct doca_mmap *from, void *src, struct doca_mmap *to, void *dst,
			       size_t len);

/* Creates and starts a memory map of a range. */
doca_error_t map_memory(struct doca_dev *dev, void *memory, size_t len, uint32_t permissions, struct doca_mmap **mmap);

#endif
