/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue to the GPU: a progress engine with one producer and one consumer, their buffers and their tasks. Requests and
 * answers keep the order of datapath_send.
 *
 * Create it once; for every orchestrator open, (exchange consumer ids,) begin, use, close. One thread at a time.
 */
#ifndef REMOTE_OFFLOAD_SERVER_DATAPATH_H
#define REMOTE_OFFLOAD_SERVER_DATAPATH_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

/* Bytes of a message that may hold several frames, at most: an orchestrator may ask for less. */
#define DATAPATH_BATCH_BYTES 4096u

/* One message from the peer, valid only during the call. */
typedef void (*datapath_answer_cb_t)(void *user, const uint8_t *bytes, size_t len);

struct doca_buf;
struct doca_comch_producer_task_send;
struct doca_comch_consumer_task_post_recv;

/* A task and its buffer, looked up once and not for each message. */
struct datapath_send {
	struct doca_comch_producer_task_send *task;
	struct doca_buf *buf;
	uint8_t *bytes;
};

struct datapath_recv {
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf *buf;
	uint8_t *bytes;
};

struct datapath {
	struct doca_dev *dev;
	struct doca_pe *pe;
	/* Of one orchestrator. The next one gets other memory: a stopped orchestrator may still write to its own when it
	 * continues. */
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory; /* depth buffers for requests, depth for answers */
	size_t memory_len;
	uint32_t depth;	 /* tasks of each kind */
	uint32_t stride; /* bytes between buffers */
	uint32_t buffer_len;

	struct doca_comch_producer *producer; /* NULL while closed */
	struct doca_comch_consumer *consumer;
	struct datapath_send *sends, **free_sends; /* a stack: the one used last is still in the CPU's cache */
	struct datapath_recv *recvs;
	struct doca_task **ending_tasks; /* room for close */
	struct doca_buf **ending_bufs;
	uint32_t send_count, free_send_count, recv_count;

	datapath_answer_cb_t answer;
	void *user;
	bool closing;
	bool failed; /* a task failed: the peer is gone or broken */
};

doca_error_t datapath_create(struct doca_dev *dev, uint32_t depth, uint32_t buffer_len, datapath_answer_cb_t answer, void *user,
			     struct datapath **datapath);
void datapath_destroy(struct datapath *datapath);

/* Starts producer and consumer on this connection; the consumer is running only after progress of the control channel. */
doca_error_t datapath_open(struct datapath *datapath, struct doca_comch_connection *connection, uint32_t *consumer_id);
bool datapath_is_running(struct datapath *datapath);

/* Allocates the tasks for requests to that consumer of the peer, and posts all receives. */
doca_error_t datapath_begin(struct datapath *datapath, uint32_t remote_consumer_id);

/* Returns the buffer for the next message, or NULL while every task is in use; then try again after progress. */
uint8_t *datapath_room(const struct datapath *datapath);
/* Submits that buffer. AGAIN: the peer has no receive posted; write and try again after progress. */
doca_error_t datapath_send(struct datapath *datapath, size_t len);
/* Sends what datapath_send may have held back. */
void datapath_flush(struct datapath *datapath);

/* Runs completions, including answers. True if there were any. */
bool datapath_progress(struct datapath *datapath, uint32_t completions_max);

/* Ends tasks, producer and consumer; waits for them for a bounded time. */
void datapath_close(struct datapath *datapath);

#endif
