/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/status_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/runtime_folder.h"
#include "base/trace_request.h"

#define PREFIX SF_STATUS_PREFIX
#define NAMES_MAX 8 /* attempts for one process: another container may use the same pid */
#define READS_MAX 4 /* attempts for a page that is being written */

/* A folder that other users can write to is not used. The first process that needs the folder creates it. */
static int folder_open(void)
{
	char path[PATH_MAX];
	struct stat st;
	int folder;

	sf_runtime_folder_path(path);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -1;
	if (fstat(folder, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return folder;
	close(folder);
	return -1;
}

static bool page_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLK, &lock) == 0;
}

/* Removes a page whose process is dead. The process that has the lock and finds the file still there owns the name. */
static void page_remove(int folder, const char *name, int fd)
{
	struct stat by_fd, by_name;

	if (!page_lock(fd) || fstat(fd, &by_fd) != 0 || fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (by_fd.st_ino == by_name.st_ino && by_fd.st_dev == by_name.st_dev)
		unlinkat(folder, name, 0);
}

/* ---- this process's page ---- */

/* Removes the page of a dead process with the same pid. */
static void name_free(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	page_remove(folder, name, fd);
	close(fd);
}

static bool name_take(int folder, struct sf_status_file *file)
{
	struct stat st;

	name_free(folder, file->name);
	file->fd = openat(folder, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return false;
	if (page_lock(file->fd) && fstat(file->fd, &st) == 0 && st.st_nlink == 1)
		return true;
	close(file->fd); /* another process removed it before it was locked, as a dead process's page */
	file->fd = -1;
	return false;
}

bool sf_status_file_open(struct sf_status_file *file)
{
	int folder = folder_open();

	file->fd = -1;
	errno = 0;
	if (folder < 0)
		return false;
	for (int i = 0; i < NAMES_MAX && file->fd < 0; i++) {
		if (i == 0)
			snprintf(file->name, sizeof(file->name), PREFIX "%d", (int)getpid());
		else
			snprintf(file->name, sizeof(file->name), PREFIX "%d.%d", (int)getpid(), i);
		if (!name_take(folder, file) && errno == ENOSPC)
			break;
	}
	close(folder);
	return file->fd >= 0;
}

bool sf_status_file_write(const struct sf_status_file *file, const void *bytes, size_t len)
{
	return pwrite(file->fd, bytes, len, 0) == (ssize_t)len && ftruncate(file->fd, (off_t)len) == 0;
}

void sf_status_file_close(struct sf_status_file *file)
{
	char path[PATH_MAX + SF_STATUS_NAME_MAX + 1];

	if (file->fd < 0)
		return;
	sf_runtime_folder_path(path); /* uses the path, because no descriptor may be left to open the folder */
	strcat(strcat(path, "/"), file->name);
	unlink(path);
	close(file->fd);
	file->fd = -1;
}

/* ---- pages of other processes ---- */

struct scan {
	struct sf_status_reader *reader;
	int folder;
	uint8_t bytes[sizeof(struct sf_status_page) + 1]; /* one more byte, to detect a file that is too long */
	struct sf_status_page page;
};

static bool is_own(const struct scan *scan, const char *name)
{
	const struct sf_status_file *own = scan->reader->own;

	return own != NULL && own->fd >= 0 && strcmp(name, own->name) == 0;
}

/* Passes the page in fd to the reader, unless its process is dead. Returns false when the reader wants no more. */
static bool page_read(struct scan *scan, const char *name, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || fcntl(fd, F_GETLK, &lock) != 0)
		return true;
	if (lock.l_type == F_UNLCK) {
		page_remove(scan->folder, name, fd);
		return true;
	}
	for (int i = 0; i < READS_MAX; i++) {
		ssize_t len = pread(fd, scan->bytes, sizeof(scan->bytes), 0);

		if (len < 0)
			return true;
		scan->reader->name = name;
		if (sf_status_page_parse(scan->bytes, (size_t)len, &scan->page))
			return scan->reader->page(scan->reader, lock.l_pid > 0 ? lock.l_pid : 0, &scan->page);
	}
	return true;
}

static bool entry_read(struct scan *scan, const char *name)
{
	bool more;
	int fd;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strlen(name) >= SF_STATUS_NAME_MAX || is_own(scan, name))
		return true;
	fd = openat(scan->folder, name,
		    O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* for writing, which a write lock requires */
	if (fd < 0)
		return true;
	more = page_read(scan, name, fd);
	close(fd);
	return more;
}

static void entries_read(struct scan *scan, DIR *dir)
{
	struct dirent *entry;

	for (int i = 0; i < SF_STATUS_PAGES_MAX && (entry = readdir(dir)) != NULL; i++) {
		if (!entry_read(scan, entry->d_name))
			break;
	}
}

static bool is_own_number(const char *number)
{
	char own[SF_STATUS_NAME_MAX];
	int len = snprintf(own, sizeof(own), "%d", (int)getpid());

	return strncmp(number, own, (size_t)len) == 0 && (number[len] == '\0' || number[len] == '.');
}

void sf_status_page_sweep(int folder, const char *name)
{
	static const char *const prefixes[] = {PREFIX, SF_TRACE_FILE_PREFIX, SF_TRACE_REQUEST_PREFIX};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], len) == 0 && strlen(name + len) < SF_STATUS_NAME_MAX && !is_own_number(name + len))
			name_free(folder, name);
	}
}

bool sf_status_folder_read(struct sf_status_reader *reader)
{
	struct scan *scan = malloc(sizeof(*scan));
	int folder = folder_open();
	DIR *dir = folder >= 0 && scan != NULL ? fdopendir(folder) : NULL;

	if (dir != NULL) {
		scan->reader = reader;
		scan->folder = folder;
		entries_read(scan, dir);
		closedir(dir); /* and folder */
	} else if (folder >= 0) {
		close(folder);
	}
	free(scan);
	return dir != NULL;
}
