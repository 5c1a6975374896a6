/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories that clients offer and plugins look up. */
#ifndef UROM_WORKER_DOMAINS_H
#define UROM_WORKER_DOMAINS_H

#include "worker.h"

extern const struct urom_domain_lookups_iface domain_lookups;
/* Adds a directory that a client offers by its digest. reason is set if it is rejected. */
doca_error_t domains_add_offer(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			       const char **reason);
/* Adds a piece of a requested directory. */
doca_error_t domains_add_part(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			      const char **reason);
/* Sends pending messages to clients. True if there were any. */
bool domains_run(struct worker *worker);
void domains_leave(struct worker *worker, uint64_t client, uint64_t number);
/* Drops the domains of a client that has left. */
void domains_forget(struct worker *worker, uint64_t client);

#endif
