/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's part of the measurement: the connection between the DPU's server and the host's client, with a consumer and a producer
 * on the CPU. */
#ifndef PERF_COMCH_H
#define PERF_COMCH_H

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>

#include "perf/perf.h"

struct perf_comch {
	struct doca_pe *pe; /* of the connection */
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	uint32_t remote_consumer; /* 0: none yet */
	/* the queue */
	struct doca_pe *data_pe;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	struct doca_comch_producer_task_send **idle; /* sends that are not in flight */
	uint32_t num_idle;
	uint64_t submitted, sent, received;
	uint64_t taken; /* received messages that the measurement has waited for */
};

/* Opens the server on the near side and the client on the far one, and connects them. */
void perf_comch_open(struct perf_side *side, struct perf_comch *comch);
void perf_comch_close(struct perf_side *side, struct perf_comch *comch);

/* Waits until the consumer, on CPU or GPU, and the peer's consumer are running. */
void perf_comch_await_consumers(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *consumer);

/* Stops a consumer or producer, and waits until it is idle. */
void perf_comch_stop(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *ctx);

/* Allocates depth sends of side->size bytes, and 2 depth + 2 receives, which are posted again on completion. */
void perf_queue_open(struct perf_side *side, struct perf_comch *comch);
void perf_queue_close(struct perf_side *side, struct perf_comch *comch);

/* Sends one message if a task is idle and the peer has room. */
bool perf_queue_send(struct perf_comch *comch);

/* Waits for `number` more messages, or until all sends are done. */
void perf_queue_take(const struct perf_side *side, struct perf_comch *comch, uint64_t number);
void perf_queue_finish(const struct perf_side *side, const struct perf_comch *comch);

/* Sends a message and waits for its answer, `rounds` times. */
void perf_queue_ping(const struct perf_side *side, struct perf_comch *comch, uint64_t rounds, struct timing *timing);

#endif
