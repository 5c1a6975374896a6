/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the groups of UROM: the suite's daemon, and waiting for its answers. */
#ifndef ABUSE_UROM_CALLS_H
#define ABUSE_UROM_CALLS_H

#include <doca_urom.h>

#include "abuse.h"
#include "hostile.h"

extern const struct group urom_service_group, urom_worker_group, urom_domain_group;

/* Progresses all engines until nothing happens for some milliseconds, or until the context has that state (NULL: no context). */
void urom_settle(struct doca_ctx *ctx, enum doca_ctx_states state);

/* A plugin's id if a service runs; otherwise any bit. */
uint64_t urom_any_plugin(void);
uint64_t urom_plugin(const char *name);

/* The daemon; see struct suite. */
bool urom_daemon_open(void);
const char *urom_daemon_check(void);
void urom_daemon_close(void);

/* Returns whether every gathering was freed exactly once. */
bool urom_gatherings_are_freed(void);

#endif
