/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the daemon: accept takes three seconds and runs all the time, as a process would appear that waits for a
 * processor. */
#include <dlfcn.h>
#include <sys/socket.h>
#include <time.h>

#define SLOW_S 3

typedef int (*accept4_fn)(int fd, struct sockaddr *address, socklen_t *len, int flags);

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	accept4_fn real = (accept4_fn)dlsym(RTLD_NEXT, "accept4");
	int taken = real(fd, address, len, flags);

	for (time_t until = now_s() + SLOW_S + 1; taken >= 0 && now_s() < until;)
		;
	return taken;
}
