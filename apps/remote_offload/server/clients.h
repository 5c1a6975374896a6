/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts clients: the main thread passes each to the worker with the fewest. At the limit no client is accepted until one
 * leaves; new ones wait in the kernel's queue.
 */
#ifndef REMOTE_OFFLOAD_SERVER_CLIENTS_H
#define REMOTE_OFFLOAD_SERVER_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

struct server;

struct clients {
	uint32_t max;	  /* at once */
	bool files_limit; /* max comes from the limit on open files */
	bool full;
	uint64_t full_logged_ms;
	uint64_t accept_after_ms; /* when to try again after the system was out of descriptors or memory */
};

/* Checks at start that the limit on open files allows a client. Errors are logged. */
doca_error_t clients_check_files(const struct server *server);

/*
 * Computes how many clients may connect. Called before the listener is opened, with an orchestrator connected. Reserves
 * descriptors for the next orchestrator. Fails, and logs it, if none is left for a client.
 */
doca_error_t clients_set_max(struct server *server);

/* Accepts waiting clients, up to the limit. */
void clients_accept(struct server *server);

/* Returns whether the main loop may wait for the listener. If not and *retry_ms is not -1, call again after *retry_ms. */
bool clients_are_accepted(struct server *server, int *retry_ms);

#endif
