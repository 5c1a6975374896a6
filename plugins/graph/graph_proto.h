/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol between the two halves of the graph plugin. */
#ifndef GRAPH_PROTO_H
#define GRAPH_PROTO_H

#include <stdint.h>

#include "../common/version.h"

#define GRAPH_VERSION PLUGIN_VERSION(1)

enum graph_command_type { GRAPH_LOOPBACK = 1 };

struct graph_command {
	uint64_t type;
	uint64_t value;
};

struct graph_notification {
	uint64_t type;
	uint64_t value; /* the command's */
};

#endif
