/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the groups of Comch share. A connection is made "of" its server or client. It is there until its end was told; while
 * consumers and producers (its users) exist on it, until the last one goes, with its flag set.
 */
#ifndef ABUSE_COMCH_CALLS_H
#define ABUSE_COMCH_CALLS_H

#include <doca_comch.h>

#include "abuse.h"

/* The suite's ctx_changed: connections that a context had are gone when it has stopped. */
void comch_ctx_changed(void *ctx);

/* A consumer or producer was made on the connection, or one of it (by its id) was destroyed. */
void connection_used(const struct doca_comch_connection *connection);
void connection_unused(uint64_t id);

/* Both sides' engines move on. */
void comch_progress(void);

/* The id of a consumer that a peer told of, or any small number. */
uint32_t any_consumer_id(void);

#endif
