/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/runtime_folder.h"
#include "daemon.h"

DOCA_LOG_REGISTER(UROM_DAEMON::NODE);

/* The lock ends with the process, however that ends; the number in the file is for whoever is refused. */
doca_error_t node_lock(int *lock)
{
	const char *node = getenv("SOFTFIELD_NODE");
	char name[128], pid[32] = "";
	int folder;
	doca_error_t result = sf_runtime_folder_open(&folder);
	if (result != DOCA_SUCCESS)
		return result;
	snprintf(name, sizeof(name), "urom-daemon%s%.64s", node != NULL ? "-" : "", node != NULL ? node : "");
	for (char *at = name; *at != '\0'; at++)
		*at = *at == '/' ? '_' : *at;
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	close(folder);
	if (fd < 0) {
		DOCA_LOG_ERR("cannot open %s in the runtime folder: %s", name, strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		(void)!read(fd, pid, sizeof(pid) - 1);
		DOCA_LOG_ERR("another doca_urom_daemon runs on this node, process %s: end it first, or set SOFTFIELD_NODE", pid);
		close(fd);
		return DOCA_ERROR_IN_USE;
	}
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (ftruncate(fd, 0) != 0 || write(fd, pid, strlen(pid)) < 0)
		DOCA_LOG_WARN("cannot write this process's number to %s: %s", name, strerror(errno));
	*lock = fd;
	return DOCA_SUCCESS;
}
