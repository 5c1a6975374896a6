/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connecting side of a connection's handshake, and the channel that reports the connection's end on both sides. Embedded in
 * the provider's connection; call with sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_HANDSHAKE_H
#define SF_FABRIC_CONTROL_HANDSHAKE_H

#include <sys/queue.h>

#include "fabric/control/channel.h"
#include "fabric/control/pace.h"

#define SF_ANSWER_LIMIT_NS UINT64_C(5000000000) /* for a silent agent of the peer; its program may take longer */

struct sf_handshake;
struct sf_question;

/* A provider's callbacks. */
struct sf_handshake_ops {
	const struct sf_control_provider *provider;
	/* Fills in our side, and the descriptors that go with it (provider->connect_fds). */
	void (*describe)(struct sf_handshake *handshake, struct sf_msg_side *side, int *fds);
	/* The peer accepted; side is its description. Descriptors that are kept are replaced by -1. */
	doca_error_t (*meet)(struct sf_handshake *handshake, const struct sf_msg_side *side, int *fds);
	/* The request is answered finally. Not called after sf_handshake_end. */
	void (*opened)(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len);
	/* A message of the peer after both are connected; or NULL. */
	bool (*message)(struct sf_handshake *handshake, const struct sf_msg *msg);
	/* The channel of an established connection has ended. */
	void (*ended)(struct sf_handshake *handshake);
};

struct sf_handshake {
	const struct sf_handshake_ops *ops;
	struct sf_channel *channel; /* NULL: not connected yet, or ended */
	bool is_asking;		    /* the request is not answered */
	bool is_awaited;	    /* the peer's agent has not answered at all */
	bool is_locating;	    /* the listener's address is looked up first */
	struct sf_liveness answering;
	uint32_t scope;
	struct sf_question *question;	/* while is_asking */
	LIST_ENTRY(sf_handshake) entry; /* of the awaited ones */
};

/* Sends the request; opened reports the outcome, inside the call or later. NO_MEMORY. scope: for link-local addresses. */
doca_error_t sf_handshake_ask(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, const char *name,
			      const char *address, uint32_t scope, const void *data, size_t len);
/* The accepting side: the channel belongs to the connection. */
void sf_handshake_follow(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, struct sf_channel *channel);
/* Closes the channel; no callback runs after this. */
void sf_handshake_end(struct sf_handshake *handshake);

enum sf_pace sf_handshakes_tick(uint64_t now_ns);
void sf_handshakes_after_fork(void);

#endif
