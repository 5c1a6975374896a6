/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocols of the rdmo plugin. Commands and notifications go between a target's program and its worker, through UROM;
 * requests and responses between an initiator's program and that worker, as UCX active messages.
 */
#ifndef RDMO_PROTO_H
#define RDMO_PROTO_H

#include <stdint.h>

#include "../common/version.h"

#define RDMO_VERSION PLUGIN_VERSION(1)

/* ---- commands ---- */

enum rdmo_command_type {
	RDMO_CLIENT_INIT = 1, /* number: the client's id; blob: the program's UCX worker address. Answer's blob: the worker's */
	RDMO_RQ_CREATE,	      /* blob: the initiator's UCX worker address. Answer's number: the queue */
	RDMO_RQ_DESTROY,      /* number: the queue */
	RDMO_MR_REGISTER,     /* va, len; blob: the packed remote key. Answer's number: the region */
	RDMO_MR_DEREGISTER,   /* number: the region */
};

struct rdmo_command {
	uint64_t type;
	uint64_t number;
	uint64_t va, len;
	uint64_t blob_len;
	uint8_t blob[];
};

struct rdmo_notification {
	uint64_t type;
	uint64_t number;
	uint64_t blob_len;
	uint8_t blob[];
};

/* ---- requests ---- */

#define RDMO_AM_REQUEST 1
#define RDMO_AM_RESPONSE 2

#define RDMO_DATA_MAX (1u << 20) /* bytes of a request */

enum rdmo_operation { RDMO_FLUSH = 1, RDMO_APPEND, RDMO_SCATTER };

/* Head of a request. Data follow: of an append, the bytes to append; of a scatter, pieces. */
struct rdmo_request_head {
	uint64_t client; /* its id */
	uint64_t queue;	 /* the answer to RQ_CREATE: a secret, without which requests are ignored */
	uint32_t operation;
	uint32_t flags;
	uint64_t number;			       /* counts a queue's requests from 1 */
	uint64_t pointer, pointer_region, data_region; /* of an append */
	uint64_t num_pieces;			       /* of a scatter */
};

/* Before each piece's bytes, which follow without padding. */
struct rdmo_piece_head {
	uint64_t address, region, len;
};

/* The answer to a flush. */
struct rdmo_response_head {
	uint64_t queue, number;
	int64_t status; /* doca_error_t: the first error since the previous flush */
};

#endif
