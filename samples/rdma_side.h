/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of an RDMA sample: a device, an instance on a progress engine, memory, and the connection to the other side. Each
 * sample's file has its tasks and passes a struct sample to side_main.
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
	bool listens;						      /* with -cm: listens; the other side connects */
	uint32_t options;					      /* enum option_set; side_main adds OPTION_SERVER */
	doca_error_t (*supports)(const struct doca_devinfo *devinfo); /* of the device; NULL: any */
	uint32_t permissions; /* of the peer: for the instance and, besides local access, for the memory */
	doca_error_t (*configure)(struct side *side); /* called before start, to configure tasks; or NULL */
	/* Export on one side creates the descriptor of memory or an event, import on the other side uses it; or NULL. */
	doca_error_t (*export)(struct side *side, struct bytes *descriptor);
	doca_error_t (*import)(struct side *side, const struct bytes *descriptor);
	doca_error_t (*work)(struct side *side); /* called once connected */
	void (*clean)(struct side *side);	 /* frees the sample's own objects; or NULL */
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
	struct doca_mmap *mmap; /* of memory: whole pages, which a peer can access without help of this process */
	char *memory;
	struct doca_mmap *remote; /* the peer's */
	struct doca_rdma_connection *connections[CONNECTIONS_MAX];
	struct doca_buf *bufs[BUFS_MAX];
	uint32_t num_bufs;
	uint32_t num_established, num_disconnected; /* with -cm */
	uint32_t letter_len;			    /* of the descriptor received by RDMA */
	bool idle;				    /* the context is IDLE */
	uint32_t num_ended;			    /* tasks */
	doca_error_t status;			    /* of the first failed task */
};

/* The main function of a sample. */
int side_main(int argc, char **argv, const struct sample *sample);

/* Functions for export and import of the memory. */
doca_error_t side_export_memory(struct side *side, struct bytes *descriptor);
doca_error_t side_import_memory(struct side *side, const struct bytes *descriptor);

/* Return buffers: of our memory, with data or empty; of the peer's memory, from its beginning. Valid until side_main ends. */
doca_error_t side_data(struct side *side, size_t offset, size_t len, struct doca_buf **buf);
doca_error_t side_room(struct side *side, size_t offset, size_t len, struct doca_buf **buf);
doca_error_t side_remote_data(struct side *side, size_t len, struct doca_buf **buf);
doca_error_t side_remote_room(struct side *side, size_t len, struct doca_buf **buf);

/* Must end every completion callback: records the completion and frees the task. */
void side_task_ended(union doca_data side, struct doca_task *task);
/* Progresses until that many tasks have completed, or one has failed, whose status it returns. */
doca_error_t side_wait(struct side *side, uint32_t num_tasks);
/* The same for another counter of callbacks. */
doca_error_t side_progress_until(struct side *side, const uint32_t *count, uint32_t num);
/* Waits until the peer has finished, or the user presses Enter. */
doca_error_t side_wait_for_peer(struct side *side, const char *for_what);
/* Submits a task and waits for its completion. */
doca_error_t side_run(struct side *side, struct doca_task *task);

/* Prints an untrusted text from a peer, with dots for unprintable bytes. */
void side_print(const char *what, const char *text, size_t len);

#endif
