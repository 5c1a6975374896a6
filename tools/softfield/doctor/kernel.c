/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel features that Softfield needs. Each is tried, because a container's filter may forbid it. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compat/linux.h"
#include "doctor/doctor.h"
#include "fabric/shm/guard.h"

static void check_memfd(struct doctor_report *report)
{
	int fd = (int)syscall(SYS_memfd_create, "softfield-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		doctor_say(report, DOCTOR_ERROR, "memfd",
			   "%s: no memory can be shared; allow memfd_create in the container, or set SOFTFIELD_FABRIC=tcp",
			   strerror(errno));
	else
		doctor_say(report, DOCTOR_OK, "memfd", "memory can be shared between processes");
	if (fd >= 0)
		close(fd);
}

static void check_userfaultfd(struct doctor_report *report)
{
	static const char advice[] = "do not write to memory while another thread exports it";

	switch (sf_guard_probe()) {
	case SF_GUARD_FULL:
		doctor_say(report, DOCTOR_OK, "userfaultfd", "memory may be written while it is exported");
		break;
	case SF_GUARD_USER:
		doctor_say(report, DOCTOR_OK, "userfaultfd",
			   "memory may be written while it is exported, but not by a system call; for that too: sysctl "
			   "vm.unprivileged_userfaultfd=1");
		break;
	default:
		doctor_say(
			report, DOCTOR_WARNING, "userfaultfd",
			"none, as in containers that forbid it and before Linux 5.19: %s, or allow userfaultfd in the container",
			advice);
	}
}

/* Softfield uses this barrier to detect sleeping threads; without it each side needs a stronger one. */
static void check_membarrier(struct doctor_report *report)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0)
		doctor_say(report, DOCTOR_WARNING, "membarrier", "%s: notifications cost more; allow membarrier in the container",
			   strerror(errno));
	else
		doctor_say(report, DOCTOR_OK, "membarrier", "allowed");
}

static void check_aio(struct doctor_report *report)
{
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1L, &context) != 0)
		doctor_say(report, DOCTOR_WARNING, "wake-ups",
			   "no asynchronous I/O (%s): a hostile peer may hold up a wake-up; raise fs.aio-max-nr, or allow "
			   "io_setup in the container",
			   strerror(errno));
	else
		doctor_say(report, DOCTOR_OK, "wake-ups", "rung by the kernel (io_setup): no peer can hold them up");
	if (context != 0)
		syscall(SYS_io_destroy, context);
}

void doctor_check_kernel(struct doctor_report *report)
{
	struct utsname name;

	if (uname(&name) == 0)
		doctor_say(report, DOCTOR_OK, "kernel", "%s %s, %s", name.sysname, name.release, name.machine);
	check_memfd(report);
	check_userfaultfd(report);
	check_membarrier(report);
	check_aio(report);
}

/* Accesses the parent's memory like that of an unrelated process of this user. Returns 0 or errno. */
static int reach_into_parent(pid_t parent)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)parent);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd >= 0 ? 0 : errno;
}

void doctor_check_permissions(struct doctor_report *report)
{
	pid_t self = getpid(), child = fork();
	int status = 0, error;

	if (child == 0)
		_exit(reach_into_parent(self) & 0xff);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return;
	error = WEXITSTATUS(status);
	if (error == 0)
		doctor_say(report, DOCTOR_OK, "other memory", "processes reach into each other directly (/proc/PID/mem)");
	else
		doctor_say(report, DOCTOR_WARNING, "other memory",
			   "processes do not reach into each other (%s): memory that is not whole pages is copied slower; sysctl "
			   "kernel.yama.ptrace_scope=0, or allow ptrace in the container",
			   strerror(error));
}
