/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that ports can be connected to. A name is a socket in the runtime folder; who shares no folder with us comes by the
 * agent's own sockets on the network, and says the name there. A listener with SF_LISTEN_AT has sockets of its own on the
 * network, and none in the folder. With sf_control_lock, but for open and close.
 */
#ifndef SF_FABRIC_CONTROL_LISTENER_H
#define SF_FABRIC_CONTROL_LISTENER_H

#include <sys/queue.h>

#include "fabric/control/channel.h"
#include "fabric/control/net.h"

#define SF_REQUESTS_MAX 1024 /* unanswered ones of a listener */

struct sf_control_listener {
	struct sf_listener base;
	const struct sf_control_provider *provider;
	struct sf_net_device device; /* where it is found by the network; no name: nowhere */
	uint32_t generation;
	struct sf_key key;
	uint32_t flags;
	/* GUARDED_BY(sf_control_lock) */
	struct sf_channel *channel; /* in the runtime folder; or NULL, and it listens at a port */
	LIST_ENTRY(sf_control_listener) entry;
	uint32_t num_requests; /* that wait for the program */
	char name[SF_NAME_MAX];
};

/* As sf_listener_open. device: of a provider that reaches other machines, or NULL. */
doca_error_t sf_control_listener_open(const struct sf_control_provider *provider, const struct sf_net_device *device,
				      struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				      struct sf_control_listener **listener);
/* Nobody comes any more, and it is forgotten; what it holds is the provider's to end before it is freed. False: it is the
 * parent's, and nothing was done. */
bool sf_control_listener_close(struct sf_control_listener *listener);

/* Rejects a request; the channel ends. */
void sf_control_reject(struct sf_channel *channel, doca_error_t status, const void *data, size_t len);
/* The answer that joins the two. False: the peer is gone. */
bool sf_control_accept_answer(struct sf_channel *channel, const struct sf_control_provider *provider,
			      const struct sf_msg_side *side, const int *fds, const void *data, size_t len);

/* A channel's first message asks for a listener by its name; the listener's own port was called. */
void sf_listeners_connect(struct sf_channel *channel, const struct sf_msg_connect *ask, int *fds);
/* Its first message asks where that listener is on the network. */
void sf_listeners_locate(struct sf_channel *channel, const struct sf_msg_locate *ask);
void sf_listener_called(struct sf_control_listener *listener, struct sf_channel *channel, const struct sf_msg_connect *ask);
void sf_listeners_after_fork(void);

#endif
