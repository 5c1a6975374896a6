/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's traffic: requests go from sockets to the queue, answers from the queue to sockets. All of it runs on the
 * worker's thread.
 */
#ifndef REMOTE_OFFLOAD_SERVER_TRAFFIC_H
#define REMOTE_OFFLOAD_SERVER_TRAFFIC_H

#include "worker.h"

/* Adds a connection that may have a frame to the ready list, at most once, or removes it. */
void traffic_ready(struct worker *worker, struct connection *connection);
void traffic_unready(struct worker *worker, struct connection *connection);
/* Marks a connection that has answers to write. */
void traffic_dirty(struct worker *worker, struct connection *connection);

/* Close silently, or with one log line that names errno; the struct may be freed after either. */
void traffic_close(struct worker *worker, struct connection *connection);
void traffic_close_failed(struct worker *worker, struct connection *connection, const char *what);
void traffic_close_idle(struct worker *worker, struct connection *connection);
/* Frees a closed connection that nothing refers to any more. */
void traffic_release(struct worker *worker, struct connection *connection);

/* Requests at the GPU. */
uint32_t traffic_inflight(const struct worker *worker);

/* Reads and submits requests until the queue is full. True if any were read or sent. */
bool traffic_send_requests(struct worker *worker);
/* The queue's answer callback; user is the worker. */
void traffic_receive_answer(void *user, const uint8_t *bytes, size_t len);
/* Writes to connections that have much to write; to all if enough is unwritten or `all` is set. */
void traffic_write_answers(struct worker *worker, bool all);
/* All received answers are written, or their sockets are full. */
static inline bool traffic_is_written(const struct worker *worker)
{
	return worker->dirty == NULL;
}

#endif
