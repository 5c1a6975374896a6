/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data path thread: pinned to one CPU, it serves the TCP connections it was given through one queue to the GPU. Everything
 * it touches is its own; the main thread speaks to it through connections handed over and orders, and hears of an order
 * carried out through the notify descriptor.
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
	WORKER_ABANDON, /* the orchestrator is lost: fail what is in flight, then as idle */
	WORKER_DRAIN,	/* read no more, finish what was read, close all connections */
	WORKER_EXIT,	/* close all connections and end the thread */
};

/* Written by the worker alone, read by the main thread at the end or for a log line. */
struct worker_stats {
	uint64_t connections, requests, answers, bytes_in, bytes_out;
	uint64_t bad_connections;  /* closed for what they sent or for a socket error */
	uint64_t idle_connections; /* closed for doing nothing */
	uint64_t failed_requests;  /* lost with an orchestrator */
	uint64_t dropped_answers;  /* their client had gone */
	uint64_t sleeps;
};

struct worker_limits {
	uint32_t frame_max;	 /* whole frame */
	uint32_t depth;		 /* requests at the GPU at once */
	uint32_t batch_bytes;	 /* of a message to the GPU, which may hold several frames; 0: one frame each */
	uint32_t spin_us;	 /* polled before a sleep */
	uint32_t answer_spin_us; /* likewise while the GPU owes an answer: a real one cannot wake a sleeper at once */
	uint32_t gpu_timeout_s, idle_timeout_s; /* 0: none */
};

enum queue_state {
	QUEUE_WORKS,
	QUEUE_FAILED,	 /* a task failed while serving */
	QUEUE_TIMED_OUT, /* requests are due and no answer comes */
};

/* Whose answers a message from the GPU will be. */
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
	struct connection *inbox;    /* GUARDED_BY(lock), linked by next */
	enum worker_order order;     /* GUARDED_BY(lock) */
	atomic_uint ordered, obeyed; /* counts of orders given and carried out */
	atomic_uint connection_count;
	atomic_bool notify_closed; /* the main thread waits for room for another client */
	_Atomic enum queue_state queue_state;

	/* The worker's own */
	enum worker_order current;
	struct block_pool pool;
	struct connection *all, *ready_head, *ready_tail, *dirty;
	struct requester *inflight; /* one for each message at the GPU, oldest first */
	uint32_t inflight_mask, inflight_head, inflight_tail;
	uint32_t inflight_frames; /* in those messages */
	size_t out_bytes_max;
	uint32_t unwritten; /* answers taken since all were written */
	bool send_blocked;
	bool submitted; /* something to flush to the producer */
	bool stopping;
	uint64_t drain_deadline_ms; /* 0 while not draining */
	unsigned int drain_order;   /* to be reported when drained, or 0 */
	bool lingering;		    /* all answers are written: only clients' closing is waited for */
	bool refused;		    /* the queue took no request, and it still waits */
	struct watchdog watchdog;
	struct worker_stats stats;
};

/* limits bound all memory of the worker; notify_fd is an eventfd that is written after each order carried out. */
doca_error_t worker_start(uint32_t index, uint32_t cpu, const struct worker_limits *limits, struct doca_dev *dev, int notify_fd,
			  struct worker **worker);

/* Ends the thread, after which its stats may be read. */
void worker_stop(struct worker *worker);
void worker_destroy(struct worker *worker);

/* Takes over the socket. */
void worker_add(struct worker *worker, int fd, const union peer_address *peer);

void worker_order(struct worker *worker, enum worker_order order);
bool worker_has_obeyed(const struct worker *worker);

/* Before WORKER_SERVE only: what this orchestrator can take. */
void worker_set_limits(struct worker *worker, uint32_t frame_max, uint32_t depth, uint32_t batch_bytes);

#endif
