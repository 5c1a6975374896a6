/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield node: a service that reports the addresses of this machine's listeners to processes of other machines. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <doca_error.h>

#include "core/dev.h"
#include "fabric/control/nodes.h"
#include "tool.h"
#include "topology/topology.h"

/* Returns the node to serve; it must have an address, and the topology a key. */
static const struct sf_node *own_node(const struct sf_topology *topology)
{
	if (topology->self == NULL)
		(void)tool_fail("SOFTFIELD_NODE is unset: set it to this machine's node, or use `softfield run --node NAME -- "
				"softfield node`");
	else if (topology->self->address == NULL)
		(void)tool_fail("node %s has no address in the topology: only processes of its own machine can connect to it",
				topology->self->name);
	else if (topology->key == NULL)
		(void)tool_fail(
			"the topology has no key: make a file with `(umask 077; openssl rand -hex 32 > FILE)`, give it to each "
			"machine, and name it as \"key\"");
	else
		return topology->self;
	return NULL;
}

static int node_run(struct cli *cli)
{
	const struct sf_topology *topology;
	const struct sf_node *node;
	sigset_t ends;
	int signal;

	tool_take_nothing(cli);
	if (sf_topology_get(&topology) != DOCA_SUCCESS)
		return tool_fail("the topology cannot be used: see `softfield topology check`");
	node = own_node(topology);
	if (node == NULL)
		return TOOL_FAILED;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (sf_dev_join() != DOCA_SUCCESS || sf_node_serve(node->port) != DOCA_SUCCESS)
		return tool_fail("node %s cannot be served at %s, port %u; SOFTFIELD_LOG=error shows why", node->name,
				 node->address, node->port);
	printf("node %s: serving at %s, port %u\n", node->name, node->address, node->port);
	fflush(stdout);
	(void)sigwait(&ends, &signal);
	return TOOL_OK;
}

const struct cli_command tool_node = {
	.name = "node",
	.summary = "Let processes of other machines find processes of this one, until SIGINT or SIGTERM.",
	.text = "SOFTFIELD_NODE names the node that this machine is; the topology gives it an address, and a key to all "
		"machines.\n",
	.run = node_run,
};
