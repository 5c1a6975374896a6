/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What agents say to each other over Unix sockets. Fixed layouts of one machine's byte order; sf_shm_msg_check looks at a
 * message before anything else does, and what it lets pass has every length inside its bounds.
 *
 *   to a listener's socket          CONNECT+fds ->     <- PENDING    <- ACCEPT+fds or REFUSE
 *   to a process's agent's socket   HELLO ->           <- WELCOME+fd
 *                                   ATTACH ->          <- ATTACHED+fds
 *                                   OPERATE ->         <- OPERATED
 *                                                      <- GONE
 *
 * The end of the first kind of connection is the end of the link, of the second kind that of the process.
 */
#ifndef SF_FABRIC_SHM_PROTO_H
#define SF_FABRIC_SHM_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/runtime.h"

#define SHM_MSG_MAGIC UINT32_C(0x6d687366)
#define SHM_MSG_VERSION 2
#define SHM_MSG_RUNS_MAX 64	  /* stretches of a region that one ATTACHED tells */
#define SHM_MSG_OPERATE_MAX 16384 /* data bytes of one OPERATE */
#define SHM_MSG_SIZE_MAX (SHM_MSG_OPERATE_MAX + 256)

enum shm_msg_kind {
	SHM_MSG_CONNECT = 1,
	SHM_MSG_PENDING,
	SHM_MSG_ACCEPT,
	SHM_MSG_REFUSE,
	SHM_MSG_HELLO,
	SHM_MSG_WELCOME,
	SHM_MSG_ATTACH,
	SHM_MSG_ATTACHED,
	SHM_MSG_OPERATE,
	SHM_MSG_OPERATED,
	SHM_MSG_GONE,
};

struct shm_msg {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t size; /* of all of it */
	uint32_t tag;  /* of a question, repeated in the answer */
};

/* A port, told to whoever links to it: with its segment (first descriptor) and its eventfd (second). */
struct shm_msg_port {
	struct sf_key agent;
	struct sf_key key; /* of the link: lets the peer attach what the port's receives name, as long as the link lasts */
	uint64_t ticket;    /* where to begin to look for a receive */
	uint32_t entries;   /* a power of two */
	uint32_t link;	    /* the port's number of the link */
	uint32_t barriers;  /* the process has registered for expedited global memory barriers */
	uint32_t slot;	    /* the link's bit in the segment's words */
};

#define SHM_MSG_PORT_FDS 2

/* Third descriptor: the link segment, made by the connecting side. */
struct shm_msg_connect {
	struct shm_msg head;
	struct shm_msg_port port;
	char name[SF_NAME_MAX];
	uint32_t data_len;
	uint8_t data[SF_PRIVATE_MAX];
};

struct shm_msg_accept {
	struct shm_msg head;
	struct shm_msg_port port;
	uint32_t data_len;
	uint8_t data[SF_PRIVATE_MAX];
};

struct shm_msg_refuse {
	struct shm_msg head;
	uint32_t status;
	uint32_t data_len;
	uint8_t data[SF_PRIVATE_MAX];
};

/* Descriptor: the generations of the process's regions. */
struct shm_msg_welcome {
	struct shm_msg head;
};

struct shm_msg_attach {
	struct shm_msg head;
	uint64_t region;
	struct sf_key key;
	uint32_t by_port; /* region is what a port lends, and key a link's; else it is a region, and key its token */
	uint32_t unused;
};

struct shm_msg_run {
	uint64_t addr, len; /* of the owner's memory */
	uint64_t offset;    /* in the file */
	uint32_t fd;	    /* which of the message's descriptors */
	uint32_t unused;
};

struct shm_msg_attached {
	struct shm_msg head;
	uint64_t region, addr, len;
	uint32_t status;
	uint32_t rights;
	uint32_t run_num;
	uint32_t unused;
	struct shm_msg_run run[SHM_MSG_RUNS_MAX];
};

struct shm_msg_operate {
	struct shm_msg head;
	uint64_t region, addr;
	uint64_t compare, value;
	uint32_t kind; /* enum sf_op_kind */
	uint32_t len;
	uint8_t data[]; /* len bytes of a WRITE */
};

struct shm_msg_operated {
	struct shm_msg head;
	uint64_t old; /* of CAS and FAA */
	uint32_t status;
	uint32_t len;
	uint8_t data[]; /* len bytes of a READ */
};

struct shm_msg_gone {
	struct shm_msg head;
	uint64_t region;
};

/* Is this one whole message of a known kind, with num descriptors, every count and length in it inside its bounds? */
bool sf_shm_msg_check(const void *msg, size_t len, unsigned num);

/* A status that came in a message, or UNEXPECTED. */
doca_error_t sf_shm_msg_status(uint32_t status);

static inline struct shm_msg shm_msg_head(enum shm_msg_kind kind, size_t size, uint32_t tag)
{
	return (struct shm_msg){
		.magic = SHM_MSG_MAGIC, .version = SHM_MSG_VERSION, .kind = (uint16_t)kind, .size = (uint32_t)size, .tag = tag};
}

#endif
