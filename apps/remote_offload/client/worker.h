/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client thread: an epoll loop over its connections. Requests are assigned as answers arrive, so a connection that is
 * served faster sends more of them.
 */
#ifndef CLIENT_WORKER_H
#define CLIENT_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "connection.h"
#include "latency.h"
#include "messages.h"

/* What all threads and main share. */
struct control {
	const struct client_config *config;
	const struct messages *messages;
	struct sockaddr_storage address;
	socklen_t address_len;
	char server[OPTION_TEXT_MAX + 16]; /* address and port, for messages */
	int stop;			   /* atomic: send nothing new, receive the answers that are due */
	int failed;			   /* atomic: end immediately */
	int done_fd;			   /* eventfd that counts finished threads */
	pthread_mutex_t phase_lock;	   /* guards the two below: threads start each phase together */
	pthread_cond_t phase_cond;
	uint32_t phase_arrived;
	uint32_t phase_round;
};

struct worker {
	struct control *control;
	uint32_t first_number; /* of its connections */
	pthread_t thread;
	struct connection *connections;
	uint32_t opened; /* connections with a socket */
	uint32_t connected;
	int epoll_fd;
	uint8_t *buffer;    /* bytes just received */
	uint64_t remaining; /* requests of this phase that have no credit yet */
	uint64_t due;	    /* answers of this phase still to come */
	uint64_t progress_ns;
	bool measuring;
	bool stopping;	   /* has seen control->stop */
	uint64_t answered; /* measured answers; atomic, main reads it */
	uint64_t start_ns, end_ns;
	struct latency latency;
};

/* Runs the connections, the warm-up and the measured requests; argument is the worker. */
void *worker_run(void *worker);

/* Ends all threads. Only the first call logs its line; format may be NULL for no line. */
void control_fail(struct control *control, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool control_failed(struct control *control);

#endif
