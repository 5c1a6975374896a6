/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of the topology on other machines, and their addresses. `softfield node` on each of them reports the addresses of its
 * listeners. Without such nodes no other machine can connect to this process. Call with sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_NODES_H
#define SF_FABRIC_CONTROL_NODES_H

#include "base/visibility.h"
#include "fabric/control/address.h"
#include "fabric/control/message.h"
#include "fabric/control/pace.h"

struct sf_channel;

/* Returns true if this process belongs to a node with an address. */
bool sf_nodes_joined(void);

/* This node's own addresses, without a port; else the loopback addresses. */
void sf_nodes_own(const char *device, struct sf_addresses *addresses);

/* The ports on which this node's programs listen; 0, any, unless the topology gives them. */
struct sf_port_range sf_nodes_ports(void);

/* The service address of the next other node, from index *number on, which is incremented. Returns false if there is
 * none left. Host names are resolved again from time to time, for later look-ups. */
bool sf_nodes_next(uint32_t *number, char address[SF_ADDRESS_MAX]);

/* The name of the node for which sf_nodes_next returned this *number. */
const char *sf_nodes_name(uint32_t number);

/* Answers look-ups for this machine, after sf_fabric_join, on that port of its addresses, until the process ends.
 * BAD_CONFIG, logged: it cannot listen there. Call without the lock. */
SF_API doca_error_t sf_node_serve(uint16_t port);

/* State of a node's service. */
enum sf_node_state {
	SF_NODE_SILENT,	 /* no answer in time, or nobody listens */
	SF_NODE_REFUSED, /* it has another key */
	SF_NODE_OTHER,	 /* only one of the two sides uses TLS */
	SF_NODE_ANSWERED,
};

/* Queries the services of all these nodes in parallel, with that key, and waits limit_ns for the answers. BAD_CONFIG,
 * logged: the key's file; NO_MEMORY. Call without the lock. */
SF_API doca_error_t sf_nodes_ask(const struct sf_fabric_node *others, uint32_t num, const struct sf_fabric_key *key,
				 uint64_t limit_ns, enum sf_node_state *states);

/* For the agent: rejects callers of a stopped listener. */
enum sf_pace sf_nodes_tick(void);

/* Handles a look-up at such a port. */
void sf_node_answer(struct sf_channel *requester, const struct sf_msg_locate *ask);

#endif
