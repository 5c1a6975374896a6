/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fork.h"

struct sf_log_file {
	char path[PATH_MAX]; /* absolute */
	/* Guarded by lock */
	int fd; /* -1 when it is gone */
	dev_t dev;
	ino_t ino;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_LOG, &lock, NULL);

/* A process may start without its standard streams. Their numbers stay free, or what it prints would go to the file. */
static int leave_standard_streams(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;

	int other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	close(fd);
	return other;
}

/* Opening a FIFO without a reader fails instead of blocking. Later writes may block, as those to standard error do. */
static int open_to_append(const char *path, struct stat *st)
{
	int fd = leave_standard_streams(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFL, O_APPEND) == 0 && fstat(fd, st) == 0)
		return fd;
	close(fd);
	return -1;
}

struct sf_log_file *sf_log_file_open(const char *path)
{
	struct sf_log_file *file = calloc(1, sizeof(*file));
	struct stat st = {0};

	if (file == NULL)
		return NULL;
	file->fd = open_to_append(path, &st);
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (file->fd >= 0) {
		if (realpath(path, file->path) == NULL) /* /dev/stdout that is a pipe */
			snprintf(file->path, sizeof(file->path), "%s", path);
		return file;
	}

	int error = errno;

	free(file);
	errno = error;
	return NULL;
}

static bool is_open(const struct sf_log_file *file)
{
	struct stat st;

	return file->fd >= 0 && fstat(file->fd, &st) == 0 && st.st_dev == file->dev && st.st_ino == file->ino;
}

/* The program has closed the descriptor, and may have reused its number. So it is not closed here. */
static void open_again(struct sf_log_file *file)
{
	struct stat st = {0};

	file->fd = open_to_append(file->path, &st);
	file->dev = st.st_dev;
	file->ino = st.st_ino;
}

/* The lock is dropped before the write, which may block. */
static int file_descriptor(struct sf_log_file *file)
{
	int fd;

	pthread_mutex_lock(&lock);
	if (!is_open(file))
		open_again(file);
	fd = file->fd;
	pthread_mutex_unlock(&lock);
	return fd;
}

void sf_log_fd_write(int fd, const char *record, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, record, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return; /* there is nowhere to report it */
		record += written;
		len -= (size_t)written;
	}
}

void sf_log_file_write(struct sf_log_file *file, const char *record, size_t len)
{
	int fd = file_descriptor(file);

	if (fd >= 0)
		sf_log_fd_write(fd, record, len);
}
