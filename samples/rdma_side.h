/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of an RDMA sample: a device, an instance on a progress engine, memory, and the connection to the other side. What a
 * sample is about (its tasks) is in its own file; it describes itself to side_main by a struct sample.
 */
#ifndef SAMPLES_RDMA_SIDE_H
#define SAMPLES_RDMA_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "common.h"
#include "rdma_exchange.h"
#include "rdma_options.h"

#define MEMORY_SIZE 4096
#define BUFS_MAX 32

struct side;

struct sample {
	const char *name, *peer;				      /* the other side's program */
	bool listens;						      /* called by address; the other side calls */
	uint32_t options;					      /* enum option_set; OPTION_SERVER is seen to */
	doca_error_t (*supports)(const struct doca_devinfo *devinfo); /* of the device; NULL: any */
	uint32_t permissions; /* what the peer may do: with the instance, and with the memory beside local reading and writing */
	doca_error_t (*configure)(struct side *side); /* before start: its tasks; or NULL */
	/* The descriptor of what the peer is to reach, made by export on one side and used by import on the other; or NULL. */
	doca_error_t (*export)(struct side *side, struct bytes *descriptor);
	doca_error_t (*import)(struct side *side, const struct bytes *descriptor);
	doca_error_t (*work)(struct side *side); /* connected */
	void (*clean)(struct side *side);	 /* what it made itself; or NULL */
};

struct side {
	const struct sample *sample;
	struct options options;
	struct exchange exchange;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap; /* of memory: whole pages, which a peer reaches without this process's help */
	char *memory;
	struct doca_mmap *remote; /* the peer's */
	struct doca_rdma_connection *connections[CONNECTIONS_MAX];
	struct doca_buf *bufs[BUFS_MAX];
	uint32_t num_bufs;
	uint32_t num_established, num_disconnected; /* by address */
	uint32_t letter_len;			    /* of the descriptor that came by RDMA */
	bool idle;				    /* the context is */
	uint32_t num_ended;			    /* tasks */
	doca_error_t status;			    /* of the first that failed */
};

/* A main function. */
int side_main(int argc, char **argv, const struct sample *sample);

/* For export and import: the memory. */
doca_error_t side_export_memory(struct side *side, struct bytes *descriptor);
doca_error_t side_import_memory(struct side *side, const struct bytes *descriptor);

/* Bufs: of our memory, with data or with room for it; the same of the peer's, from its beginning. They last until the end of
 * side_main. */
doca_error_t side_data(struct side *side, size_t offset, size_t len, struct doca_buf **buf);
doca_error_t side_room(struct side *side, size_t offset, size_t len, struct doca_buf **buf);
doca_error_t side_remote_data(struct side *side, size_t len, struct doca_buf **buf);
doca_error_t side_remote_room(struct side *side, size_t len, struct doca_buf **buf);

/* The end of every completion callback: notes it and frees the task. */
void side_task_ended(union doca_data side, struct doca_task *task);
/* Progresses until that many tasks have ended, or one has failed, which is its answer. */
doca_error_t side_wait(struct side *side, uint32_t num_tasks);
/* The same for another number that callbacks count. */
doca_error_t side_progress_until(struct side *side, const uint32_t *count, uint32_t num);
/* Waits until the peer has finished, or the user says so. */
doca_error_t side_wait_for_peer(struct side *side, const char *for_what);
/* Submits, and waits for the end. */
doca_error_t side_run(struct side *side, struct doca_task *task);

/* Prints a text from a peer, which may be anything: unprintable bytes as dots. */
void side_print(const char *what, const char *text, size_t len);

#endif
