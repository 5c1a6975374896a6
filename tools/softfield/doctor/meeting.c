/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the runtime folder, other runtime folders in use, and the libraries of the processes there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <softfield/version.h>

#include "base/runtime_folder.h"
#include "doctor/doctor.h"

#define NFS_MAGIC 0x6969
#define SHOWN_MAX 64 /* lines of one kind */

static const char *folder_origin(void)
{
	const char *own = getenv("SOFTFIELD_RUNTIME"), *xdg = getenv("XDG_RUNTIME_DIR");

	return own && *own ? "by SOFTFIELD_RUNTIME" : xdg && *xdg ? "by XDG_RUNTIME_DIR" : "the user's default";
}

static size_t num_in(const struct doctor_processes *processes, const char *folder)
{
	size_t num = 0;

	for (size_t i = 0; i < processes->num; i++)
		num += !strcmp(processes->all[i].folder, folder);
	return num;
}

static void say_missing(struct doctor_report *report, const char *path)
{
	char parent[PATH_MAX];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = '\0';
	if (access(slash ? parent : ".", W_OK | X_OK) == 0)
		doctor_say(report, DOCTOR_OK, "runtime folder", "%s (%s) does not exist yet: the first process creates it", path,
			   folder_origin());
	else
		doctor_say(report, DOCTOR_ERROR, "runtime folder",
			   "%s (%s) cannot be created: %s; set SOFTFIELD_RUNTIME to a folder of your own", path, folder_origin(),
			   strerror(errno));
}

/* Reports a fault and returns whether there is one. */
static bool has_fault(struct doctor_report *report, const char *path, const struct stat *st)
{
	struct statfs fs;

	if (!S_ISDIR(st->st_mode))
		doctor_say(report, DOCTOR_ERROR, "runtime folder",
			   "%s (%s) is not a folder: set SOFTFIELD_RUNTIME to one of your own", path, folder_origin());
	else if (st->st_uid != geteuid())
		doctor_say(report, DOCTOR_ERROR, "runtime folder",
			   "%s (%s) belongs to user %u, you are user %u: set SOFTFIELD_RUNTIME to a folder of your own", path,
			   folder_origin(), (unsigned)st->st_uid, (unsigned)geteuid());
	else if (st->st_mode & 077)
		doctor_say(report, DOCTOR_ERROR, "runtime folder", "%s (%s) has mode %03o, and others may use it: chmod 700 %s",
			   path, folder_origin(), (unsigned)st->st_mode & 0777, path);
	else if (access(path, W_OK | X_OK) != 0)
		doctor_say(report, DOCTOR_ERROR, "runtime folder",
			   "%s (%s) cannot be written: %s; set SOFTFIELD_RUNTIME to another folder", path, folder_origin(),
			   strerror(errno));
	else if (statfs(path, &fs) == 0 && (fs.f_bavail == 0 || (fs.f_files != 0 && fs.f_ffree == 0)))
		doctor_say(report, DOCTOR_ERROR, "runtime folder", "%s (%s): its file system is full; %s", path, folder_origin(),
			   sf_runtime_folder_advice(ENOSPC));
	else if (statfs(path, &fs) == 0 && fs.f_type == NFS_MAGIC)
		doctor_say(report, DOCTOR_WARNING, "runtime folder",
			   "%s (%s) is on a network file system, which does not connect processes of other machines: set "
			   "SOFTFIELD_RUNTIME to a "
			   "local folder",
			   path, folder_origin());
	else
		return false;
	return true;
}

static void say_relative(struct doctor_report *report, const char *path)
{
	if (path[0] != '/')
		doctor_say(report, DOCTOR_WARNING, "runtime folder",
			   "%s is relative to the working folder, so processes started elsewhere use another one: give "
			   "SOFTFIELD_RUNTIME an absolute path",
			   path);
}

/* A program started by sudo, cron or ssh may lack the variable. */
static void say_default(struct doctor_report *report, const char *path)
{
	const char *own = getenv("SOFTFIELD_RUNTIME");
	char other[PATH_MAX];

	sf_runtime_folder_default(other);
	if ((own && *own) || !strcmp(path, other))
		return;
	doctor_say(report, DOCTOR_WARNING, "runtime folder",
		   "a shell without XDG_RUNTIME_DIR uses %s instead: set SOFTFIELD_RUNTIME in both, or the same XDG_RUNTIME_DIR",
		   other);
}

void doctor_check_folder(struct doctor_report *report, const struct doctor_processes *processes)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;
	size_t num;

	sf_runtime_folder_path(path);
	if (stat(path, &st) != 0) {
		say_missing(report, path);
	} else if (!has_fault(report, path, &st)) {
		num = num_in(processes, path);
		if (num == 0 && realpath(path, real))
			num = num_in(processes, real);
		doctor_say(report, DOCTOR_OK, "runtime folder", "%s (%s), yours, mode %03o; processes here now: %zu", path,
			   folder_origin(), (unsigned)st.st_mode & 0777, num);
	}
	say_relative(report, path);
	say_default(report, path);
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	return !strcmp(a, b) || (stat(a, &a_stat) == 0 && stat(b, &b_stat) == 0 && a_stat.st_dev == b_stat.st_dev &&
				 a_stat.st_ino == b_stat.st_ino);
}

/* One line for all processes of a folder names the first. */
static void say_elsewhere(struct doctor_report *report, const struct doctor_process *process, size_t num, const char *path)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char who[96];

	snprintf(who, sizeof(who), num > 1 ? "process %d (%s) and %zu more" : "process %d (%s)", (int)process->pid, process->name,
		 num - 1);
	if (process->uid != geteuid())
		doctor_say(report, DOCTOR_WARNING, "other folders",
			   "%s of user %u: %s; programs find only those of their own user, so run both as one user",
			   process->folder, (unsigned)process->uid, who);
	else if (strcmp(process->xdg, xdg ? xdg : ""))
		doctor_say(report, DOCTOR_WARNING, "other folders",
			   "%s: %s, with XDG_RUNTIME_DIR %s, here it is %s; set the same SOFTFIELD_RUNTIME for both",
			   process->folder, who, *process->xdg ? process->xdg : "unset", xdg && *xdg ? xdg : "unset");
	else
		doctor_say(report, DOCTOR_WARNING, "other folders",
			   "%s: %s; programs started here use %s, so set the same SOFTFIELD_RUNTIME for both", process->folder,
			   who, path);
}

/* Returns true for the first of the processes in its folder. */
static bool is_first_there(const struct doctor_processes *processes, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (!strcmp(processes->all[i].folder, processes->all[index].folder))
			return false;
	}
	return true;
}

void doctor_check_other_folders(struct doctor_report *report, const struct doctor_processes *processes)
{
	char path[PATH_MAX];
	size_t num = 0;

	sf_runtime_folder_path(path);
	for (size_t i = 0; i < processes->num; i++) {
		const struct doctor_process *process = &processes->all[i];

		if (*process->folder && is_first_there(processes, i) && !is_same_folder(process->folder, path) &&
		    num++ < SHOWN_MAX)
			say_elsewhere(report, process, num_in(processes, process->folder), path);
	}
	if (num == 0)
		doctor_say(report, DOCTOR_OK, "other folders", "no process visible from here uses another one");
	else if (num > SHOWN_MAX)
		doctor_say(report, DOCTOR_WARNING, "other folders", "%zu more are in use", num - SHOWN_MAX);
}

static bool has_same_libraries(const struct doctor_process *a, const struct doctor_process *b)
{
	return !strcmp(a->library, b->library) && !strcmp(a->stranger, b->stranger) &&
	       a->library_is_deleted == b->library_is_deleted;
}

static bool is_first_with(const struct doctor_processes *processes, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (has_same_libraries(&processes->all[i], &processes->all[index]))
			return false;
	}
	return true;
}

/* Reports a difference and returns whether there is one. */
static bool say_library(struct doctor_report *report, const struct doctor_process *process, const char *own)
{
	if (*process->stranger)
		doctor_say(report, DOCTOR_WARNING, "libraries",
			   "process %d (%s) has %s, which is not Softfield's, beside %s: put Softfield's folder first in "
			   "LD_LIBRARY_PATH",
			   (int)process->pid, process->name, process->stranger, process->library);
	else if (process->library_is_deleted)
		doctor_say(report, DOCTOR_WARNING, "libraries",
			   "process %d (%s) runs with a %s that has been replaced since: start it again", (int)process->pid,
			   process->name, process->library);
	else if (*own && !doctor_library_is_own(process, own))
		doctor_say(report, DOCTOR_WARNING, "libraries",
			   "process %d (%s) uses %s, a different build from this command's %s: let all processes use one",
			   (int)process->pid, process->name, process->library, own);
	else
		return false;
	return true;
}

void doctor_check_libraries(struct doctor_report *report, const struct doctor_processes *processes)
{
	size_t num = 0;

	for (size_t i = 0; i < processes->num && num < SHOWN_MAX; i++)
		num += is_first_with(processes, i) && say_library(report, &processes->all[i], processes->own_library);
	if (num == 0)
		doctor_say(report, DOCTOR_OK, "libraries",
			   "Softfield " SOFTFIELD_VERSION ", %s; processes that use it now: %zu, none of another build",
			   *processes->own_library ? processes->own_library : "linked in", processes->num);
}
