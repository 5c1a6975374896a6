/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static doca_error_t file_check(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		SF_LOG_ERR("the secret %s is not a file", path);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & 077) == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the secret %s has owner %u and mode %03o: it must have owner %u and mode 600: %s it", path,
		   (unsigned)st.st_uid, (unsigned)st.st_mode & 0777, (unsigned)geteuid(),
		   st.st_uid == geteuid() || st.st_uid == 0 ? "chmod 600" : "chown");
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t read_all(int fd, const char *path, char *bytes, size_t room, size_t *len)
{
	ssize_t got = read(fd, bytes, room);

	if (got < 0) {
		SF_LOG_ERR("cannot read the secret %s: %s", path, strerror(errno));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if ((size_t)got == room)
		return DOCA_ERROR_TOO_BIG;
	*len = (size_t)got;
	if (got > 0 && bytes[got - 1] == '\n')
		(*len)--;
	return DOCA_SUCCESS;
}

doca_error_t sf_secret_file_read(int folder, const char *name, const char *path, void *bytes, size_t room, size_t *len)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	doca_error_t result;

	if (fd < 0 && errno == ENOENT)
		return DOCA_ERROR_NOT_FOUND;
	if (fd < 0) {
		SF_LOG_ERR("cannot open the secret %s: %s", path,
			   errno == ELOOP ? "it is a symbolic link: name the file itself" : strerror(errno));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	result = file_check(fd, path);
	if (result == DOCA_SUCCESS)
		result = read_all(fd, path, bytes, room, len);
	close(fd);
	return result;
}
