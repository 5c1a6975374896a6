/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker does with its connections: requests go from sockets to the queue, answers from the queue to sockets. All of
 * it runs on the worker's thread.
 */
#ifndef REMOTE_OFFLOAD_SERVER_TRAFFIC_H
#define REMOTE_OFFLOAD_SERVER_TRAFFIC_H

#include "worker.h"

/* The connection may have a frame, or has none; it is in the ready list at most once. */
void traffic_ready(struct worker *worker, struct connection *connection);
void traffic_unready(struct worker *worker, struct connection *connection);
/* It has answers to write. */
void traffic_dirty(struct worker *worker, struct connection *connection);

/* Closes without a word, or with one line that names errno; the struct may be gone after either. */
void traffic_close(struct worker *worker, struct connection *connection);
void traffic_close_failed(struct worker *worker, struct connection *connection, const char *what);
void traffic_close_idle(struct worker *worker, struct connection *connection);
/* Frees a closed connection that nothing refers to any more. */
void traffic_release(struct worker *worker, struct connection *connection);

/* Requests at the GPU. */
uint32_t traffic_inflight(const struct worker *worker);

/* Reads and submits what the queue takes: true when anything moved. */
bool traffic_send_requests(struct worker *worker);
/* The queue's answer callback; user is the worker. */
void traffic_receive_answer(void *user, const uint8_t *bytes, size_t len);
/* Writes to connections that have much to write, or to all when enough has come or all is asked for. */
void traffic_write_answers(struct worker *worker, bool all);
/* All that were taken are written, or their sockets are full. */
static inline bool traffic_is_written(const struct worker *worker)
{
	return worker->dirty == NULL;
}

#endif
