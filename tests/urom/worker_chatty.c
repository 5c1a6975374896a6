/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph plugin, which says something when it is loaded, and ends the process then where CHATTY_EXIT is set. */
#include <stdio.h>

#include "../../plugins/graph/worker_graph.c"

static void __attribute__((constructor)) talk(void)
{
	printf("5\nthe plugin is here\n");
	fflush(stdout);
	if (getenv("CHATTY_EXIT") != NULL)
		_Exit(0);
}
