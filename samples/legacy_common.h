/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for the samples of DOCA 2.2: a device, memory, and waiting for a work queue with a timeout. */
#ifndef SAMPLES_LEGACY_COMMON_H
#define SAMPLES_LEGACY_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

#define LEGACY_PATIENCE_SECONDS 30

/* If status is an error, prints what failed and why to stderr, and ends the program. */
void legacy_must(doca_error_t status, const char *what);

/* Opens the device with that address. From then on the libraries log errors to stderr. */
struct doca_dev *legacy_open_device(const char *pci_address);

/* A work queue, memory, and its buffers. */
struct legacy_desk {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_workq *workq;
};

void legacy_desk_open(struct legacy_desk *desk, const char *pci_address, void *memory, size_t size, uint32_t depth);
void legacy_desk_close(struct legacy_desk *desk);

struct doca_buf *legacy_source(struct legacy_desk *desk, void *data, size_t len);
struct doca_buf *legacy_room(struct legacy_desk *desk, void *addr, size_t len);

/* Adds the desk's device to a context, starts it and adds the desk's queue; the other function undoes it. */
void legacy_context_open(struct legacy_desk *desk, struct doca_ctx *ctx);
void legacy_context_close(struct legacy_desk *desk, struct doca_ctx *ctx);

/* Polls the queue for the next event. Ends the program on a timeout. */
doca_error_t legacy_retrieve(struct doca_workq *workq, struct doca_event *event);

/* For polling loops: ends the program on a timeout. */
void legacy_patience(double begin, const char *what);
double legacy_now(void);

#endif
