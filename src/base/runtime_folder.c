/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/runtime_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define PASSWD_SIZE 4096

enum owner {
	OWNER_NOBODY, /* there is no such file */
	OWNER_SELF,
	OWNER_OTHER,
};

/* Returns the folder's owner. Anything that is not a folder, such as a link to one, is not trusted. */
static enum owner folder_owner(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? OWNER_NOBODY : OWNER_OTHER;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? OWNER_SELF : OWNER_OTHER;
}

/* In the user's home, no other user can take the name. The home may be on a network file system, so the name contains the boot
 * id. */
static bool home_path(char path[PATH_MAX])
{
	char strings[PASSWD_SIZE], boot[37] = "";
	struct passwd passwd, *found = NULL;
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, boot, sizeof(boot) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (len <= 0 || getpwuid_r(geteuid(), &passwd, strings, sizeof(strings), &found) != 0 || found == NULL)
		return false;
	return snprintf(path, PATH_MAX, "%s/.softfield-%s", found->pw_dir, boot) < PATH_MAX;
}

/* Independent of the environment, so that all processes of the user find the same folder. */
void sf_runtime_folder_default(char path[PATH_MAX])
{
	char home[PATH_MAX];
	enum owner owner;

	snprintf(path, PATH_MAX, "/run/user/%u", (unsigned)geteuid());
	if (folder_owner(path) == OWNER_SELF) {
		strcat(path, "/softfield");
		return;
	}
	snprintf(path, PATH_MAX, "/tmp/softfield-%u", (unsigned)geteuid());
	owner = folder_owner(path);
	if (owner == OWNER_SELF || !home_path(home))
		return;
	/* Another user who took the name in /tmp may release it. Processes that use the folder in the home then keep using it. */
	if (owner == OWNER_OTHER || folder_owner(home) == OWNER_SELF)
		memcpy(path, home, sizeof(home));
}

static bool path_of_environment(char path[PATH_MAX])
{
	const char *own = secure_getenv("SOFTFIELD_RUNTIME"), *xdg = secure_getenv("XDG_RUNTIME_DIR");

	if (own != NULL && own[0] != '\0')
		snprintf(path, PATH_MAX, "%s", own);
	else if (xdg != NULL && xdg[0] != '\0')
		snprintf(path, PATH_MAX, "%s/softfield", xdg);
	else
		return false;
	return true;
}

void sf_runtime_folder_path(char path[PATH_MAX])
{
	if (!path_of_environment(path))
		sf_runtime_folder_default(path);
}

const char *sf_runtime_folder_advice(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "make room there, or set SOFTFIELD_RUNTIME to another folder";
	case EMFILE:
	case ENFILE:
		return "raise the limit of open files (ulimit -n)";
	default:
		return "set SOFTFIELD_RUNTIME to a folder of your own";
	}
}

static doca_error_t folder_error(const char *what, const char *path, int error)
{
	SF_LOG_ERR("cannot %s the runtime folder %s: %s; %s", what, path, strerror(error), sf_runtime_folder_advice(error));
	return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE ? DOCA_ERROR_FULL
											: DOCA_ERROR_NOT_PERMITTED;
}

/* Another user may have planted a symbolic link under this name: links are not followed there. */
static doca_error_t folder_open(const char *path, int flags, int *folder)
{
	struct stat st = {0};
	int fd;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return folder_error("make", path, errno);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (fd < 0)
		return folder_error("open", path, errno);
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0) {
		*folder = fd;
		return DOCA_SUCCESS;
	}
	close(fd);
	SF_LOG_ERR("the runtime folder %s has owner %u and mode %03o: it must have owner %u and mode 700; chmod it, or set "
		   "SOFTFIELD_RUNTIME to a folder of your own",
		   path, (unsigned)st.st_uid, (unsigned)st.st_mode & 0777, (unsigned)geteuid());
	return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t sf_runtime_folder_open(int *folder)
{
	char path[PATH_MAX], other[PATH_MAX];
	doca_error_t error;

	if (path_of_environment(path))
		return folder_open(path, 0, folder);
	sf_runtime_folder_default(path);
	error = folder_open(path, O_NOFOLLOW, folder);
	if (error == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	sf_runtime_folder_default(other); /* another process took the name between check and mkdir */
	return strcmp(path, other) != 0 ? folder_open(other, O_NOFOLLOW, folder) : error;
}
