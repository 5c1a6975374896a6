/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two samples exchange descriptors: by files that the user copies, as in DOCA's guide, or by a separate socket (--peer),
 * without RDMA.
 */
#ifndef SAMPLES_RDMA_EXCHANGE_H
#define SAMPLES_RDMA_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma_options.h"

#define DESCRIPTOR_MAX 4096

struct bytes {
	size_t len; /* 0: none */
	uint8_t data[DESCRIPTOR_MAX];
};

/* What one side sends to the other. */
struct papers {
	struct bytes connections[CONNECTIONS_MAX];
	struct bytes resource; /* of memory or of an event */
};

/* TOO_BIG: more than DESCRIPTOR_MAX. */
doca_error_t bytes_set(struct bytes *bytes, const void *data, size_t len);

struct exchange {
	const struct options *options;
	int socket; /* to the peer, or -1: by files */
};

/* With --peer: connects to the peer; either may start first. me and peer are the samples' names. */
doca_error_t exchange_open(struct exchange *exchange, const struct options *options, const char *me, const char *peer);
/* Exchanges descriptors: one for each connection, and a resource if one is expected. */
doca_error_t exchange_papers(struct exchange *exchange, const struct papers *ours, bool expect_resource, struct papers *theirs);
/* Waits until the peer has called exchange_finished, or the user presses Enter. */
doca_error_t exchange_wait(struct exchange *exchange, const char *for_what);
/* Notifies a waiting peer. */
void exchange_finished(struct exchange *exchange);
void exchange_close(struct exchange *exchange);

#endif
