/* SPDX-License-Identifier: BSD-3-Clause */
/* What the samples of DOCA 2.2 need and none is about: a device, memory, patience with a work queue. */
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

/* Says on stderr what failed and why, and ends the program. */
void legacy_must(doca_error_t status, const char *what);

/* Opens the device of that address. From then on the libraries say on stderr why a call fails. */
struct doca_dev *legacy_open_device(const char *pci_address);

/* A work queue, memory, and bufs of it. */
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

/* Gives a context the desk's device, starts it and adds the desk's queue; and undoes it. */
void legacy_context_open(struct legacy_desk *desk, struct doca_ctx *ctx);
void legacy_context_close(struct legacy_desk *desk, struct doca_ctx *ctx);

/* Polls the queue for the next event. Ends the program when there is none for too long. */
doca_error_t legacy_retrieve(struct doca_workq *workq, struct doca_event *event);

/* For loops that wait: ends the program when they take too long. */
void legacy_patience(double begin, const char *what);
double legacy_now(void);

#endif
