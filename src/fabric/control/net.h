/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP between processes without a common runtime folder. A process begins to listen with its first export or endpoint on a
 * network device, on that device's addresses only. SOFTFIELD_LISTEN gives one address for all devices instead, or "none".
 * Functions that change the agent's sockets need sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_NET_H
#define SF_FABRIC_CONTROL_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/control/address.h"
#include "fabric/control/stream.h"

#define SF_DIAL_EACH_NS UINT64_C(400000000)  /* time limit for an address that is followed by another, */
#define SF_DIAL_LAST_NS UINT64_C(3000000000) /* and for the last */

struct sf_control_listener;

/* A device of this machine and its network addresses. */
struct sf_net_device {
	const char *name;
	uint32_t scope;							     /* interface for link-local addresses, or 0 */
	void (*addresses)(const char *name, struct sf_addresses *addresses); /* in the order of trying */
};

/* BAD_CONFIG, logged: SOFTFIELD_LISTEN is neither an address nor "none", or SOFTFIELD_PEER_TIMEOUT is invalid. */
doca_error_t sf_net_check(void);

/* The network address of this process for the device, with its token; empty if it must not listen or has no network.
 * BAD_CONFIG, logged: it cannot listen on the address of SOFTFIELD_LISTEN. */
doca_error_t sf_net_address(const struct sf_net_device *device, char address[SF_ADDRESS_MAX]);

/* Listens on that port of the device's addresses, for callers of the listener. ALREADY_EXIST: the port is in use;
 * NOT_PERMITTED: SOFTFIELD_LISTEN is none, or the port is privileged; NOT_FOUND: there is no network. Logged. */
doca_error_t sf_net_listen(const struct sf_net_device *device, uint16_t port, struct sf_control_listener *listener);

/* Listens for look-ups of this machine's listeners. BAD_CONFIG, logged. */
doca_error_t sf_net_serve_node(struct sf_addresses *addresses);

/* The sockets are closed, or belong to the parent. */
void sf_net_forget(void);

/* Sets the options of a TCP socket, with keepalive for what heartbeats do not detect. */
void sf_net_tune(int fd);

/*
 * Sets the key that both ends of every later TCP channel must prove. NULL, the initial value: no authentication and no
 * encryption. The key is copied. Takes sf_control_lock.
 */
void sf_net_set_key(const struct sf_tls_key *key);

/* The same, from a file: 64 hexadecimal digits, as `openssl rand -hex 32` prints them, readable by its owner only.
 * BAD_CONFIG, logged: the file is not valid. */
doca_error_t sf_net_read_key(const char *path);

/*
 * Chooses between TLS, the default, and an HMAC at the beginning of later channels, which then are not encrypted; that is logged.
 * Only a topology may choose the HMAC. Takes sf_control_lock.
 */
void sf_net_use_tls(bool use);

/* Begins authentication on a channel if there is a key, by TLS or by the HMAC. NO_MEMORY or DRIVER, logged. Call with
 * sf_control_lock. */
doca_error_t sf_net_secure(struct sf_stream *stream, bool server);

/* Returns a connecting socket; -1 with errno. */
int sf_net_connect(const struct sf_address *addr, uint32_t scope);

#endif
