/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between agents: over a Unix socket of the runtime folder, with descriptors, or by TCP. Fixed little-endian layouts.
 * sf_msg_check validates every length of a message before anything else reads it.
 *
 *   by TCP, first     HANDSHAKE ->         (not at a listener's own port, which accepts CONNECT only)
 *   to a listener     CONNECT+fds ->   <- PENDING   <- ACCEPT+fds or REFUSE   then the provider's messages
 *                     LOCATE ->        <- ADDRESS or REFUSE
 *   to an agent       the provider's:  shm/message.h, verbs/wire.h, tcp/wire.h
 *   by TCP            ALIVE, after the first message, at any time: a channel that becomes a session may begin with some
 *
 * The end of a channel to a listener ends the connection; the end of another channel means that the process died.
 */
#ifndef SF_FABRIC_CONTROL_MESSAGE_H
#define SF_FABRIC_CONTROL_MESSAGE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/key.h"
#include "fabric/fabric.h"

#define SF_MSG_MAGIC UINT32_C(0x6d636673)
#define SF_MSG_VERSION 1
#define SF_MSG_SIZE_MAX 16640	    /* over a Unix socket, where one packet holds whole messages */
#define SF_MSG_STREAM_SIZE_MAX 2048 /* by TCP */
#define SF_MSG_FDS_MAX 64	    /* descriptors of one message */
#define SF_MSG_KINDS 16		    /* of each provider */
#define SF_SIDE_SIZE 64

enum sf_msg_kind {
	SF_MSG_HANDSHAKE = 1,
	SF_MSG_CONNECT,
	SF_MSG_PENDING, /* the program decides */
	SF_MSG_ACCEPT,
	SF_MSG_REFUSE,
	SF_MSG_LOCATE,
	SF_MSG_ADDRESS,
	SF_MSG_ALIVE, /* a heartbeat, by TCP */
	SF_MSG_OF_SHM = SF_MSG_KINDS,
	SF_MSG_OF_VERBS = 2 * SF_MSG_KINDS,
	SF_MSG_OF_TCP = 3 * SF_MSG_KINDS,
};

struct sf_msg {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t size;	/* of the whole message */
	uint32_t value; /* a request's number, repeated in the answer; a count; or a status (REFUSE) */
};

struct sf_msg_handshake {
	struct sf_msg head;
	struct sf_key token; /* of the called process */
};

struct sf_channel;
struct sf_control_listener;

/* One side of a connection, as its provider describes it to the peer. */
struct sf_msg_side {
	alignas(8) uint8_t bytes[SF_SIDE_SIZE];
};

struct sf_msg_connect {
	struct sf_msg head;
	uint16_t provider; /* first kind of the provider's messages */
	uint16_t unused;
	uint32_t data_len;
	struct sf_msg_side side;
	char name[SF_NAME_MAX];
	uint8_t data[SF_PRIVATE_MAX];
};

struct sf_msg_accept {
	struct sf_msg head;
	uint16_t provider;
	uint16_t unused;
	uint32_t data_len;
	struct sf_msg_side side;
	uint8_t data[SF_PRIVATE_MAX];
};

struct sf_msg_refuse {
	struct sf_msg head;
	uint32_t data_len;
	uint8_t data[SF_PRIVATE_MAX];
};

/* Asks for the network address of that listener. */
struct sf_msg_locate {
	struct sf_msg head;
	char name[SF_NAME_MAX];
};

struct sf_msg_address {
	struct sf_msg head;
	char address[SF_ADDRESS_MAX];
};

/* A provider's part of the control plane. */
struct sf_control_provider {
	const char *name;
	uint16_t kinds;			      /* SF_MSG_OF_... */
	unsigned connect_fds, accept_fds;     /* descriptors in its CONNECT and ACCEPT */
	bool by_network;		      /* it connects by network even if both processes share a runtime folder */
	struct sf_control_provider *beside;   /* its listeners can be reached through this one, too; or NULL */
	bool (*side_check)(const void *side); /* validates a side */
	/* Validates a message of a provider's own kind with that many descriptors. */
	bool (*check)(const struct sf_msg *msg, size_t len, unsigned fds);
	/* The following are called with sf_control_lock. A peer asks for the listener. Accepts it if the listener is
	 * SF_LISTEN_AUTO, else passes the request to the program. Descriptors that are kept are replaced by -1; an
	 * error rejects the peer. */
	doca_error_t (*asked)(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask,
			      int *fds);
	/* A channel begins with a message of this provider. Returns false if that message cannot be the first. */
	bool (*serve)(struct sf_channel *channel, const struct sf_msg *first);
	bool (*tick)(uint64_t now_ns); /* after the agent's events: must it run again in a few milliseconds? Or NULL */
	void (*after_fork)(void);      /* in the child: earlier objects belong to the parent */
	struct sf_control_provider *next;
};

/* Registers a provider permanently; called by a constructor. */
void sf_control_add(struct sf_control_provider *provider);
/* All providers, linked by next. */
struct sf_control_provider *sf_control_providers(void);

/* The message's name on the timeline, such as "connect". For a provider's own kinds: the provider's name. */
const char *sf_msg_name(uint16_t kind);

/* The length of the message that begins a stream's bytes. 0: its head is incomplete; UINT32_MAX: it is invalid. */
size_t sf_msg_size(const void *bytes, size_t len);

/* Returns true for one complete message of a known kind, with that many descriptors and every count and length in bounds. */
bool sf_msg_check(const struct sf_msg *msg, size_t len, unsigned fds);

/* A status received in a message, or UNEXPECTED. */
doca_error_t sf_msg_status(uint32_t status);

static inline struct sf_msg sf_msg_head(unsigned kind, size_t size, uint32_t value)
{
	return (struct sf_msg){
		.magic = SF_MSG_MAGIC, .version = SF_MSG_VERSION, .kind = (uint16_t)kind, .size = (uint32_t)size, .value = value};
}

#endif
