/* SPDX-License-Identifier: BSD-3-Clause */
/* What the groups of UROM share: a daemon of the suite's own, and the waiting that its answers take. */
#ifndef ABUSE_UROM_CALLS_H
#define ABUSE_UROM_CALLS_H

#include <doca_urom.h>

#include "abuse.h"
#include "hostile.h"

extern const struct group urom_service_group, urom_worker_group, urom_domain_group;

/* All engines move on, until nothing has moved for some milliseconds, or the context has that state (NULL: whichever). */
void urom_settle(struct doca_ctx *ctx, enum doca_ctx_states state);

/* A plugin's id, if a service runs; or any bit. */
uint64_t urom_any_plugin(void);
uint64_t urom_plugin(const char *name);

/* The daemon; see struct suite. */
bool urom_daemon_open(void);
const char *urom_daemon_check(void);
void urom_daemon_close(void);

/* Have all gatherings been freed once? */
bool urom_gatherings_are_freed(void);

#endif
