/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status_folder.h"
#include "base/trace_request.h"
#include "tool.h"

#define ENVIRON_MAX (1u << 20)
#define VARIABLE "SOFTFIELD_TRACE="

/* ---- finding processes ---- */

static bool page_seen(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page)
{
	struct trace_target *target = reader->user;

	if (pid != target->pid)
		return true;
	snprintf(target->page_name, sizeof(target->page_name), "%s", reader->name);
	target->own_pid = page->head.pid;
	return false;
}

struct pid_list {
	pid_t *pids;
	size_t num, max;
};

static bool pid_seen(struct sf_status_reader *reader, pid_t pid, const struct sf_status_page *page)
{
	struct pid_list *list = reader->user;

	(void)page;
	if (pid != 0)
		list->pids[list->num++] = pid;
	return list->num < list->max;
}

size_t trace_targets_find(pid_t *pids, size_t max)
{
	struct pid_list list = {.pids = pids, .max = max};
	struct sf_status_reader reader = {.page = pid_seen, .user = &list};

	(void)sf_status_folder_read(&reader);
	return list.num;
}

/* ---- a process with SOFTFIELD_TRACE ---- */

/* Returns the value of VARIABLE in the process's environment, to be freed; NULL: unset. */
static char *variable_of(pid_t pid)
{
	char path[64], *text = malloc(ENVIRON_MAX + 1), *value = NULL;
	size_t len = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	in = fopen(path, "re");
	if (in != NULL && text != NULL)
		len = fread(text, 1, ENVIRON_MAX, in);
	if (in != NULL)
		fclose(in);
	if (len == 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	for (const char *at = text; at < text + len && value == NULL; at += strlen(at) + 1) {
		if (strncmp(at, VARIABLE, strlen(VARIABLE)) == 0 && at[strlen(VARIABLE)] != '\0')
			value = strdup(at + strlen(VARIABLE));
	}
	free(text);
	return value;
}

/* Opens the timeline of SOFTFIELD_TRACE, with all its events. */
static bool variable_open(struct trace_target *target)
{
	char path[PATH_MAX], *value = variable_of(target->pid);
	int fd = -1;

	if (value != NULL && value[0] == '/')
		snprintf(path, sizeof(path), "%s.%u", value, target->own_pid);
	else if (value != NULL)
		snprintf(path, sizeof(path), "/proc/%d/cwd/%s.%u", (int)target->pid, value, target->own_pid);
	if (value != NULL)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(value);
	if (fd < 0)
		return false;
	if (trace_process_open(&target->process, fd))
		return true;
	trace_process_close(&target->process);
	return false;
}

/* ---- requests ---- */

static bool request_make(struct trace_target *target)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!sf_trace_path(target->request, SF_TRACE_REQUEST_PREFIX, target->page_name))
		return false;
	target->request_fd = open(target->request, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (target->request_fd >= 0 && fcntl(target->request_fd, F_SETLK, &lock) == 0)
		return true;
	if (target->request_fd >= 0)
		close(target->request_fd);
	target->request_fd = -1;
	return false;
}

bool trace_target_ask(struct trace_target *target)
{
	struct sf_status_reader reader = {.page = page_seen, .user = target};
	uint64_t now_ns = sf_now_ns();

	target->request_fd = target->process.fd = -1;
	(void)sf_status_folder_read(&reader);
	if (target->page_name[0] == '\0') {
		(void)tool_fail("process %d runs no context in this runtime folder: see softfield ps", (int)target->pid);
		return false;
	}
	if (variable_open(target))
		return true;
	if (!request_make(target)) {
		(void)tool_fail("cannot request the timeline of process %d with %s: %s", (int)target->pid, target->request,
				errno == EAGAIN || errno == EACCES ? "another request is pending" : strerror(errno));
		return false;
	}
	target->process.from_ns = now_ns; /* its file may have older events */
	return true;
}

/* ---- reading ---- */

/* The file exists once the process has checked for requests; it may be incomplete. */
static void file_try(struct trace_target *target)
{
	uint64_t from_ns = target->process.from_ns;
	char path[PATH_MAX];
	int fd;

	if (!sf_trace_path(path, SF_TRACE_FILE_PREFIX, target->page_name))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && !trace_process_open(&target->process, fd))
		trace_process_close(&target->process);
	target->process.from_ns = from_ns;
}

bool trace_target_read(struct trace_target *target)
{
	target->is_over = kill(target->pid, 0) != 0 && errno == ESRCH;
	if (target->process.fd < 0)
		file_try(target);
	if (target->process.fd < 0 || trace_process_read(&target->process))
		return true;
	(void)tool_fail("no memory for the timeline of process %d", (int)target->pid);
	return false;
}

void trace_target_leave(struct trace_target *target)
{
	if (target->request_fd < 0)
		return;
	unlink(target->request);
	close(target->request_fd);
	target->request_fd = -1;
}
