/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process with a Comch context that others can see: status_peer server|client NAME. It prints "started", then "connected" once
 * it is connected, and progresses until its input ends, if the input is a FIFO. After SIGUSR1 it no longer progresses. After
 * SIGUSR2 it sends a message. The callback that receives one prints "asleep", and sleeps until the input ends.
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

static struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
static volatile sig_atomic_t is_idle, must_send;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		is_idle = 1;
	else
		must_send = 1;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void on_msg(struct comch_side *side, const uint8_t *msg, uint32_t len, struct doca_comch_connection *connection)
{
	(void)side;
	(void)msg;
	(void)len;
	(void)connection;
	say("asleep");
	while (poll(&input, 1, -1) < 1)
		;
}

int main(int argc, char **argv)
{
	static struct comch_side own;
	struct stat st;
	bool said = false;

	if (argc != 3)
		return 2;
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISFIFO(st.st_mode))
		input.fd = -1; /* it runs until it is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(CHILD_SECONDS_MAX);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	if (strcmp(argv[1], "server") == 0)
		side_init_server(&own, argv[2]);
	else
		side_init_client(&own, argv[2]);
	own.on_msg = on_msg;
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
		if (must_send) {
			must_send = 0;
			(void)side_send(&own, "wait", 4);
		}
	}
	is_idle = 0;
	side_fini(&own, NULL);
	return 0;
}
