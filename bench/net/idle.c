/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What idle connections cost: a Comch server and clients in four other processes, all of which sleep until something happens.
 * Prints the processor time of the server's process and of the clients' processes, in percent of one processor.
 *
 *   bench_idle CONNECTIONS SECONDS
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure.h"
#include "support/comch_side.h"
#include "support/test_dev.h"

#define NAME "idle"
#define PROCESSES 4
#define CONNECTIONS_MAX 8000
#define CONNECTING_MAX 8 /* at a time in each process */
#define CONNECT_LIMIT_S 120
#define CALM_S 2 /* after the last connect */

/* Memory shared by the processes. */
struct shared {
	atomic_uint connected;
	atomic_bool listens, all_connected;
	atomic_uint clients_us; /* processor time */
};

static struct shared *shared;
static uint32_t num_connections;
static double seconds;

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void await(const atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(1000);
}

static uint64_t used_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Handles events for that long, as a program does that sleeps between them. */
static void engine_sleep(struct doca_pe *pe, double for_s)
{
	const double end = sf_now_s() + for_s;
	doca_notification_handle_t handle;

	check(doca_pe_get_notification_handle(pe, &handle), "doca_pe_get_notification_handle");
	for (double left = for_s; left > 0; left = end - sf_now_s()) {
		struct pollfd ready = {.fd = handle, .events = POLLIN};

		while (doca_pe_progress(pe) != 0)
			;
		check(doca_pe_request_notification(pe), "doca_pe_request_notification");
		(void)poll(&ready, 1, (int)(left * 1000) + 1);
		check(doca_pe_clear_notification(pe, handle), "doca_pe_clear_notification");
	}
}

/* Returns the processor time of that long without traffic, in microseconds. */
static uint32_t idle_us(struct doca_pe *pe)
{
	uint64_t before;

	engine_sleep(pe, CALM_S);
	before = used_us();
	engine_sleep(pe, seconds);
	return (uint32_t)(used_us() - before);
}

/* ---- the clients ---- */

static bool is_running(struct doca_ctx *ctx)
{
	const enum doca_ctx_states state = side_state(ctx);

	if (state != DOCA_CTX_STATE_STARTING && state != DOCA_CTX_STATE_RUNNING)
		_exit(1);
	return state == DOCA_CTX_STATE_RUNNING;
}

static struct doca_ctx *client_open(struct doca_dev *dev, struct doca_pe *pe)
{
	struct doca_comch_client *client;
	doca_error_t started;

	check(doca_comch_client_create(dev, NAME, &client), "doca_comch_client_create");
	check(doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client)), "doca_pe_connect_ctx");
	started = doca_ctx_start(doca_comch_client_as_ctx(client));
	check(started == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : started, "doca_ctx_start");
	return doca_comch_client_as_ctx(client);
}

static void clients_run(uint32_t num)
{
	struct doca_ctx **clients = calloc(num + 1, sizeof(*clients));
	struct doca_dev *dev;
	struct doca_pe *pe;

	await(&shared->listens);
	dev = test_dev_open_pci(HOST_DEV);
	check(doca_pe_create(&pe), "doca_pe_create");
	for (uint32_t opened = 0, running = 0; clients != NULL && running < num;) {
		if (opened < num && opened - running < CONNECTING_MAX) {
			clients[opened] = client_open(dev, pe);
			opened++;
		}
		(void)doca_pe_progress(pe);
		while (running < opened && is_running(clients[running])) {
			running++;
			atomic_fetch_add(&shared->connected, 1);
		}
	}
	while (!atomic_load(&shared->all_connected))
		(void)doca_pe_progress(pe);
	atomic_fetch_add(&shared->clients_us, idle_us(pe));
	_exit(0);
}

/* ---- the server ---- */

static uint32_t server_run(void)
{
	static struct comch_side side;
	const double begin = sf_now_s();

	side_init_server(&side, NAME);
	check(doca_ctx_start(side.ctx), "doca_ctx_start");
	atomic_store(&shared->listens, true);
	while (side.num_connects < num_connections || atomic_load(&shared->connected) < num_connections) {
		(void)doca_pe_progress(side.pe);
		if (sf_now_s() - begin > CONNECT_LIMIT_S) {
			fprintf(stderr, "%u of %u connected\n", side.num_connects, num_connections);
			exit(1);
		}
	}
	atomic_store(&shared->all_connected, true);
	return idle_us(side.pe);
}

static void raise_files_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		die("getrlimit");
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
	const double percent = 100.0 / 1e6;
	uint32_t server_us;
	bool good = true;
	int status;

	num_connections = argc == 3 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
	seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
	if (num_connections == 0 || num_connections > CONNECTIONS_MAX || !(seconds > 0)) {
		fprintf(stderr, "usage: %s CONNECTIONS SECONDS; at most %d connections\n", argv[0], CONNECTIONS_MAX);
		return 2;
	}
	raise_files_limit();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing server leaves no process behind */
			clients_run(num_connections / PROCESSES + (i < num_connections % PROCESSES));
		}
	}
	server_us = server_run();
	while (wait(&status) > 0)
		good = good && status == 0;
	if (!good)
		return 1;
	printf("{\"connections\": %u, \"server_percent\": %.3f, \"clients_percent\": %.3f}\n", num_connections,
	       server_us * percent / seconds, atomic_load(&shared->clients_us) * percent / seconds);
	fflush(stdout);
	_exit(0); /* the connections need no orderly end */
}
