/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the groups of Comch. A connection's `of` is its server or client. It exists until its end was reported. If consumers
 * and producers (its users) still exist on it then, it stays with its flag set until the last one is destroyed.
 */
#ifndef ABUSE_COMCH_CALLS_H
#define ABUSE_COMCH_CALLS_H

#include <doca_comch.h>

#include "abuse.h"

/* The suite's ctx_changed: when a context has stopped, its connections no longer exist. */
void comch_ctx_changed(void *ctx);

/* A consumer or producer was created on the connection, or one of the connection with that id was destroyed. */
void connection_used(const struct doca_comch_connection *connection);
void connection_unused(uint64_t id);

/* Progresses the engines of both sides. */
void comch_progress(void);

/* The id of a consumer that a peer has announced, or any small number. */
uint32_t any_consumer_id(void);

#endif
