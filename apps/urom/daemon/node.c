/* SPDX-License-Identifier: BSD-3-Clause */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/runtime_folder.h"
#include "plugins.h"

DOCA_LOG_REGISTER(UROM_DAEMON::NODE);

#define OPENS_MAX 100
#define NAME_MAX_LEN 128

static void make_name(char name[NAME_MAX_LEN])
{
	const char *node = secure_getenv("SOFTFIELD_NODE");

	snprintf(name, NAME_MAX_LEN, "urom-daemon%s%.64s", node != NULL ? "-" : "", node != NULL ? node : "");
	for (char *at = name; *at != '\0'; at++)
		*at = *at == '/' ? '_' : *at;
}

/* A file that was removed between open and lock protects nothing, so the call starts over. */
static int open_locked(int folder, const char *name, bool *made)
{
	for (int i = 0; i < OPENS_MAX; i++) {
		struct stat st;
		int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		*made = fd >= 0;
		if (fd < 0 && errno == EEXIST)
			fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || (fstat(fd, &st) == 0 && st.st_nlink != 0))
			return fd;
		close(fd);
	}
	return -1;
}

/* Returns false with errno set. */
static bool write_number(int fd)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", getpid());
	return ftruncate(fd, 0) == 0 && write(fd, pid, strlen(pid)) == (ssize_t)strlen(pid);
}

static doca_error_t lock_in(int folder, const char *name, const char *path, int *lock)
{
	char pid[32] = "";
	bool made;
	int fd = open_locked(folder, name, &made);

	if (fd < 0) {
		DOCA_LOG_ERR("cannot open %s/%s: %s; set SOFTFIELD_RUNTIME to a writable folder", path, name, strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		(void)!read(fd, pid, sizeof(pid) - 1);
		DOCA_LOG_ERR("another doca_urom_daemon runs on this node, process %s: end it first, or set SOFTFIELD_NODE", pid);
		close(fd);
		return DOCA_ERROR_IN_USE;
	}
	if (write_number(fd)) {
		*lock = fd;
		return DOCA_SUCCESS;
	}
	DOCA_LOG_ERR("cannot write %s/%s: %s; make room there, or set SOFTFIELD_RUNTIME to another folder", path, name,
		     strerror(errno));
	if (made)
		(void)unlinkat(folder, name, 0);
	close(fd);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

/* The lock ends with the process in any case; a second daemon reads the number in the file for its error line. */
doca_error_t node_lock(int *lock)
{
	char name[NAME_MAX_LEN], path[PATH_MAX];
	int folder;
	doca_error_t result = sf_runtime_folder_open(&folder);

	if (result != DOCA_SUCCESS)
		return result;
	sf_runtime_folder_path(path);
	make_name(name);
	result = lock_in(folder, name, path, lock);
	close(folder);
	return result;
}

/* Does not create the folder again if it was removed, and keeps a file of another daemon. */
void node_unlock(int lock)
{
	char name[NAME_MAX_LEN], path[PATH_MAX];
	struct stat own, there;

	make_name(name);
	sf_runtime_folder_path(path);
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0 && fstat(lock, &own) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    own.st_ino == there.st_ino && own.st_dev == there.st_dev)
		(void)unlinkat(folder, name, 0);
	if (folder >= 0)
		close(folder);
	close(lock);
}
