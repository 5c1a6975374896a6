/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP: how processes that have no runtime folder in common find each other. A process begins to listen when something of it is to
 * be found, on the addresses of the device that this is about and on no other; SOFTFIELD_LISTEN gives one address for all
 * devices instead, or "none". With sf_control_lock, where the agent's sockets change.
 */
#ifndef SF_FABRIC_CONTROL_NET_H
#define SF_FABRIC_CONTROL_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/control/address.h"
#include "fabric/control/stream.h"

#define SF_DIAL_EACH_NS UINT64_C(400000000)  /* for an address while there is another one, */
#define SF_DIAL_LAST_NS UINT64_C(3000000000) /* and for the last */

struct sf_control_listener;

/* A device of this machine, as the network knows it. */
struct sf_net_device {
	const char *name;
	uint32_t scope; /* the interface by which its link-local addresses are reached, or 0 */
	void (*addresses)(const char *name, struct sf_addresses *addresses); /* in the order in which they are to be tried */
};

/* BAD_CONFIG, logged: SOFTFIELD_LISTEN is no address, nor "none", or SOFTFIELD_PEER_TIMEOUT is no time. */
doca_error_t sf_net_check(void);

/* Where this process is found by the network of the device, with its token; empty where it is not to be, or there is no
 * network. BAD_CONFIG, logged: it cannot listen where SOFTFIELD_LISTEN says. */
doca_error_t sf_net_address(const struct sf_net_device *device, char address[SF_ADDRESS_MAX]);

/* Listens at that port of the device's addresses, for callers of the listener. ALREADY_EXIST: somebody does; NOT_PERMITTED:
 * nothing is to listen here, or not at such a port; NOT_FOUND: there is no network. Logged. */
doca_error_t sf_net_listen(const struct sf_net_device *device, uint16_t port, struct sf_control_listener *listener);

/* Listens there for peers that ask where listeners of this machine are. BAD_CONFIG, logged. */
doca_error_t sf_net_serve_node(struct sf_addresses *addresses);

/* The sockets are closed, or the parent's. */
void sf_net_forget(void);

/* The options of a TCP socket. The kernel asks an idle peer as soon as it can, for what heartbeats do not find. */
void sf_net_tune(int fd);

/*
 * The key that every TCP channel of this process must prove to have, in either direction, from now on; NULL, as it is at
 * first: none, and nothing is proved or encrypted. It is copied. Takes sf_control_lock.
 */
void sf_net_set_key(const struct sf_tls_key *key);

/* The same, from a file: 64 hexadecimal digits, as `openssl rand -hex 32` makes them, that only its owner may read.
 * BAD_CONFIG, logged: it is none. */
doca_error_t sf_net_read_key(const char *path);

/*
 * Without TLS, the key is proved by an HMAC when a channel begins from now on, and what follows is as it is; that is logged.
 * Only a topology may say so. At first TLS is used. Takes sf_control_lock.
 */
void sf_net_use_tls(bool use);

/* Begins to prove the key on a channel if there is one, by TLS or without it. NO_MEMORY or DRIVER, logged. With
 * sf_control_lock. */
doca_error_t sf_net_secure(struct sf_stream *stream, bool server);

/* A socket that is connecting; -1, and errno. */
int sf_net_connect(const struct sf_address *addr, uint32_t scope);

#endif
