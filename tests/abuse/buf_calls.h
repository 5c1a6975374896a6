/* SPDX-License-Identifier: BSD-3-Clause */
/* What the groups that make bufs share. */
#ifndef ABUSE_BUF_CALLS_H
#define ABUSE_BUF_CALLS_H

#include "abuse.h"

struct doca_buf;

/* The id of the map that each buf is in; buf_index finds a buf's place (NULL: a free one). */
extern uint64_t map_of[OBJECTS_MAX];
uint32_t buf_index(const struct doca_buf *buf);

/* There is room. */
void buf_made(struct doca_buf *buf, uint64_t source_id, uint64_t mmap_id);

/* Are bufs of this inventory or pool out? false for NULL. */
bool source_has_bufs(enum kind kind, void *source);

#endif
