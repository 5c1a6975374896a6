/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP: how processes that have no runtime folder in common find each other. A process begins to listen when something of it is to
 * be found, on the addresses of the device that this is about and on no other; SOFTFIELD_VERBS_LISTEN gives one address for all
 * devices instead, or "none". With sf_control_lock, where the agent's sockets change.
 */
#ifndef SF_FABRIC_CONTROL_NET_H
#define SF_FABRIC_CONTROL_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/control/address.h"

#define SF_DIAL_EACH_NS UINT64_C(400000000)  /* for an address while there is another one, */
#define SF_DIAL_LAST_NS UINT64_C(3000000000) /* and for the last */

struct sf_control_listener;

/* A device of this machine, as the network knows it. */
struct sf_net_device {
	const char *name;
	uint32_t scope; /* the interface by which its link-local addresses are reached, or 0 */
	void (*addresses)(const char *name, struct sf_addresses *addresses); /* in the order in which they are to be tried */
};

/* BAD_CONFIG, logged: SOFTFIELD_VERBS_LISTEN is no address, nor "none". */
doca_error_t sf_net_check(void);

/* Where this process is found by the network of the device, with its token; empty where it is not to be, or there is no
 * network. BAD_CONFIG, logged: it cannot listen where SOFTFIELD_VERBS_LISTEN says. */
doca_error_t sf_net_address(const struct sf_net_device *device, char address[SF_ADDRESS_MAX]);

/* Listens at that port of the device's addresses, for callers of the listener. ALREADY_EXIST: somebody does; NOT_PERMITTED:
 * nothing is to listen here, or not at such a port; NOT_FOUND: there is no network. Logged. */
doca_error_t sf_net_listen(const struct sf_net_device *device, uint16_t port, struct sf_control_listener *listener);

/* The sockets are closed, or the parent's. */
void sf_net_forget(void);

/* The options of a TCP socket: a machine that is gone is found out. */
void sf_net_tune(int fd);

/* A socket that is connecting; -1, and errno. */
int sf_net_connect(const struct sf_address *addr, uint32_t scope);

#endif
