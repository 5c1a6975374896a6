/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/runtime_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

void sf_runtime_folder_path(char path[PATH_MAX])
{
	const char *own = getenv("SOFTFIELD_RUNTIME"), *xdg = getenv("XDG_RUNTIME_DIR");

	if (own != NULL && own[0] != '\0')
		snprintf(path, PATH_MAX, "%s", own);
	else if (xdg != NULL && xdg[0] != '\0')
		snprintf(path, PATH_MAX, "%s/softfield", xdg);
	else
		snprintf(path, PATH_MAX, "/tmp/softfield-%u", (unsigned)geteuid());
}

doca_error_t sf_runtime_folder_open(int *fd)
{
	char path[PATH_MAX];
	struct stat st;

	sf_runtime_folder_path(path);
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		SF_LOG_ERR("cannot make the runtime folder %s: %s; set SOFTFIELD_RUNTIME to a folder of your own", path,
			   strerror(errno));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st) != 0) {
		SF_LOG_ERR("cannot open the runtime folder %s: %s; set SOFTFIELD_RUNTIME to a folder of your own", path,
			   strerror(errno));
		if (*fd >= 0)
			close(*fd);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the runtime folder %s has owner %u and mode %03o, needed are owner %u and mode 700; chmod it, or set "
		   "SOFTFIELD_RUNTIME to a folder of your own",
		   path, (unsigned)st.st_uid, (unsigned)st.st_mode & 0777, (unsigned)geteuid());
	close(*fd);
	return DOCA_ERROR_NOT_PERMITTED;
}
