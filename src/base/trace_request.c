/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace_request.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/runtime_folder.h"
#include "base/status_folder.h"

bool sf_trace_path(char path[PATH_MAX], const char *prefix, const char *page_name)
{
	const size_t skipped = strlen(SF_STATUS_PREFIX);
	char folder[PATH_MAX];
	int len;

	if (strncmp(page_name, SF_STATUS_PREFIX, skipped) != 0)
		return false;
	sf_runtime_folder_path(folder);
	len = snprintf(path, PATH_MAX, "%s/%s%s", folder, prefix, page_name + skipped);
	return len > 0 && len < PATH_MAX;
}

/* The folder's owner was checked when the page was created. */
uint64_t sf_trace_request_find(const char *page_name)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PATH_MAX];
	struct stat st;
	bool is_wanted;
	int fd;

	if (!sf_trace_path(path, SF_TRACE_REQUEST_PREFIX, page_name))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	is_wanted = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && fcntl(fd, F_GETLK, &lock) == 0 &&
		    lock.l_type != F_UNLCK;
	close(fd);
	if (!is_wanted)
		unlink(path); /* the requester has exited */
	return is_wanted ? ((uint64_t)st.st_ctim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_ctim.tv_nsec) | 1 : 0;
}
