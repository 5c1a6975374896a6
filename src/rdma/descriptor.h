/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The details that doca_rdma_export returns, with the connection's address, and the handshake of the peer's connection. Both are
 * untrusted and checked completely before use.
 */
#ifndef RDMA_DESCRIPTOR_H
#define RDMA_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/fabric.h"

#define RDMA_TOKEN_SIZE 16
#define RDMA_DESCRIPTOR_HEAD 48 /* followed by the name and the address, without NULs */
#define RDMA_DESCRIPTOR_MAX (RDMA_DESCRIPTOR_HEAD + SF_NAME_MAX - 1 + SF_ADDRESS_MAX - 1)
#define RDMA_HANDSHAKE_SIZE 44

struct rdma_descriptor {
	uint32_t transport;		/* enum doca_rdma_transport_type */
	uint32_t permissions;		/* of the instance, for its peers */
	uint8_t token[RDMA_TOKEN_SIZE]; /* random, of the connection */
	uint32_t slot;			/* the connection's slot */
	char name[SF_NAME_MAX];		/* of the listener, */
	char address[SF_ADDRESS_MAX];	/* and its network address; or empty */
};

struct rdma_handshake {
	uint8_t to[RDMA_TOKEN_SIZE];   /* of the called connection */
	uint8_t from[RDMA_TOKEN_SIZE]; /* of the caller */
	uint32_t slot;		       /* from the called descriptor */
};

/* Returns its length. */
size_t rdma_descriptor_pack(const struct rdma_descriptor *descriptor, uint8_t out[RDMA_DESCRIPTOR_MAX]);

/* INVALID_VALUE, logged: truncated, altered, of another version. */
doca_error_t rdma_descriptor_parse(const void *data, size_t len, struct rdma_descriptor *descriptor);

void rdma_handshake_pack(const struct rdma_handshake *handshake, uint8_t out[RDMA_HANDSHAKE_SIZE]);
doca_error_t rdma_handshake_parse(const void *data, size_t len, struct rdma_handshake *handshake);

#endif
