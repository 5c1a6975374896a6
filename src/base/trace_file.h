/* SPDX-License-Identifier: BSD-3-Clause */
/* A process's own timeline file, mapped. What is written there stays when the process is killed. */
#ifndef SF_BASE_TRACE_FILE_H
#define SF_BASE_TRACE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/trace_format.h"

struct sf_trace_file {
	struct sf_trace_head *head;	/* NULL: there is none */
	uint32_t num_rings, last_stamp; /* what the head says of them is for readers: another process may write there */
	int fd;
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
};

/* Makes it at file->path, in place of one that a dead process left there. False: it cannot, and errno says why: EFBIG is the
 * limit of file sizes. */
bool sf_trace_file_create(struct sf_trace_file *file);

/* Has room made for one ring more: its place in the mapping, zeroed; NULL, without a log line: there is no room. What has no
 * room would kill the process when it is written. */
struct sf_trace_ring *sf_trace_file_ring(struct sf_trace_file *file);

/* Notes the time by both clocks. */
void sf_trace_file_stamp(struct sf_trace_file *file);

/* Copies what there is to `path`. False: it cannot, and errno says why. */
bool sf_trace_file_copy(const struct sf_trace_file *file, const char *path);

/* In a child: the file is the parent's. */
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
