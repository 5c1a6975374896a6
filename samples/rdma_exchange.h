/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How two samples get each other's descriptors: by files that the user copies, as in DOCA's guide, or by a socket of their own
 * (--peer). RDMA itself has no part in it.
 */
#ifndef SAMPLES_RDMA_EXCHANGE_H
#define SAMPLES_RDMA_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma_options.h"

#define DESCRIPTOR_MAX 4096

struct bytes {
	size_t len; /* 0: there is none */
	uint8_t data[DESCRIPTOR_MAX];
};

/* What one side tells the other. */
struct papers {
	struct bytes connections[CONNECTIONS_MAX];
	struct bytes resource; /* memory or an event */
};

/* TOO_BIG: more than DESCRIPTOR_MAX. */
doca_error_t bytes_set(struct bytes *bytes, const void *data, size_t len);

struct exchange {
	const struct options *options;
	int socket; /* to the peer, or -1: by files */
};

/* With --peer: finds the peer, whoever comes first. me and peer are the samples' names. */
doca_error_t exchange_open(struct exchange *exchange, const struct options *options, const char *me, const char *peer);
/* Ours for theirs: a descriptor for each connection, and a resource if one is expected. */
doca_error_t exchange_papers(struct exchange *exchange, const struct papers *ours, bool expect_resource, struct papers *theirs);
/* Waits until the peer has finished: by its exchange_finished, or the user says so. */
doca_error_t exchange_wait(struct exchange *exchange, const char *for_what);
/* Tells a waiting peer. */
void exchange_finished(struct exchange *exchange);
void exchange_close(struct exchange *exchange);

#endif
