/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between agents about this provider's connections and memory, besides control/message.h.
 *
 *   CONNECT's descriptors: the endpoint's segment, its eventfd, the connection's segment; ACCEPT's: the first two
 *   to a process's agent   HANDSHAKE ->     <- WELCOME+fd
 *                          ATTACH ->    <- ATTACHED+fds
 *                          OPERATE ->   <- OPERATED
 *                                       <- GONE
 */
#ifndef SF_FABRIC_SHM_PROTO_H
#define SF_FABRIC_SHM_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/control/message.h"

#define SHM_MSG_RUNS_MAX 64	  /* stretches of a region in one ATTACHED */
#define SHM_MSG_OPERATE_MAX 16384 /* data bytes of one OPERATE */

enum shm_msg_kind {
	SHM_MSG_HANDSHAKE = SF_MSG_OF_SHM,
	SHM_MSG_WELCOME,
	SHM_MSG_ATTACH,
	SHM_MSG_ATTACHED,
	SHM_MSG_OPERATE,
	SHM_MSG_OPERATED,
	SHM_MSG_GONE,
};

/* One side of a connection: the endpoint, with its segment (first descriptor) and its eventfd (second). */
struct shm_msg_ep {
	struct sf_key agent;
	struct sf_key
		key;	 /* of the connection: while it lasts, the peer may attach the memory that the endpoint's receives name */
	uint64_t ticket; /* hint: where to begin to search for a receive */
	uint32_t entries;  /* a power of two */
	uint32_t conn;	   /* the endpoint's number of the connection */
	uint32_t barriers; /* the process has registered for expedited global memory barriers */
	uint32_t slot;	   /* the connection's bit in the segment's words */
};

#define SHM_MSG_EP_FDS 2

_Static_assert(sizeof(struct shm_msg_ep) <= SF_SIDE_SIZE, "a side fits");

/* Descriptor: the generations of the process's regions. */
struct shm_msg_welcome {
	struct sf_msg head;
};

struct shm_msg_attach {
	struct sf_msg head;
	uint64_t region;
	struct sf_key key;
	uint32_t by_ep; /* region is memory that an endpoint lends, and key a connection's; otherwise it is a region, and key its
			   token */
	uint32_t unused;
};

struct shm_msg_run {
	uint64_t addr, len; /* of the owner's memory */
	uint64_t offset;    /* in the file */
	uint32_t fd;	    /* which of the message's descriptors */
	uint32_t unused;
};

struct shm_msg_attached {
	struct sf_msg head;
	uint64_t region, addr, len;
	uint32_t status;
	uint32_t rights;
	uint32_t run_num;
	uint32_t unused;
	struct shm_msg_run run[SHM_MSG_RUNS_MAX];
};

struct shm_msg_operate {
	struct sf_msg head;
	uint64_t region, addr;
	uint64_t compare, value;
	uint32_t kind; /* enum sf_op_kind */
	uint32_t len;
	uint8_t data[]; /* len bytes of a WRITE */
};

struct shm_msg_operated {
	struct sf_msg head;
	uint64_t old; /* of CAS and FAA */
	uint32_t status;
	uint32_t len;
	uint8_t data[]; /* len bytes of a READ */
};

struct shm_msg_gone {
	struct sf_msg head;
	uint64_t region;
};

_Static_assert(sizeof(struct shm_msg_operate) + SHM_MSG_OPERATE_MAX <= SF_MSG_SIZE_MAX, "every message fits");

/* Returns true for one whole message of a kind of this provider, with num descriptors and every count and length in bounds. */
bool sf_shm_msg_check(const struct sf_msg *msg, size_t len, unsigned num);
bool sf_shm_side_check(const void *ep);

#endif
