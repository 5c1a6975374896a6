/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Unix socket of a service for its own machine. It is in the user's runtime folder, under a name with the loopback
 * address, port and network namespace that it serves.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "urom/comm/comm_private.h"

bool comm_local_address(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;

	return address->sa_family == AF_INET && ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static void make_name(const struct sockaddr *address, char name[COMM_LOCAL_NAME])
{
	char text[SF_COMM_ADDRESS_MAX];
	struct stat st;

	comm_address_name(address, text);
	*strrchr(text, ':') = '-';
	if (stat("/proc/self/ns/net", &st) != 0)
		st.st_ino = 0;
	snprintf(name, COMM_LOCAL_NAME, "urom-%llx-%s", (unsigned long long)st.st_ino, text);
}

/* The folder's path may exceed a socket's path; a path through its descriptor does not. */
static void fill_address(struct sockaddr_un *address, int folder, const char *name)
{
	char path[PATH_MAX];

	sf_runtime_folder_path(path);
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	int len = snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", path, name);
	if (len < 0 || (size_t)len >= sizeof(address->sun_path))
		snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", folder, name);
}

bool comm_local_is_own(int fd, pid_t *pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	*pid = peer.pid;
	return peer.uid == geteuid();
}

static int connect_in(int folder, const struct sockaddr *address)
{
	char name[COMM_LOCAL_NAME];
	struct sockaddr_un there;
	pid_t pid;

	make_name(address, name);
	fill_address(&there, folder, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	int error = connect(fd, (const struct sockaddr *)&there, sizeof(there)) == 0 ? 0 : errno;
	if (error == 0 && !comm_local_is_own(fd, &pid))
		error = ECONNREFUSED;
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int comm_local_connect(const struct sockaddr *address)
{
	char path[PATH_MAX];

	sf_runtime_folder_path(path);
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -1;
	int fd = connect_in(folder, address), error = errno;
	close(folder);
	errno = error;
	return fd;
}

/* Only the process that holds the TCP port may use the name, so an existing socket belongs to a killed process. */
static int listen_in(int folder, const char *name)
{
	struct sockaddr_un own;

	fill_address(&own, folder, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)unlinkat(folder, name, 0);
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&own, sizeof(own)) == 0 && listen(fd, SF_COMM_PEERS_MAX) == 0)
		return fd;
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

doca_error_t comm_local_listen(const struct sockaddr *address, char name[COMM_LOCAL_NAME], int *fd)
{
	int folder;
	doca_error_t result = sf_runtime_folder_open(&folder);

	if (result != DOCA_SUCCESS)
		return result;
	make_name(address, name);
	*fd = listen_in(folder, name);
	if (*fd < 0) {
		SF_LOG_ERR("urom: cannot listen on %s in the runtime folder: %s; set SOFTFIELD_RUNTIME to a folder that can be "
			   "written",
			   name, strerror(errno));
		name[0] = '\0';
		result = DOCA_ERROR_OPERATING_SYSTEM;
	}
	close(folder);
	return result;
}

void comm_local_remove(const char *name)
{
	char path[PATH_MAX];

	sf_runtime_folder_path(path);
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	(void)unlinkat(folder, name, 0);
	close(folder);
}
