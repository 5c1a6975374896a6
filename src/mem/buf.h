/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a buffer, for the data paths. They read fields and write data_len in place, and use doca_buf.h for everything
 * else. */
#ifndef SF_MEM_BUF_H
#define SF_MEM_BUF_H

#include <doca_buf.h>

#include "base/visibility.h"

struct doca_buf {
	uint8_t *head;
	size_t len;
	uint8_t *data;
	size_t data_len;
	struct doca_mmap *mmap;
	struct doca_buf *next;	/* in the list, or NULL */
	struct doca_buf *first; /* head of the list; itself when alone */
	struct doca_buf *last;	/* valid in the head only */
	uint32_t list_len;	/* valid in the head only */
	uint16_t refcount;
	struct sf_buf_source *source; /* the inventory or pool that it returns to */
};

/* Bytes after the data section. */
static inline size_t sf_buf_tailroom(const struct doca_buf *buf)
{
	return (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

#endif
