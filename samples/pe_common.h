/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the samples of the progress engine share and none is about: memory cut into slots, each a source and the destination
 * that a DMA task copies it to.
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

/* A device for DMA, the memory, a progress engine. Everything says on stderr what failed. */
doca_error_t desk_open(struct desk *desk);
void desk_close(struct desk *desk);

/* The slot's source is filled, its destination is empty. */
uint8_t *desk_source(const struct desk *desk, int slot);
uint8_t *desk_destination(const struct desk *desk, int slot);

/* A context that copies, connected, with its callbacks, not started. They get user_data as the context's. */
doca_error_t desk_dma_create(struct desk *desk, doca_dma_task_memcpy_completion_cb_t completed,
			     doca_dma_task_memcpy_completion_cb_t failed, void *user_data, struct doca_dma **dma);

/* Stops the context, waits until it is IDLE and destroys it. Its tasks are free, or their callbacks free them. */
doca_error_t desk_dma_destroy(struct desk *desk, struct doca_dma *dma);

/* A task that copies len bytes of the slot's source. The slot is its user data. */
doca_error_t desk_task(struct desk *desk, struct doca_dma *dma, int slot, size_t len, struct doca_dma_task_memcpy **task);

/* Submits such a task. */
doca_error_t desk_submit(struct desk *desk, struct doca_dma *dma, int slot, size_t len);

/* Frees a task and what it copied from and to. */
void desk_task_free(struct doca_dma_task_memcpy *task);

/* The buffers of a slot, as desk_task uses them. */
doca_error_t desk_bufs(struct desk *desk, int slot, size_t len, struct doca_buf **source, struct doca_buf **destination);

/* How many of the slots hold the same in both halves? */
int desk_num_copied(const struct desk *desk);

#endif
