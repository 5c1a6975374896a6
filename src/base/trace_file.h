/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapped timeline file of this process. Its content survives when the process is killed. */
#ifndef SF_BASE_TRACE_FILE_H
#define SF_BASE_TRACE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/trace_format.h"

struct sf_trace_file {
	struct sf_trace_head *head;	/* NULL without a file */
	uint32_t num_rings, last_stamp; /* private: the copies in head are for readers, and other processes may write them */
	int fd;
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
};

/* Creates the file at file->path, replacing one of a dead process. On failure returns false with errno set; EFBIG means the limit
 * of file sizes. */
bool sf_trace_file_create(struct sf_trace_file *file);

/* Allocates file space for another ring and returns its zeroed place in the mapping; NULL, not logged, without space. Without
 * this, a write to a full file system would kill the process. */
struct sf_trace_ring *sf_trace_file_ring(struct sf_trace_file *file);

/* Records a stamp of both clocks. */
void sf_trace_file_stamp(struct sf_trace_file *file);

/* Copies the file to `path`. On failure returns false with errno set. */
bool sf_trace_file_copy(const struct sf_trace_file *file, const char *path);

/* For a child of fork: the file belongs to the parent. */
void sf_trace_file_forget(struct sf_trace_file *file);

static inline struct sf_trace_event *sf_trace_ring_events(struct sf_trace_ring *ring)
{
	return (struct sf_trace_event *)((char *)ring + SF_TRACE_RING_HEAD);
}

static inline char *sf_trace_file_name(const struct sf_trace_file *file, uint32_t name)
{
	return (char *)file->head + SF_TRACE_NAMES_AT + (size_t)name * SF_TRACE_NAME_MAX;
}

#endif
