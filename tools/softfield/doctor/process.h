/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that use Softfield, from /proc: the library that each has loaded, and the runtime folder where it listens.
 * Processes of other users or containers may be invisible.
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
	bool library_is_deleted; /* the file was replaced */
	char stranger[PATH_MAX]; /* a library of DOCA from another folder; empty: none */
	char folder[PATH_MAX];	 /* empty: it does not listen yet, or the folder is invisible */
	char xdg[PATH_MAX];	 /* its XDG_RUNTIME_DIR at start; empty: unset */
};

struct doctor_processes {
	struct doctor_process *all;
	size_t num;
	char own_library[PATH_MAX];
};

void doctor_processes_find(struct doctor_processes *processes);
void doctor_processes_free(struct doctor_processes *processes);

/* Returns whether both libraries are the same file, or have the same bytes. */
bool doctor_library_is_own(const struct doctor_process *process, const char *own);

#endif
