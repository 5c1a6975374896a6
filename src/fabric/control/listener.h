/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners: names that endpoints connect to. A name is a socket in the runtime folder. A peer without a common folder connects
 * to the agent's network sockets and sends the name. A listener with SF_LISTEN_AT has its own network sockets, and none in the
 * folder. Call with sf_control_lock, except open and close.
 */
#ifndef SF_FABRIC_CONTROL_LISTENER_H
#define SF_FABRIC_CONTROL_LISTENER_H

#include <sys/queue.h>

#include "fabric/control/channel.h"
#include "fabric/control/net.h"

#define SF_REQUESTS_MAX 1024 /* unanswered requests of a listener */

struct sf_control_listener {
	struct sf_listener base;
	const struct sf_control_provider *provider;
	struct sf_net_device device; /* its network device; without a name it has no network address */
	uint32_t generation;
	struct sf_key key;
	uint32_t flags;
	/* Guarded by sf_control_lock */
	struct sf_channel *channel; /* in the runtime folder; NULL: it listens at a port */
	LIST_ENTRY(sf_control_listener) entry;
	uint32_t num_requests; /* waiting for the program */
	char name[SF_NAME_MAX];
};

/* As sf_listener_open. device: of a provider that connects to other machines, or NULL. */
doca_error_t sf_control_listener_open(const struct sf_control_provider *provider, const struct sf_net_device *device,
				      struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				      struct sf_control_listener **listener);
/* Ends listening; the provider must end the pending requests before it frees the listener. Returns false, without
 * effect, if the listener belongs to the parent process. */
bool sf_control_listener_close(struct sf_control_listener *listener);

/* Rejects a request and ends the channel. */
void sf_control_reject(struct sf_channel *channel, doca_error_t status, const void *data, size_t len);
/* Sends the answer that establishes the connection. Returns false if the peer is gone. */
bool sf_control_accept_answer(struct sf_channel *channel, const struct sf_control_provider *provider,
			      const struct sf_msg_side *side, const int *fds, const void *data, size_t len);

/* A channel's first message names a listener, or came to the listener's own port. */
void sf_listeners_connect(struct sf_channel *channel, const struct sf_msg_connect *ask, int *fds);
/* A channel's first message asks for that listener's network address. */
void sf_listeners_locate(struct sf_channel *channel, const struct sf_msg_locate *ask);
void sf_listener_called(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask);
void sf_listeners_after_fork(void);

#endif
