/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a buffer, for the data paths. Fields are read and data_len written in place; all else goes by doca_buf.h. */
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
	struct sf_buf_source *source; /* the inventory or pool it goes back to */
};

/* Bytes after the data section. */
static inline size_t sf_buf_tailroom(const struct doca_buf *buf)
{
	return (size_t)(buf->head + buf->len - (buf->data + buf->data_len));
}

#endif
