/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers for the samples of the progress engine: memory divided into slots, each a source and the destination to which a DMA
 * task copies it.
 */
#ifndef SAMPLES_PE_COMMON_H
#define SAMPLES_PE_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define NUM_SLOTS 16
#define SLOT_BYTES 1024

struct desk {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	uint8_t *memory;
};

/* Opens a device for DMA, the memory and a progress engine. All functions print errors to stderr. */
doca_error_t desk_open(struct desk *desk);
void desk_close(struct desk *desk);

/* Source and destination of a slot. desk_open fills the source and clears the destination. */
uint8_t *desk_source(const struct desk *desk, int slot);
uint8_t *desk_destination(const struct desk *desk, int slot);

/* Creates a connected DMA context with callbacks, but does not start it. user_data is the context's user data. */
doca_error_t desk_dma_create(struct desk *desk, doca_dma_task_memcpy_completion_cb_t completed,
			     doca_dma_task_memcpy_completion_cb_t failed, void *user_data, struct doca_dma **dma);

/* Stops the context, waits until it is IDLE and destroys it. Its tasks must be freed, or their callbacks free them. */
doca_error_t desk_dma_destroy(struct desk *desk, struct doca_dma *dma);

/* Allocates a task that copies len bytes of the slot's source. The slot is its user data. */
doca_error_t desk_task(struct desk *desk, struct doca_dma *dma, int slot, size_t len, struct doca_dma_task_memcpy **task);

/* Allocates and submits such a task. */
doca_error_t desk_submit(struct desk *desk, struct doca_dma *dma, int slot, size_t len);

/* Frees a task and its buffers. */
void desk_task_free(struct doca_dma_task_memcpy *task);

/* Gets the buffers of a slot, as desk_task uses them. */
doca_error_t desk_bufs(struct desk *desk, int slot, size_t len, struct doca_buf **source, struct doca_buf **destination);

/* Returns how many slots are copied correctly. */
int desk_num_copied(const struct desk *desk);

#endif
