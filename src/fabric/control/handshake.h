/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a connection begins on the side that asks, and the channel that reports its end on both sides. Lies in the
 * provider's connection; with sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_HANDSHAKE_H
#define SF_FABRIC_CONTROL_HANDSHAKE_H

#include <sys/queue.h>

#include "fabric/control/channel.h"
#include "fabric/control/pace.h"

#define SF_ANSWER_LIMIT_NS UINT64_C(5000000000) /* for a silent agent of the peer; its program may take its time */

struct sf_handshake;
struct sf_question;

/* What a provider does with its own. */
struct sf_handshake_ops {
	const struct sf_control_provider *provider;
	/* Our side, and the descriptors that go with it (provider->connect_fds). */
	void (*tell)(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds);
	/* The peer accepted: its side. Descriptors that are kept are replaced by -1. */
	doca_error_t (*meet)(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds);
	/* The question is answered, for good. Not after sf_handshake_end. */
	void (*opened)(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len);
	/* What the peer says once the two are joined; or NULL. */
	bool (*message)(struct sf_handshake *handshake, const struct sf_msg *msg);
	/* The channel of two that were joined has ended. */
	void (*ended)(struct sf_handshake *handshake);
};

struct sf_handshake {
	const struct sf_handshake_ops *ops;
	struct sf_channel *channel; /* NULL: there is none yet, or no more */
	bool is_asking;		    /* and the answer is not there */
	bool is_awaited;	    /* not even the peer's agent has said anything */
	bool is_locating;	    /* what is asked first is where the listener is */
	struct sf_liveness answering;
	uint32_t scope;
	struct sf_question *question;	/* while is_asking */
	LIST_ENTRY(sf_handshake) entry; /* of those that are awaited */
};

/* Asks; opened reports the outcome, inside the call or later. NO_MEMORY. scope: for link-local addresses. */
doca_error_t sf_handshake_ask(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, const char *name,
			      const char *address, uint32_t scope, const void *data, size_t len);
/* The side that was asked: the channel is the connection's. */
void sf_handshake_follow(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, struct sf_channel *channel);
/* Closes the channel; no callback runs any more. */
void sf_handshake_end(struct sf_handshake *handshake);

enum sf_pace sf_handshakes_tick(uint64_t now_ns);
void sf_handshakes_after_fork(void);

#endif
