/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clients' way in: the main thread accepts them and gives each to the worker with the fewest. When as many are connected as
 * may be, no client is accepted until one leaves; new ones wait in the kernel's queue.
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
	uint64_t accept_after_ms; /* the system is out of descriptors or memory: tried again then */
};

/* At start: is there any hope to serve a client? Else fails, logged. */
doca_error_t clients_check_files(const struct server *server);

/*
 * Before the listener is opened, with an orchestrator connected: how many clients there may be. Descriptors for the next
 * orchestrator and the like are left out. Fails, logged, when there is none for a client.
 */
doca_error_t clients_set_max(struct server *server);

/* Accepts those that wait, as far as they may come in. */
void clients_accept(struct server *server);

/* May the listener be waited for? When not, and this is not -1, the number of ms after which to ask again. */
bool clients_are_accepted(struct server *server, int *retry_ms);

#endif
