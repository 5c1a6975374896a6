/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of the topology that are machines of their own, as the network knows them. On each of them `softfield node` says
 * where that machine's listeners are. Without them this process is found by nobody outside its machine. With sf_control_lock.
 */
#ifndef SF_FABRIC_CONTROL_NODES_H
#define SF_FABRIC_CONTROL_NODES_H

#include "base/visibility.h"
#include "fabric/control/address.h"
#include "fabric/control/message.h"
#include "fabric/control/pace.h"

struct sf_channel;

/* Is this process of a node that has an address? */
bool sf_nodes_joined(void);

/* This node's own addresses, without a port; else the machine's for itself alone. */
void sf_nodes_own(const char *device, struct sf_addresses *addresses);

/* The ports at which this node's programs listen; 0, any, unless the topology says so. */
struct sf_port_range sf_nodes_ports(void);

/* Where the next of the other nodes is asked, from number *number on, which counts up. False: there is none left. A host name is
 * looked up anew now and then, for the questions that come after that. */
bool sf_nodes_next(uint32_t *number, char address[SF_ADDRESS_MAX]);

/* The name of the node that sf_nodes_next gave when it left *number so. */
const char *sf_nodes_name(uint32_t number);

/* Answers for this machine, after sf_fabric_join, at that port of its addresses, until the process ends. BAD_CONFIG, logged: it
 * cannot listen there. Without the lock. */
SF_API doca_error_t sf_node_serve(uint16_t port);

/* What is known of a node's service. */
enum sf_node_state {
	SF_NODE_SILENT,	 /* it did not answer in time, or nobody is there */
	SF_NODE_REFUSED, /* it has another key */
	SF_NODE_OTHER,	 /* of the two sides, one speaks TLS and the other does not */
	SF_NODE_ANSWERED,
};

/* Asks the services of all these nodes at once, with that key, and waits for limit_ns for the answers. BAD_CONFIG,
 * logged: the key's file; NO_MEMORY. Without the lock. */
SF_API doca_error_t sf_nodes_ask(const struct sf_fabric_node *others, uint32_t num, const struct sf_fabric_key *key,
				 uint64_t limit_ns, enum sf_node_state *states);

/* For the agent: rejects callers of a stopped listener. */
enum sf_pace sf_nodes_tick(void);

/* Somebody asks at such a port. */
void sf_node_answer(struct sf_channel *requester, const struct sf_msg_locate *ask);

#endif
