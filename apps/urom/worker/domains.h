/* SPDX-License-Identifier: BSD-3-Clause */
/* What plugins can look up: directories that clients offer. */
#ifndef UROM_WORKER_DOMAINS_H
#define UROM_WORKER_DOMAINS_H

#include "worker.h"

extern const struct urom_domain_lookups_iface domain_lookups;
/* A client offers a directory, by its digest. Of what is refused reason says why. */
doca_error_t domains_add_offer(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			       const char **reason);
/* A piece of one that it was asked for. */
doca_error_t domains_add_part(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			      const char **reason);
/* Tells clients what is due. True when anything was. */
bool domains_run(struct worker *worker);
void domains_leave(struct worker *worker, uint64_t client, uint64_t number);
/* Those of a client that has left. */
void domains_forget(struct worker *worker, uint64_t client);

#endif
