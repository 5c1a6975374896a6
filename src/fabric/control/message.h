/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What agents say to each other: over a Unix socket of the runtime folder, where descriptors come along, or by TCP. Fixed layouts
 * of one byte order; sf_msg_check looks at a message before anything else does, and what it lets pass has every length inside its
 * bounds.
 *
 *   by TCP, first     HELLO ->         (but not at a listener's own port: only CONNECT is heard there)
 *   to a listener     CONNECT+fds ->   <- PENDING   <- ACCEPT+fds or REFUSE   then what the provider has to say
 *                     LOCATE ->        <- ADDRESS or REFUSE
 *   to an agent       the provider's:  shm/message.h, verbs/wire.h, tcp/wire.h
 *   by TCP            ALIVE, behind the first message, at any time: a channel that becomes a session may begin with some
 *
 * The end of a channel to a listener is the end of the connection, that of the others the death of the process.
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
	SF_MSG_HELLO = 1,
	SF_MSG_CONNECT,
	SF_MSG_PENDING, /* the program is asked */
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
	uint32_t size;	/* of all of it */
	uint32_t value; /* of a question, repeated in the answer; or a count, or a status: REFUSE */
};

struct sf_msg_hello {
	struct sf_msg head;
	struct sf_key token; /* of the process that is called */
};

struct sf_channel;
struct sf_control_listener;

/* One side of a connection, as its provider describes it to the other. */
struct sf_msg_side {
	alignas(8) uint8_t bytes[SF_SIDE_SIZE];
};

struct sf_msg_connect {
	struct sf_msg head;
	uint16_t provider; /* its messages' first kind */
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

/* Where is that listener on the network? */
struct sf_msg_locate {
	struct sf_msg head;
	char name[SF_NAME_MAX];
};

struct sf_msg_address {
	struct sf_msg head;
	char address[SF_ADDRESS_MAX];
};

/* What a provider adds. */
struct sf_control_provider {
	const char *name;
	uint16_t kinds;			      /* SF_MSG_OF_... */
	unsigned connect_fds, accept_fds;     /* descriptors of its CONNECT and ACCEPT */
	bool by_network;		      /* it connects by the network also where both processes have one runtime folder */
	struct sf_control_provider *beside;   /* its listeners can be asked for by this one, too; or NULL */
	bool (*side_check)(const void *side); /* is a side in its bounds? */
	/* Is it one whole message of a kind of its own, with so many descriptors, all in its bounds? */
	bool (*check)(const struct sf_msg *msg, size_t len, unsigned fds);
	/* From here on with sf_control_lock. A peer asks for the listener, which accepts it if it is SF_LISTEN_AUTO, or else asks
	 * the program. Descriptors that are kept are replaced by -1; an error refuses the peer. */
	doca_error_t (*asked)(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask,
			      int *fds);
	/* A channel begins with a message of its own. False: that is none to begin with. */
	bool (*serve)(struct sf_channel *channel, const struct sf_msg *first);
	bool (*tick)(uint64_t now_ns); /* after the agent's events: is it to run again in a few milliseconds? Or NULL */
	void (*after_fork)(void);      /* in the child: what was made before is the parent's */
	struct sf_control_provider *next;
};

/* For good; by a constructor. */
void sf_control_add(struct sf_control_provider *provider);
/* All, by next. */
struct sf_control_provider *sf_control_providers(void);

/* "connect", ...: what the agent calls it on the timeline. Of a provider's own: its provider. */
const char *sf_msg_name(uint16_t kind);

/* Of the bytes of a stream: how long is the message that begins here? 0: not all of the head is there yet; UINT32_MAX: this is
 * none. */
size_t sf_msg_size(const void *bytes, size_t len);

/* Is this one whole message of a known kind, with so many descriptors, every count and length in it inside its bounds? */
bool sf_msg_check(const struct sf_msg *msg, size_t len, unsigned fds);

/* A status that came in a message, or UNEXPECTED. */
doca_error_t sf_msg_status(uint32_t status);

static inline struct sf_msg sf_msg_head(unsigned kind, size_t size, uint32_t value)
{
	return (struct sf_msg){
		.magic = SF_MSG_MAGIC, .version = SF_MSG_VERSION, .kind = (uint16_t)kind, .size = (uint32_t)size, .value = value};
}

#endif
