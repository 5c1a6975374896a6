/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's part in the measurement: the connection between the DPU's server and the host's client, and on it one queue of the
 * CPU's, a consumer and a producer. */
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
	uint32_t remote_consumer; /* 0: there is none yet */
	/* the queue */
	struct doca_pe *data_pe;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	struct doca_comch_producer_task_send **idle; /* those that are not in flight */
	uint32_t num_idle;
	uint64_t submitted, sent, received;
	uint64_t taken; /* of those that were received: what the measurement has waited for */
};

/* The server on the near side, the client on the far one: both are connected when it returns. */
void perf_comch_open(struct perf_side *side, struct perf_comch *comch);
void perf_comch_close(struct perf_side *side, struct perf_comch *comch);

/* After the context of a consumer is on its way to run, on either kind of queue: waits for it, and for the one of the peer. */
void perf_comch_await_consumers(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *consumer);

/* Stops a consumer or producer, and waits for its end. */
void perf_comch_stop(const struct perf_side *side, const struct perf_comch *comch, struct doca_ctx *ctx);

/* depth sends of side->size bytes, and twice as many receives and two, which post themselves again. */
void perf_queue_open(struct perf_side *side, struct perf_comch *comch);
void perf_queue_close(struct perf_side *side, struct perf_comch *comch);

/* Sends one message if a task is idle and the peer has room. */
bool perf_queue_send(struct perf_comch *comch);

/* Waits for so many messages more, or until all sends are done. */
void perf_queue_take(const struct perf_side *side, struct perf_comch *comch, uint64_t number);
void perf_queue_finish(const struct perf_side *side, const struct perf_comch *comch);

/* Sends one message and waits for its answer, so many times. */
void perf_queue_ping(const struct perf_side *side, struct perf_comch *comch, uint64_t rounds, struct timing *timing);

#endif
