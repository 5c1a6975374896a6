/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of the echo server: an epoll loop. It answers requests in their receive buffer, and sends a whole burst in one
 * call. It does not read from a client that does not read.
 */
#ifndef ECHO_WORKER_H
#define ECHO_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"

struct client;

struct worker {
	const struct echo_config *config;
	uint32_t frame_max;
	int cpu; /* -1: any */
	int epoll_fd;
	int stop_fd; /* readable when the server ends */
	pthread_t thread;
	uint8_t *buffer;
	uint32_t buffer_size;
	struct client *clients; /* list; only clients_lock holders touch it: the accepting thread adds, this one removes */
	pthread_mutex_t clients_lock;
	uint64_t messages;
};

/* Creates and starts the thread. */
bool worker_start(struct worker *worker, const struct echo_config *config, int cpu);

/* Passes a connected socket to the thread; called by another thread. */
bool worker_add(struct worker *worker, int fd);

/* Ends the thread and closes its sockets. */
void worker_stop(struct worker *worker);

#endif
