/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifies a process's workers of a domain. */
#ifndef UROM_DOMAIN_NOTIFY_H
#define UROM_DOMAIN_NOTIFY_H

#include "urom/domain.h"
#include "urom/proto.h"

/* The directory is complete: sends it to the workers. */
void urom_domain_notify_begin(struct doca_urom_domain *domain);
bool urom_domain_notify(struct doca_urom_domain *domain);
/* Sends what connections did not accept before; on failure only the domain fails. */
void urom_domain_notify_more(struct doca_urom_domain *domain);
/* While NOTIFYING: returns true if there is more to do than wait for answers. */
bool urom_domain_notify_is_due(const struct doca_urom_domain *domain);
/* The workers need it no more. If the queue is full, the worker's context sends that later, because a stop of a domain does not
 * wait. */
void urom_domain_leave(struct doca_urom_domain *domain);
/* Notifies the process of stopped domains. Returns true if anything was sent. */
bool urom_leaves_send(struct doca_urom_worker *worker);
/* Returns true if a notification waits and the queue has room, so that no end of a send will trigger it. */
bool urom_leaves_are_due(const struct doca_urom_worker *worker);
/* Handles a worker process that requests the directory, has it, or cannot use it. */
void urom_domain_answered(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len);
/* Call when the worker's run has ended; and when it is destroyed. */
void urom_domains_lose(struct doca_urom_worker *worker);
void urom_domains_forget(struct doca_urom_worker *worker);
/* Its state changed, which its domains may wait for. */
void urom_domains_kick(const struct doca_urom_worker *worker);

#endif
