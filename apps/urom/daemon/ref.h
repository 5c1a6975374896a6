/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's reference to a worker. */
#ifndef UROM_DAEMON_REF_H
#define UROM_DAEMON_REF_H

#include "daemon.h"

struct daemon_ref {
	LIST_ENTRY(daemon_ref) of_client, of_worker;
	struct daemon_client *client;
	struct daemon_worker *worker;
	uint32_t count; /* worker contexts in that client's process */
};

/* NULL: the client does not use the worker. */
struct daemon_ref *daemon_ref_find(const struct daemon_client *client, const struct daemon_worker *worker);
/* Adds one worker context of the client. NO_MEMORY: out of memory. */
doca_error_t daemon_ref_add(struct daemon_client *client, struct daemon_worker *worker);
/* Drops the reference with all its contexts. */
void daemon_ref_drop(struct daemon_ref *ref);

#endif
