/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the groups that create bufs. */
#ifndef ABUSE_BUF_CALLS_H
#define ABUSE_BUF_CALLS_H

#include "abuse.h"

struct doca_buf;

/* The id of the map that contains each buf; buf_index finds a buf's place (NULL: a free place). */
extern uint64_t map_of[OBJECTS_MAX];
uint32_t buf_index(const struct doca_buf *buf);

/* The table must have room. */
void buf_made(struct doca_buf *buf, uint64_t source_id, uint64_t mmap_id);

/* Returns whether bufs of this inventory or pool exist; false for NULL. */
bool source_has_bufs(enum kind kind, void *source);

#endif
