/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a connect by address: the caller's request, and the answer or the rejection. All of it is untrusted and checked
 * completely before use.
 */
#ifndef RDMA_CM_WIRE_H
#define RDMA_CM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

/* Limit of an accept's private data, as in a reply of rdma_cm. */
#define RDMA_CM_PRIVATE_MAX 196
#define RDMA_CM_CALL_SIZE 32
#define RDMA_CM_ANSWER_SIZE 16 /* without the private data */
#define RDMA_CM_REFUSAL_SIZE 12

struct rdma_cm_call {
	uint32_t transport;   /* enum doca_rdma_transport_type */
	uint32_t permissions; /* of the instance, for its peers */
	uint32_t addr_type;   /* enum doca_rdma_addr_type */
	uint16_t port;
	uint8_t addr[16]; /* the caller's */
};

struct rdma_cm_answer {
	uint32_t transport;
	uint32_t permissions;
	uint32_t private_len;
	const uint8_t *private_data; /* in the parsed answer */
};

enum rdma_cm_reason {
	RDMA_CM_REJECTED, /* by the program */
	RDMA_CM_FULL,	  /* all its connections are in use */
	RDMA_CM_TRANSPORT,
	RDMA_CM_NONSENSE, /* the request was malformed */
	RDMA_CM_REASONS,
};

void rdma_cm_call_pack(const struct rdma_cm_call *call, uint8_t out[RDMA_CM_CALL_SIZE]);
/* INVALID_VALUE: not a request, or of another version. The address type is one of the three. */
doca_error_t rdma_cm_call_parse(const void *data, size_t len, struct rdma_cm_call *call);

/* Returns the answer's length. */
size_t rdma_cm_answer_pack(const struct rdma_cm_answer *answer, uint8_t out[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX]);
doca_error_t rdma_cm_answer_parse(const void *data, size_t len, struct rdma_cm_answer *answer);

void rdma_cm_refusal_pack(enum rdma_cm_reason reason, uint8_t out[RDMA_CM_REFUSAL_SIZE]);
doca_error_t rdma_cm_refusal_parse(const void *data, size_t len, enum rdma_cm_reason *reason);

#endif
