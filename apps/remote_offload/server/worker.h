/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data path thread: pinned to one CPU, it serves its TCP connections through one queue to the GPU. It shares no data path
 * state; the main thread hands it connections and orders, and it signals completed orders through the notify descriptor.
 */
#ifndef REMOTE_OFFLOAD_SERVER_WORKER_H
#define REMOTE_OFFLOAD_SERVER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "connection.h"
#include "datapath.h"
#include "watchdog.h"

enum worker_order {
	WORKER_IDLE,	/* hold requests back: there is no orchestrator */
	WORKER_SERVE,	/* the data path is ready */
	WORKER_ABANDON, /* the orchestrator is lost: fail what is in flight, then become idle */
	WORKER_DRAIN,	/* read no more, finish what was read, close all connections */
	WORKER_EXIT,	/* close all connections and end the thread */
};

/* Written by the worker alone, read by the main thread at the end or for a log line. */
struct worker_stats {
	uint64_t connections, requests, answers, bytes_in, bytes_out;
	uint64_t bad_connections;  /* closed for invalid input or a socket error */
	uint64_t idle_connections; /* closed for doing nothing */
	uint64_t failed_requests;  /* lost with an orchestrator */
	uint64_t dropped_answers;  /* their client had disconnected */
	uint64_t sleeps;
};

struct worker_limits {
	uint32_t frame_max;	 /* whole frame */
	uint32_t depth;		 /* most requests at the GPU */
	uint32_t batch_bytes;	 /* of a message to the GPU, which may hold several frames; 0: one frame each */
	uint32_t spin_us;	 /* polled before a sleep */
	uint32_t answer_spin_us; /* the same while an answer is due: a hardware GPU cannot wake a sleeping thread */
	uint32_t gpu_timeout_s, idle_timeout_s; /* 0: none */
};

enum queue_state {
	QUEUE_WORKS,
	QUEUE_FAILED,	 /* a task failed while serving */
	QUEUE_TIMED_OUT, /* requests are due and no answer comes */
};

/* The client whose answers the next message from the GPU holds. */
struct requester {
	struct connection *connection;
	uint32_t frames;
};

struct worker {
	uint32_t index, cpu;
	pthread_t thread;
	int epoll_fd, wake_fd, notify_fd;
	struct worker_limits limits;
	struct datapath *dp;

	pthread_mutex_t lock;
	struct connection *inbox;    /* guarded by lock, linked by next */
	enum worker_order order;     /* guarded by lock */
	atomic_uint ordered, obeyed; /* counts of orders issued and completed */
	atomic_uint connection_count;
	atomic_bool notify_closed; /* the main thread waits for room for another client */
	_Atomic enum queue_state queue_state;

	/* Used by the worker's thread only */
	enum worker_order current;
	struct block_pool pool;
	struct connection *all, *ready_head, *ready_tail, *dirty;
	struct requester *inflight; /* one for each message at the GPU, oldest first */
	uint32_t inflight_mask, inflight_head, inflight_tail;
	uint32_t inflight_frames; /* in those messages */
	size_t out_bytes_max;
	uint32_t unwritten; /* answers received since all were written */
	bool has_whole;	    /* a connection has many answers to write and expects no more */
	bool send_blocked;
	bool submitted; /* something to flush to the producer */
	bool stopping;
	uint64_t drain_deadline_ms; /* 0 while not draining */
	unsigned int drain_order;   /* the order to report when drained, or 0 */
	bool lingering;		    /* all answers are written: waits only for clients to close */
	bool refused;		    /* the queue rejected a request, which still waits */
	struct watchdog watchdog;
	struct worker_stats stats;
};

/* limits bound the worker's memory; it writes to the eventfd notify_fd after each completed order. */
doca_error_t worker_start(uint32_t index, uint32_t cpu, const struct worker_limits *limits, struct doca_dev *dev, int notify_fd,
			  struct worker **worker);

/* Ends the thread, after which its stats may be read. */
void worker_stop(struct worker *worker);
void worker_destroy(struct worker *worker);

/* Passes the socket and its ownership to the worker. */
void worker_add(struct worker *worker, int fd, const union peer_address *peer);

void worker_order(struct worker *worker, enum worker_order order);
bool worker_has_obeyed(const struct worker *worker);

/* Sets this orchestrator's limits. Called before WORKER_SERVE only. */
void worker_set_limits(struct worker *worker, uint32_t frame_max, uint32_t depth, uint32_t batch_bytes);

#endif
