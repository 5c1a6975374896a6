/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that several processes append log records to, each record with one write. A program may close descriptors that it does
 * not know, and reuse their numbers. So each write checks that the descriptor still is the file's, and opens the file again if
 * not.
 */
#ifndef SF_BASE_LOG_FILE_H
#define SF_BASE_LOG_FILE_H

#include <stddef.h>

struct sf_log_file;

/*
 * Opens the file, and creates it with mode 0600 if needed. NULL with errno set: it cannot be opened, or is a folder. Never
 * blocks.
 */
struct sf_log_file *sf_log_file_open(const char *path);

/* Safe in any thread. A record that cannot be written is lost. */
void sf_log_file_write(struct sf_log_file *file, const char *record, size_t len);

/* The same for a descriptor of the caller's. */
void sf_log_fd_write(int fd, const char *record, size_t len);

#endif
