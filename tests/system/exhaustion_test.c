/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running out of descriptors, and a limit on file sizes. A server that starts can serve a client; one that cannot start logs why.
 * A server that runs out of descriptors waits until some are free, and then accepts the clients that arrived meanwhile.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/child.h"
#include "support/comch_side.h"
#include "support/program.h"
#include "support/test_dev.h"
#include "support/wait.h"

#define CLIENTS 3
#define FEW_MAX 64	    /* a server must start with this many descriptors */
#define SETTLE_NS 300000000 /* time in which a waiting agent must use almost no processor time */
#define SETTLE_CPU_NS 100000000

static char self[4096], server_name[64];
static struct comch_side own;

/* Limits the process to `num` more descriptors. */
static void allow_descriptors(uint32_t num)
{
	struct rlimit limit;
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(lowest >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	close(lowest);
	limit.rlim_cur = (rlim_t)lowest + num;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* ---- roles ---- */

static void role_server(uint32_t descriptors)
{
	doca_error_t result;

	side_init_server(&own, server_name);
	allow_descriptors(descriptors);
	result = doca_ctx_start(own.ctx);
	if (result != DOCA_SUCCESS) {
		printf("refused: %s\n", doca_error_get_name(result));
		fflush(stdout);
		return;
	}
	puts("serving");
	fflush(stdout);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, NULL, NULL, NULL);
}

static void role_client(void)
{
	sigset_t go;
	int number;

	side_init_client(&own, server_name);
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&go, &number);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	side_wait_s = CHILD_SECONDS_MAX;
	SIDE_WAIT(own.num_states >= 2, own.pe, NULL, NULL, NULL);
	puts(own.states[1] == DOCA_CTX_STATE_RUNNING ? "connected" : "not connected");
	fflush(stdout);
	SIDE_WAIT(own.connection == NULL, own.pe, NULL, NULL, NULL);
}

static int run_role(const char *name, const char *number)
{
	alarm(CHILD_SECONDS_MAX);
	if (strcmp(name, "server") == 0)
		role_server((uint32_t)atoi(number));
	else
		role_client();
	_exit(0); /* what remains belongs to the library */
}

/* ---- descriptors ---- */

static void start_role(struct program *program, const char *name, const char *number)
{
	const char *argv[] = {self, name, server_name, number, NULL};

	assert_true(program_start(program, argv));
}

/* Returns whether a server starts with so few descriptors left. A server that starts must serve a client. */
static bool try_few(uint32_t descriptors)
{
	static struct program server;
	char number[16];

	snprintf(number, sizeof(number), "%u", descriptors);
	start_role(&server, "server", number);
	if (!program_await(&server, "serving\n")) {
		assert_int_equal(program_wait(&server), 0);
		assert_non_null(strstr(server.output, "raise the limit of open files (ulimit -n)"));
		assert_non_null(strstr(server.output, "refused: DOCA_ERROR_"));
		assert_null(strstr(server.output, "TIME_OUT"));
		return false;
	}
	side_init_client(&own, server_name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(own.connection != NULL, own.pe, NULL, NULL, NULL);
	assert_int_equal(side_send(&own, "hello", 5), DOCA_SUCCESS);
	side_fini(&own, NULL);
	assert_int_equal(program_wait(&server), 0);
	return true;
}

static void a_server_that_starts_can_serve(void **state)
{
	uint32_t descriptors = 0;

	(void)state;
	setenv("SOFTFIELD_LOG", "error", 1);
	while (!try_few(descriptors))
		assert_in_range(++descriptors, 1, FEW_MAX);
	print_message("a server starts with %u descriptors left\n", descriptors);
	for (uint32_t more = 1; more < 6; more++)
		assert_true(try_few(descriptors + more));
	unsetenv("SOFTFIELD_LOG");
}

static _Atomic uint32_t num_full_lines, num_lines;

static void count_line(char *line)
{
	num_lines++;
	if (strstr(line, "cannot accept more connections") != NULL)
		num_full_lines++;
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void out_of_descriptors_a_server_waits_for_room(void **state)
{
	static struct program clients[CLIENTS];
	static char line[1024];
	struct doca_log_backend *backend;
	struct rlimit before;
	uint64_t used;

	(void)state;
	assert_int_equal(doca_log_backend_create_with_buf_sdk(line, sizeof(line), count_line, &backend), DOCA_SUCCESS);
	side_init_server(&own, server_name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	for (int i = 0; i < CLIENTS; i++) {
		start_role(&clients[i], "client", NULL);
		assert_true(program_await(&clients[i], "ready\n"));
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	allow_descriptors(0);
	num_lines = 0;
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(kill(clients[i].pid, SIGUSR1), 0);
	SIDE_WAIT(num_lines != 0, own.pe, NULL, NULL, NULL);
	time_pass_ns(SETTLE_NS);
	used = cpu_ns();
	time_pass_ns(SETTLE_NS);
	used = cpu_ns() - used;
	assert_in_range(used, 0, SETTLE_CPU_NS);
	assert_int_equal(num_full_lines, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	SIDE_WAIT(own.num_connects == CLIENTS, own.pe, NULL, NULL, NULL);
	for (int i = 0; i < CLIENTS; i++) {
		assert_true(program_await(&clients[i], "connected\n"));
		kill(clients[i].pid, SIGKILL);
		program_wait(&clients[i]);
	}
	SIDE_WAIT(own.num_disconnects == CLIENTS, own.pe, NULL, NULL, NULL);
	side_fini(&own, NULL);
}

/* ---- file sizes ---- */

/* A memfd counts as a file. Growing it beyond the limit raises a signal that ends the process. */
static void export_below_the_limit(void)
{
	static uint8_t memory[1 << 20] __attribute__((aligned(4096)));
	const struct rlimit limit = {64 << 10, 64 << 10};
	struct doca_mmap *mmap;
	struct doca_dev *dev = test_dev_open(0);
	const void *bytes;
	size_t len;

	CHECK(dev != NULL && setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	CHECK_OK(doca_mmap_add_dev(mmap, dev));
	CHECK_OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	(void)(doca_mmap_start(mmap) == DOCA_SUCCESS && doca_mmap_export_pci(mmap, dev, &bytes, &len) == DOCA_SUCCESS);
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_OK(doca_dev_close(dev));
}

static void serve_below_the_limit(void)
{
	const struct rlimit limit = {0, 0};

	side_init_server(&own, server_name);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(doca_ctx_start(own.ctx) != DOCA_SUCCESS);
	_exit(0);
}

static void a_limit_of_file_sizes_kills_nobody(void **state)
{
	(void)state;
	assert_int_equal(run_in_child(export_below_the_limit), 0);
	assert_int_equal(run_in_child(serve_below_the_limit), 0);
}

int main(int argc, char **argv)
{
	snprintf(server_name, sizeof(server_name), "exhaustion %d", (int)getpid());
	if (argc > 2)
		snprintf(server_name, sizeof(server_name), "%s", argv[2]);
	if (argc > 2)
		return run_role(argv[1], argv[3]);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_of_file_sizes_kills_nobody),
		cmocka_unit_test(a_server_that_starts_can_serve),
		cmocka_unit_test(out_of_descriptors_a_server_waits_for_room),
	};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
