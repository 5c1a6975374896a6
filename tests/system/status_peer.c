/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process with a Comch context that others can see: status_peer server|client NAME. It prints "started", then "connected" once
 * it is connected, and progresses until its input ends, if the input is a FIFO. After SIGUSR1 it no longer progresses.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/child.h"
#include "support/comch_side.h"

static volatile sig_atomic_t is_idle;

static void on_signal(int number)
{
	(void)number;
	is_idle = 1;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct comch_side own;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	struct stat st;
	bool said = false;

	if (argc != 3)
		return 2;
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode))
		input.fd = -1; /* it runs until it is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(CHILD_SECONDS_MAX);
	signal(SIGUSR1, on_signal);
	if (strcmp(argv[1], "server") == 0)
		side_init_server(&own, argv[2]);
	else
		side_init_client(&own, argv[2]);
	doca_error_t result = doca_ctx_start(own.ctx);
	if (result != (own.server != NULL ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS))
		return 1;
	say("started");
	while (poll(&input, 1, 1) < 1) { /* a signal does not count as input */
		if (is_idle)
			continue;
		(void)doca_pe_progress(own.pe);
		if (!said && own.connection != NULL) {
			said = true;
			say("connected");
		}
	}
	is_idle = 0;
	side_fini(&own, NULL);
	return 0;
}
