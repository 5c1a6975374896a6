/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the network share: an agent that listens on loopback, a peer that connects to it, and calls from it. */
#ifndef SF_TESTS_FABRIC_NET_AGENT_H
#define SF_TESTS_FABRIC_NET_AGENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fabric/control/agent.h"
#include "fabric/control/net.h"
#include "fabric/verbs/device.h"

#define NET_IN_TIME_S 12 /* for limits of 3 seconds, on a busy machine */

struct agent {
	uint32_t generation;
	char text[SF_ADDRESS_MAX];
	struct sf_addresses addresses;
};

/* A process without a key that listens on 127.0.0.1; release it with sf_control_release. */
struct agent *agent_open(void);

/* Connects to the agent; blocks. */
int dial(const struct agent *agent);
/* Waits until something can be read. */
void expect_bytes(int fd);
/* Reads until the agent closes, then closes; returns the number of bytes. */
size_t hear_end(int fd, uint8_t *bytes, size_t room);
void expect_closed(int fd);
/* A peer's first message, and a valid request for a region that does not exist. */
struct sf_msg_handshake handshake_of(const struct agent *agent);
struct vb_msg_attach question(void);

/* A call from this process to another one. */
struct call {
	bool answered, ended;
	doca_error_t why;
	bool is_other; /* with `why` */
	struct sf_channel *channel;
};

void call_begin(struct call *call, const char *addresses);
void call_wait(struct call *call);
void call_expect_end(struct call *call, doca_error_t why);
void call_expect_answer(const char *addresses);

/* A listener that belongs to no agent, and the accepted connection of a call to it. */
int listen_here(char text[SF_ADDRESS_MAX]);
int agent_accept(int listener);

#endif
