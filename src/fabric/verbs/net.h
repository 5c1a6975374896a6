/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP: how processes that have no runtime folder in common find each other. A process begins to listen when something of it is to be
 * found, on the addresses of the device that this is about and on no other; SOFTFIELD_VERBS_LISTEN gives one address for all
 * devices instead, or "none". With sf_verbs_lock, where the agent's
 * sockets change.
 */
#ifndef SF_FABRIC_VERBS_NET_H
#define SF_FABRIC_VERBS_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/verbs/reach.h"

#define VB_DIAL_EACH_NS UINT64_C(400000000)  /* for an address while there is another one, */
#define VB_DIAL_LAST_NS UINT64_C(3000000000) /* and for the last */

struct vb_domain;
struct vb_listener;
struct vb_conn;

/* BAD_CONFIG, logged: SOFTFIELD_VERBS_LISTEN is no address, nor "none". */
doca_error_t sf_verbs_net_check(void);

/* Where this process is found by the network of the domain's device, with its token; empty where it is not to be, or there is no
 * network. BAD_CONFIG, logged: it cannot listen where SOFTFIELD_VERBS_LISTEN says. */
doca_error_t sf_verbs_net_reach(const struct vb_domain *domain, char reach[SF_REACH_MAX]);

/* Listens at that port of the device's addresses, for callers of the listener. ALREADY_EXIST: somebody does; NOT_PERMITTED: nothing
 * is to listen here, or not at such a port; NOT_FOUND: there is no network. Logged. */
doca_error_t sf_verbs_net_listen(const struct vb_domain *domain, uint16_t port, struct vb_listener *listener);

/* The sockets are closed, or the parent's. */
void sf_verbs_net_forget(void);

/* Is it a socket of TCP? Then its options are set. */
bool sf_verbs_net_tune(int fd);

/* A socket that is connecting; -1, and errno. */
int sf_verbs_net_connect(const struct vb_addr *addr, uint32_t scope);

/* The interface by which a device's link-local addresses are reached, or 0. */
uint32_t sf_verbs_net_scope(const char *device, int gid_index);

#endif
