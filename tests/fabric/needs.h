/* SPDX-License-Identifier: BSD-3-Clause */
/* What a case needs of the system, which emulators and containers may lack. Without it the case ends here, and its runner reports
 * it as skipped. Call these first, in the case's own process. */
#ifndef TEST_FABRIC_NEEDS_H
#define TEST_FABRIC_NEEDS_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_SKIPPED 77 /* exit status */

static inline void case_skip(const char *missing)
{
	fprintf(stderr, "%s here: not tested\n", missing);
	exit(CASE_SKIPPED);
}

static inline void needs_system_call_filter(void)
{
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0)
		case_skip("no system call filters");
}

static inline void needs_ptrace(void)
{
	if (ptrace(PTRACE_SEIZE, 0, NULL, NULL) < 0 && errno != ESRCH)
		case_skip("no ptrace");
}

/* The right to become that user. */
static inline void needs_user(uid_t user)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0)
		_exit(setuid(user) != 0);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		case_skip("no other user");
}

/* TCP can tell whether the peer's kernel answers. qemu's user mode takes the answer for a number. */
static inline void needs_tcp_info(void)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);

	close(fd);
	if (error != 0 || len <= sizeof(int))
		case_skip("no state of TCP connections");
}

#endif
