/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of bufs, to which they return: the common part of inventories and pools. One thread at a time. */
#ifndef SF_MEM_BUF_SOURCE_H
#define SF_MEM_BUF_SOURCE_H

#include "base/faults.h"
#include "mem/buf.h"
#include "mem/mmap_private.h"

struct sf_buf_source {
	struct doca_buf *free; /* by next */
	uint32_t num_elements;
	uint32_t num_free;
	bool started;
	struct sf_faults *faults; /* NULL unless a rule of SOFTFIELD_FAULTS matches */
};

/* The memory map of free elements. It is not started, so a task with a released buf is rejected. It has no bufs. */
extern struct doca_mmap sf_buf_no_mmap;

/* Adds elements to the source. */
void sf_buf_source_add(struct sf_buf_source *source, struct doca_buf *elements, uint32_t num);

/* Returns true if a fault makes the next allocation fail. */
static inline bool sf_buf_source_fails(struct sf_buf_source *source)
{
	return __builtin_expect(source->faults != NULL, 0) && sf_fault(source->faults, SF_FAULT_ALLOC_BUF) != NULL;
}

/* Pops the next free element, or returns NULL. The caller sets its memory. */
static inline struct doca_buf *sf_buf_source_take(struct sf_buf_source *source)
{
	struct doca_buf *buf = source->free;

	if (__builtin_expect(buf == NULL, 0))
		return NULL;
	source->free = buf->next;
	source->num_free--;
	return buf;
}

/* Makes a popped element a buf of its own. */
static inline void sf_buf_init(struct doca_buf *buf, struct doca_mmap *mmap, void *head, size_t len, void *data, size_t data_len)
{
	buf->head = head;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
	buf->mmap = mmap;
	buf->next = NULL;
	buf->first = buf;
	buf->last = buf;
	buf->list_len = 1;
	buf->refcount = 1;
	sf_mmap_buf_made(mmap);
}

/* Returns the element, which is in no list, to the source. */
static inline void sf_buf_give_back(struct doca_buf *buf)
{
	struct sf_buf_source *source = buf->source;

	sf_mmap_buf_gone(buf->mmap);
	buf->mmap = &sf_buf_no_mmap;
	buf->refcount = 0;
	buf->next = source->free;
	source->free = buf;
	source->num_free++;
}

#endif
