/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol between the two halves of the sandbox plugin. */
#ifndef SANDBOX_PROTO_H
#define SANDBOX_PROTO_H

#include <stdint.h>

#include "../common/version.h"

#define SANDBOX_VERSION PLUGIN_VERSION(1)

/* Most bytes of a receive; the channel's limit is usually far lower. */
#define SANDBOX_LEN_MAX (16u << 20)

enum sandbox_command_type { SANDBOX_SEND = 1, SANDBOX_RECEIVE = 2 };

struct sandbox_command {
	uint64_t type;
	uint64_t peer; /* of a send: the other worker's id in the domain */
	uint64_t tag;
	uint64_t tag_mask; /* of a receive: the bits of the tag to compare */
	uint64_t len;	   /* of a send: bytes of data; of a receive: most bytes to accept */
	uint8_t data[];	   /* of a send */
};

struct sandbox_notification {
	uint64_t type;
	uint64_t tag; /* of a receive: the sender's */
	uint64_t len; /* bytes of data */
	uint8_t data[];
};

#endif
