/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits that a process started here gets. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "doctor/doctor.h"
#include "topology/sysfs.h"

#define FILES_FEW 1024
#define FILES_NONE 64		    /* the agent and the C library need a few */
#define FILE_SIZE_LEAST (512 << 10) /* of the memfd in which memory is exported */
#define LOCKED_FEW (64ull << 20)    /* registered memory of a real device counts against it */
#define SHM_FEW (64ull << 20)	    /* the default of containers, too little for UCX */

static unsigned long long soft_limit(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 ? (unsigned long long)limit.rlim_cur : RLIM_INFINITY;
}

static const char *amount_format(char text[32], unsigned long long value)
{
	if (value == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, 32, "%llu", value);
	return text;
}

static void check_files(struct doctor_report *report)
{
	unsigned long long files = soft_limit(RLIMIT_NOFILE);
	enum doctor_state state = files < FILES_NONE ? DOCTOR_ERROR : files < FILES_FEW ? DOCTOR_WARNING : DOCTOR_OK;
	char text[32];

	doctor_say(report, state, "open files", "%s%s", amount_format(text, files),
		   state == DOCTOR_OK ? " (ulimit -n)" : ": each connection needs a few; raise it by ulimit -n 65536");
}

static void check_file_size(struct doctor_report *report)
{
	unsigned long long size = soft_limit(RLIMIT_FSIZE);

	if (size < FILE_SIZE_LEAST)
		doctor_say(report, DOCTOR_ERROR, "file size",
			   "%llu bytes: memory is exported as a file in memory; set ulimit -f unlimited", size);
	else if (size != RLIM_INFINITY)
		doctor_say(report, DOCTOR_WARNING, "file size",
			   "%llu bytes: no larger memory can be exported; set ulimit -f unlimited", size);
	else
		doctor_say(report, DOCTOR_OK, "file size", "unlimited (ulimit -f)");
}

/* The memory of a real device is locked; that of software devices is not. */
static void check_locked(struct doctor_report *report)
{
	struct sf_real_device rdma[SF_REAL_DEVICES_MAX];
	unsigned long long locked = soft_limit(RLIMIT_MEMLOCK);
	char text[32];

	if (locked < LOCKED_FEW && sf_sysfs_rdma("", rdma) != 0)
		doctor_say(report, DOCTOR_WARNING, "locked memory",
			   "%llu bytes, but a real RDMA device locks all memory that it may access: set ulimit -l unlimited",
			   locked);
	else
		doctor_say(report, DOCTOR_OK, "locked memory", "%s (ulimit -l); only real RDMA devices need it",
			   amount_format(text, locked));
}

static void check_shm(struct doctor_report *report)
{
	struct statvfs fs;
	unsigned long long size;

	if (statvfs("/dev/shm", &fs) != 0) {
		doctor_say(report, DOCTOR_WARNING, "shared memory",
			   "there is no /dev/shm, which UCX uses for UROM: mount a tmpfs there");
		return;
	}
	size = (unsigned long long)fs.f_bavail * fs.f_frsize;
	if (size < SHM_FEW)
		doctor_say(report, DOCTOR_WARNING, "shared memory",
			   "%llu MiB are free in /dev/shm, which UCX uses for UROM: mount it larger (docker run --shm-size=1g)",
			   size >> 20);
	else
		doctor_say(report, DOCTOR_OK, "shared memory", "%llu MiB are free in /dev/shm, which UCX uses for UROM",
			   size >> 20);
}

void doctor_check_limits(struct doctor_report *report)
{
	check_files(report);
	check_file_size(report);
	check_locked(report);
	check_shm(report);
}
