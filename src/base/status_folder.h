/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status pages in the runtime folder: files status.PID. The process holds a record lock on its own (fcntl), which the kernel
 * drops with the process. So a page without a lock is a dead process's, and the lock's owner is the page's process, also where
 * its number differs, in another container. No process opens its own page twice: closing it would drop the lock.
 */
#ifndef SF_BASE_STATUS_FOLDER_H
#define SF_BASE_STATUS_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status_page.h"
#include "base/visibility.h"

#define SF_STATUS_PREFIX "status."
#define SF_STATUS_NAME_MAX 32	 /* of a file, with its NUL */
#define SF_STATUS_PAGES_MAX 4096 /* that are looked for in a folder */

/* A process's own page. */
struct sf_status_file {
	int fd; /* -1: there is none */
	char name[SF_STATUS_NAME_MAX];
};

/* Makes this process's page. False: there is no folder, or no room; nothing is logged. */
bool sf_status_file_open(struct sf_status_file *file);
/* False: the file system is full, say. */
bool sf_status_file_write(const struct sf_status_file *file, const void *bytes, size_t len);
/* Removes it. */
void sf_status_file_close(struct sf_status_file *file);

/* Removes the page of that name, if it is one and its process is dead; likewise a timeline in the runtime folder, and a request
 * for one, whose owners have them locked in the same way. Other names, and this process's, are left alone. */
SF_API void sf_status_page_sweep(int folder, const char *name);

struct sf_status_reader {
	/* A page of a process that lives, but not of this one. pid: as seen from here, 0 if it cannot be. Return false to see
	 * no more. */
	bool (*page)(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page);
	const char *name;		  /* of the page's file, in `page` */
	const struct sf_status_file *own; /* this process's, which is left out; or NULL */
	void *user;
};

/* Shows the reader each page of the runtime folder, and removes those of dead processes. False: there is no such folder, or no
 * memory. Not logged. */
SF_API bool sf_status_folder_read(struct sf_status_reader *reader);

#endif
