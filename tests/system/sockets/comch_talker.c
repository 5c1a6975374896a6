/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Comch server and, in a process of its own, its client, which begins with the first line on standard input. For each further
 * line they exchange messages of many sizes; each is compared with what was sent, and "exchanged" is printed. The end of the
 * input ends both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../comch_roles.h"

#define EXCHANGES 12 /* for each line */
#define MEMORY (256 << 10)

static pid_t client_start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "client", "data_echo", server_name, (char *)NULL);
		_exit(1);
	}
	return pid;
}

static void talk(void)
{
	char line[16];
	uint32_t number = 0;
	int status;

	side_init_server(&own, server_name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	printf("listening\n");
	fflush(stdout);
	assert_non_null(fgets(line, sizeof(line), stdin));

	pid_t client = client_start();

	assert_true(client > 0);
	wait_for_client();
	start_data(MEMORY);
	printf("connected to %d\n", (int)client);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		for (int i = 0; i < EXCHANGES; i++, number++)
			echo_once(1 + number * 7919 % (number % 4 == 0 ? MEMORY : 100), number);
		while (doca_pe_progress(own.pe)) /* handles other clients that came and left */
			;
		assert_true(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING);
		printf("exchanged\n");
		fflush(stdout);
	}
	end_data();
	side_fini(&own, NULL);
	assert_int_equal(waitpid(client, &status, 0), client);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	side_wait_s = 60;
	snprintf(server_name, sizeof(server_name), "%s", argv[argc - 1]);
	if (argc == 3)
		return run_role(argv[1]);
	talk();
	return 0;
}
