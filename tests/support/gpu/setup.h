/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of a Comch connection with queues between a CPU and a GPU: the peer is the server and runs on the CPU; the GPU's
 * process is the client. For the benchmark and the tests; errors end the process.
 */
#ifndef TEST_GPU_SETUP_H
#define TEST_GPU_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_dev.h>
#include <doca_gpunetio.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "echo.h"
#include "support/check.h"

#define SETUP_QUEUES_MAX 64
#define SETUP_DEADLINE_S 20

/* Opens the device of that address; or a representor of it. */
struct doca_dev_rep *setup_open_rep(struct doca_dev *dev, const char *pci_addr);

struct setup_queue {
	struct doca_pe *pe;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	uint8_t *memory; /* peer: all buffers of the queue; GPU's process: an address for kernels */
	size_t memory_len;
	uint32_t remote_id; /* of the consumer at the other end */
};

struct setup_end {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe; /* control */
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_comch_connection *connection;
	uint32_t remote_consumers; /* how many the other end has */
	bool lost;		   /* the other end has disconnected */
	bool queues_stopped;
	uint32_t num_queues;
	struct setup_queue queues[SETUP_QUEUES_MAX];
	/* the GPU's process */
	struct doca_gpu *gpu;
	void *echo_queues, *pipes;
	volatile uint32_t *stop_cpu;
	struct echo_args args;
	const char *dev_addr;
};

/* Start the server, and wait for its client; setup_serve does both. */
void setup_listen(struct setup_end *end, const char *name);
void setup_accept(struct setup_end *end);
void setup_serve(struct setup_end *end, const char *name);
/* Runs the client, as soon as there is a server; returns when connected. */
void setup_connect(struct setup_end *end, const char *name);

/* Numbers of a queue's tasks. */
struct setup_tasks {
	uint32_t sends, recvs;
	size_t memory_len;
	doca_comch_producer_task_send_completion_cb_t sent, send_failed;
	doca_comch_consumer_task_post_recv_completion_cb_t received, recv_failed;
	bool one_pe; /* all queues on the control progress engine */
};

/* Creates the peer's queues on the CPU; user_data[i] goes to the contexts of queue i. Returns when all run and the other end's
 * are known. */
void setup_cpu_queues(struct setup_end *end, uint32_t num, const struct setup_tasks *tasks, void *const *user_data);
/* Creates the GPU's queues, and the argument for the kernels. */
void setup_gpu_queues(struct setup_end *end, uint32_t num, const char *gpu_addr, uint32_t num_bufs, uint32_t buf_size,
		      uint32_t sends);

struct softfield_launch;

/* Starts a kernel of echo.cu on end->args: one thread, warp or block for each queue, or two blocks (pipe). */
enum setup_scope { SETUP_THREAD, SETUP_WARP, SETUP_BLOCK, SETUP_PIPE, SETUP_SCOPES };
void setup_launch(struct setup_end *end, enum setup_scope scope, uint32_t block_threads, struct softfield_launch **launch);
/* Launches the kernel that writes to end->args.bad_address. */
void setup_launch_fault(struct setup_end *end, struct softfield_launch **launch);
extern const char *const setup_scope_names[SETUP_SCOPES];

/* Polls everything once. */
void setup_progress(struct setup_end *end);

/* Stops producers and consumers. */
void setup_stop_queues(struct setup_end *end);

/* Stops and destroys everything, in order. */
void setup_teardown(struct setup_end *end);

#endif
