/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What doca_rdma_export gives: where a connection's peer finds it. And the handshake with which the peer's connection arrives.
 * Both come from another process: they are checked whole before anything of them is used.
 */
#ifndef RDMA_DESCRIPTOR_H
#define RDMA_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/fabric.h"

#define RDMA_TOKEN_SIZE 16
#define RDMA_DESCRIPTOR_HEAD 48 /* and behind it the name and the address, without a NUL */
#define RDMA_DESCRIPTOR_MAX (RDMA_DESCRIPTOR_HEAD + SF_NAME_MAX - 1 + SF_ADDRESS_MAX - 1)
#define RDMA_HANDSHAKE_SIZE 44

struct rdma_descriptor {
	uint32_t transport;		/* enum doca_rdma_transport_type */
	uint32_t permissions;		/* of the instance, for its peers */
	uint8_t token[RDMA_TOKEN_SIZE]; /* the connection's: random */
	uint32_t slot;			/* where the instance finds the connection */
	char name[SF_NAME_MAX];		/* its listener's, */
	char address[SF_ADDRESS_MAX];	/* and where that is found by a network; or empty */
};

struct rdma_handshake {
	uint8_t to[RDMA_TOKEN_SIZE];   /* the connection that is called */
	uint8_t from[RDMA_TOKEN_SIZE]; /* the caller's */
	uint32_t slot;		       /* of the descriptor that is called */
};

/* Returns how long it is. */
size_t rdma_descriptor_pack(const struct rdma_descriptor *descriptor, uint8_t out[RDMA_DESCRIPTOR_MAX]);

/* INVALID_VALUE, logged: truncated, altered, of another version. */
doca_error_t rdma_descriptor_parse(const void *data, size_t len, struct rdma_descriptor *descriptor);

void rdma_handshake_pack(const struct rdma_handshake *handshake, uint8_t out[RDMA_HANDSHAKE_SIZE]);
doca_error_t rdma_handshake_parse(const void *data, size_t len, struct rdma_handshake *handshake);

#endif
