/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that use Softfield, as /proc shows them: which library each has loaded, and in which runtime folder it listens. A
 * process of another user, or of another container, may not be visible.
 */
#ifndef DOCTOR_PROCESS_H
#define DOCTOR_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct doctor_process {
	pid_t pid;
	uid_t uid;
	char name[32];
	char library[PATH_MAX];	 /* its libdoca_common */
	bool library_is_deleted; /* another file has this name by now */
	char stranger[PATH_MAX]; /* a library of DOCA from another folder; empty: none */
	char folder[PATH_MAX];	 /* empty: it listens nowhere yet, or that cannot be seen */
	char xdg[PATH_MAX];	 /* XDG_RUNTIME_DIR as it was started with; empty: unset */
};

struct doctor_processes {
	struct doctor_process *all;
	size_t num;
	char own_library[PATH_MAX];
};

void doctor_processes_find(struct doctor_processes *processes);
void doctor_processes_free(struct doctor_processes *processes);

/* Whether two processes' libraries are the same file, or files of the same bytes. */
bool doctor_library_is_own(const struct doctor_process *process, const char *own);

#endif
