/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/runtime.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/runtime_folder.h"
#include "base/status_folder.h"
#include "base/thread_safety.h"

#define BACKLOG 1024
#define LOCK_LIMIT_NS UINT64_C(1000000000) /* for a stopped process that holds the lock */
#define STALE_SCAN_MAX 256		   /* sockets of dead agents checked at a time */
#define SOCKET_NAME_MAX 40		   /* "l-" and 32 digits */

static void socket_name(char name[SOCKET_NAME_MAX], enum sf_socket_kind kind, const struct sf_key *key)
{
	int at = snprintf(name, SOCKET_NAME_MAX, "%c-", kind);

	for (int i = 0; i < SF_KEY_SIZE; i++)
		at += snprintf(name + at, SOCKET_NAME_MAX - (size_t)at, "%02x", key->bytes[i]);
}

/* The folder's path may exceed a socket's path; a path through its descriptor does not. */
static void socket_address(struct sockaddr_un *address, int folder, const char *name)
{
	char path[PATH_MAX + SOCKET_NAME_MAX + 1];

	sf_runtime_folder_path(path);
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) + 1 + strlen(name) < sizeof(address->sun_path)) {
		strcat(strcat(path, "/"), name);
		memcpy(address->sun_path, path, strlen(path) + 1);
	} else {
		snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", folder, name);
	}
}

static doca_error_t socket_make(int *fd)
{
	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd >= 0)
		return DOCA_SUCCESS;

	int error = errno;

	SF_LOG_ERR("cannot create a socket: %s%s", strerror(error),
		   error == EMFILE || error == ENFILE ? "; raise the limit of open files (ulimit -n)" : "");
	return sf_error_from_errno(error);
}

/* Its owner is dead, so connecting is refused. *error says why that is unknown, or is 0. */
static bool socket_is_stale(const struct sockaddr_un *address, int *error)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool stale = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED;

	*error = fd >= 0 ? 0 : errno;
	if (fd >= 0)
		close(fd);
	return stale;
}

/* The process that holds the lock, as written there; 0 if unknown. */
static pid_t lock_holder(int lock)
{
	char text[16] = "";

	return pread(lock, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

static void lock_sign(int lock)
{
	struct rlimit limit;
	char text[16];
	int len = snprintf(text, sizeof(text), "%-10d\n", (int)getpid());

	/* Exceeding the limit would raise a signal. Without the number, or on a full file system, the holder is
	 * unknown. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= (rlim_t)len)
		(void)!pwrite(lock, text, (size_t)len, 0);
}

/* An open lock file of a thread. A child would share the lock, and hold it as long as it lives. */
struct folder_lock {
	int fd;
	struct folder_lock *next;
};

static pthread_mutex_t open_locks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder_lock *open_locks GUARDED_BY(open_locks_lock);

static SF_IN_CHILD void open_locks_close(void)
{
	for (struct folder_lock *lock = open_locks; lock != NULL; lock = lock->next)
		close(lock->fd);
	open_locks = NULL;
}

SF_FORK_LOCK(SF_FORK_PROVIDER, &open_locks_lock, open_locks_close);

/* Returns false with errno. */
static bool lock_open(int folder, struct folder_lock *lock)
{
	pthread_mutex_lock(&open_locks_lock);
	lock->fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock->fd >= 0) {
		lock->next = open_locks;
		open_locks = lock;
	}
	pthread_mutex_unlock(&open_locks_lock);
	return lock->fd >= 0;
}

static void folder_unlock(struct folder_lock *lock)
{
	struct folder_lock **at;

	pthread_mutex_lock(&open_locks_lock);
	at = &open_locks;
	while (*at != lock) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = lock->next;
	close(lock->fd);
	pthread_mutex_unlock(&open_locks_lock);
}

/* Bind, listen and the check for a dead listener are atomic under this lock. */
static doca_error_t folder_lock(int folder, struct folder_lock *lock)
{
	struct timespec ms = {.tv_nsec = 1000000};
	struct sf_liveness holder;
	int error = 0;

	if (!lock_open(folder, lock)) {
		error = errno;
		SF_LOG_ERR("cannot create or open the runtime folder's lock: %s; %s", strerror(error),
			   sf_runtime_folder_advice(error));
		return sf_error_from_errno(error);
	}
	sf_liveness_begin(&holder);
	while (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
		error = errno;
		if ((error != EWOULDBLOCK && error != EINTR) || sf_liveness_lost(&holder, lock_holder(lock->fd), LOCK_LIMIT_NS))
			break;
		nanosleep(&ms, NULL);
		error = 0;
	}
	if (error == 0) {
		lock_sign(lock->fd);
		return DOCA_SUCCESS;
	}
	if (error == EWOULDBLOCK)
		SF_LOG_ERR("process %d holds the lock of the runtime folder and makes no progress; is it stopped?",
			   (int)lock_holder(lock->fd));
	else
		SF_LOG_ERR("cannot lock the runtime folder: %s", strerror(error));
	folder_unlock(lock);
	return error == EWOULDBLOCK ? DOCA_ERROR_TIME_OUT : sf_error_from_errno(error);
}

/* The kernel's list of local sockets, as text, or NULL. */
static char *sockets_read(void)
{
	FILE *file = fopen("/proc/net/unix", "re"), *copy;
	size_t len, num;
	char *text = NULL, part[4096];

	if (file == NULL)
		return NULL;
	copy = open_memstream(&text, &len);
	while (copy != NULL && (num = fread(part, 1, sizeof(part), file)) != 0)
		fwrite(part, 1, num, copy);
	fclose(file);
	return copy != NULL && fclose(copy) == 0 ? text : NULL;
}

/* Returns true if a live process has the socket. It may be alive without being listed: in another network namespace. */
static bool socket_is_listed(const char *sockets, const struct sockaddr_un *address)
{
	char line_end[sizeof(address->sun_path) + 3];

	snprintf(line_end, sizeof(line_end), " %s\n", address->sun_path);
	/* A path by way of a descriptor is not the same in another process. */
	return sockets != NULL && strncmp(address->sun_path, "/proc/", strlen("/proc/")) != 0 &&
	       strstr(sockets, line_end) != NULL;
}

/* Killed processes leave their sockets behind: a new agent removes them, under the lock. A connect wakes the process that
 * listens, so that many that start at once would mostly answer each other: those of the list are not asked. */
static void folder_sweep(int folder)
{
	struct sockaddr_un address;
	int error, copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;
	char *sockets;

	if (dir == NULL) {
		if (copy >= 0)
			close(copy);
		return;
	}
	sockets = sockets_read();
	for (int i = 0; i < STALE_SCAN_MAX && (entry = readdir(dir)) != NULL; i++) {
		sf_status_page_sweep(folder, entry->d_name);
		if (strchr("alvw", entry->d_name[0]) == NULL || entry->d_name[1] != '-' ||
		    strlen(entry->d_name) >= SOCKET_NAME_MAX)
			continue;
		socket_address(&address, folder, entry->d_name);
		if (!socket_is_listed(sockets, &address) && socket_is_stale(&address, &error))
			unlinkat(folder, entry->d_name, 0);
	}
	free(sockets);
	closedir(dir);
}

static doca_error_t bind_listen(int folder, const char *name, int fd)
{
	struct sockaddr_un address;

	socket_address(&address, folder, name);

	int error = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;

	if (error == EADDRINUSE) {
		if (socket_is_stale(&address, &error))
			unlinkat(folder, name, 0);
		else if (error == 0)
			return DOCA_ERROR_ALREADY_EXIST;
		if (error == 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			error = errno;
	}
	if (error == 0 && listen(fd, BACKLOG) != 0)
		error = errno;
	if (error == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot listen on %s: %s; %s", address.sun_path, strerror(error), sf_runtime_folder_advice(error));
	return sf_error_from_errno(error);
}

doca_error_t sf_runtime_listen(enum sf_socket_kind kind, const struct sf_key *key, int *fd)
{
	char name[SOCKET_NAME_MAX];
	struct folder_lock lock;
	int folder;
	doca_error_t error = sf_runtime_folder_open(&folder);

	if (error != DOCA_SUCCESS)
		return error;
	error = folder_lock(folder, &lock);
	if (error != DOCA_SUCCESS)
		goto close_folder;
	if (kind == SF_SOCKET_AGENT)
		folder_sweep(folder);
	error = socket_make(fd);
	if (error != DOCA_SUCCESS)
		goto unlock;
	socket_name(name, kind, key);
	error = bind_listen(folder, name, *fd);
	if (error != DOCA_SUCCESS)
		close(*fd);
unlock:
	folder_unlock(&lock);
close_folder:
	close(folder);
	return error;
}

void sf_runtime_unlink(enum sf_socket_kind kind, const struct sf_key *key)
{
	char name[SOCKET_NAME_MAX], path[PATH_MAX + SOCKET_NAME_MAX + 1];

	sf_runtime_folder_path(path);
	socket_name(name, kind, key);
	strcat(strcat(path, "/"), name);
	unlink(path); /* by path: there may be no descriptor left for the folder */
}

doca_error_t sf_runtime_check_peer(int fd, int *pid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
		return DOCA_ERROR_OPERATING_SYSTEM;
	if (cred.uid != geteuid() && cred.uid != 0) {
		SF_LOG_ERR_LIMITED("a process of user %u is not let in: this one runs as user %u", (unsigned)cred.uid,
				   (unsigned)geteuid());
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*pid = cred.pid;
	return DOCA_SUCCESS;
}

static doca_error_t connect_error(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return DOCA_ERROR_NOT_FOUND;
	case EACCES:
	case EPERM:
		return DOCA_ERROR_NOT_PERMITTED;
	case EAGAIN:
		return DOCA_ERROR_AGAIN;
	default:
		SF_LOG_ERR_LIMITED("cannot connect in the runtime folder: %s", strerror(error));
		return sf_error_from_errno(error);
	}
}

doca_error_t sf_runtime_connect(enum sf_socket_kind kind, const struct sf_key *key, int *fd, int *pid)
{
	char name[SOCKET_NAME_MAX];
	struct sockaddr_un address;
	int folder;
	doca_error_t error = sf_runtime_folder_open(&folder);

	if (error != DOCA_SUCCESS)
		return error;
	error = socket_make(fd);
	if (error != DOCA_SUCCESS)
		goto close_folder;
	socket_name(name, kind, key);
	socket_address(&address, folder, name);
	if (connect(*fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		error = connect_error(errno);
	else
		error = sf_runtime_check_peer(*fd, pid);
	if (error != DOCA_SUCCESS)
		close(*fd);
close_folder:
	close(folder);
	return error;
}

_Bool sf_runtime_is_there(enum sf_socket_kind kind, const struct sf_key *key)
{
	int fd, pid;
	doca_error_t error = sf_runtime_connect(kind, key, &fd, &pid);

	if (error == DOCA_SUCCESS)
		close(fd);
	return error == DOCA_SUCCESS || error == DOCA_ERROR_AGAIN;
}
