/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT and SIGTERM as events of a signalfd. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

/* Must be called before any thread starts, so that all inherit the mask. Returns -1 with errno set on failure. */
static inline int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

#endif
