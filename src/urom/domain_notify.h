/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process's workers come to know a domain. */
#ifndef UROM_DOMAIN_NOTIFY_H
#define UROM_DOMAIN_NOTIFY_H

#include "urom/domain.h"
#include "urom/proto.h"

/* The directory is there: the workers are to have it. */
void urom_domain_notify_begin(struct doca_urom_domain *domain);
bool urom_domain_notify(struct doca_urom_domain *domain);
/* Sends what connections did not accept before; on failure only the domain fails. */
void urom_domain_notify_more(struct doca_urom_domain *domain);
/* While NOTIFYING: returns true if there is anything to do but wait for answers? */
bool urom_domain_notify_is_due(const struct doca_urom_domain *domain);
/* They need it no more. Where the queue is full, the worker's context sends it later: a stop of a domain does not wait. */
void urom_domain_leave(struct doca_urom_domain *domain);
/* Notifies the process of stopped domains. Returns true if anything was sent. */
bool urom_leaves_send(struct doca_urom_worker *worker);
/* Is there a place for it in the queue, so that no end of a send will come to go on by? */
bool urom_leaves_are_due(const struct doca_urom_worker *worker);
/* A worker process wants the directory, has it, or cannot use it. */
void urom_domain_answered(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len);
/* Its run has ended; and: it is destroyed. */
void urom_domains_lose(struct doca_urom_worker *worker);
void urom_domains_forget(struct doca_urom_worker *worker);
/* Something became of it that its domains may wait for. */
void urom_domains_kick(const struct doca_urom_worker *worker);

#endif
