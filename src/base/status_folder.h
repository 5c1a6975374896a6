/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status pages in the runtime folder: files status.PID. A process holds a record lock (fcntl) on its page, which the kernel drops
 * when the process ends. So a page without a lock belongs to a dead process, and the lock's owner is the page's process, even if
 * its pid differs in another container. A process never opens its own page twice, because close would drop the lock.
 */
#ifndef SF_BASE_STATUS_FOLDER_H
#define SF_BASE_STATUS_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status_page.h"
#include "base/visibility.h"

#define SF_STATUS_PREFIX "status."
#define SF_STATUS_NAME_MAX 32	 /* bytes of a file name, with its NUL */
#define SF_STATUS_PAGES_MAX 4096 /* maximum that a scan reads */

/* The page of this process. */
struct sf_status_file {
	int fd; /* -1 without a page */
	char name[SF_STATUS_NAME_MAX];
};

/* Creates this process's page. False, not logged, without a folder or room. */
bool sf_status_file_open(struct sf_status_file *file);
/* Returns false if the write fails, for example because the file system is full. */
bool sf_status_file_write(const struct sf_status_file *file, const void *bytes, size_t len);
/* Removes the page. */
void sf_status_file_close(struct sf_status_file *file);

/* Removes the page of that name if its process is dead. Does the same for timelines and requests for them, whose owners lock them
 * in the same way. Ignores other names and this process's files. */
SF_API void sf_status_page_sweep(int folder, const char *name);

struct sf_status_reader {
	/* Called with the page of each other live process. pid: as seen from this process, or 0 if not visible. Return false to
	 * stop. */
	bool (*page)(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page);
	const char *name;		  /* of the page's file, in `page` */
	const struct sf_status_file *own; /* this process's page, to be skipped; or NULL */
	void *user;
};

/* Passes each page of the runtime folder to the reader, and removes those of dead processes. False, not logged, without a folder
 * or memory. */
SF_API bool sf_status_folder_read(struct sf_status_reader *reader);

#endif
