/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares RDMA's order with a model (rdma_order.h). "one" runs both sides alternately in this process, "threads" runs a thread
 * for each, "two" runs the other side in its own process. Each life opens two new sides; its seed is printed, and
 * SOFTFIELD_TEST_SEED sets the first one. Exits with 1 if a check fails.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <doca_log.h>

#include "rdma_order.h"

#define LIVES 20
#define ROUNDS 4
#define TASKS_MIN 50
#define TASKS_MAX 900

static struct side sides[2];

static uint64_t tasks_of(uint64_t seed, uint64_t round, uint32_t index)
{
	uint64_t state = seed + round * 2 + index;

	return TASKS_MIN + random_below(&state, TASKS_MAX - TASKS_MIN);
}

static void open_sockets(int sockets[2])
{
	const int room = 1 << 20;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(setsockopt(sockets[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
}

/* ---- in one process ---- */

static void live_here(uint64_t seed)
{
	int sockets[2];
	uint64_t turns = seed;

	open_sockets(sockets);
	for (uint32_t i = 0; i < 2; i++)
		side_prepare(&sides[i], i, sockets[i], seed);
	for (uint32_t i = 0; i < 2; i++)
		side_join(&sides[i]);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		bool going[2] = {true, true};

		for (uint32_t i = 0; i < 2; i++)
			side_begin_round(&sides[i], tasks_of(seed, round, i));
		while (going[0] || going[1]) {
			uint32_t i = (uint32_t)random_below(&turns, 2);

			if (going[i])
				going[i] = side_step(&sides[i]);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		side_end(&sides[i]);
		close(sockets[i]);
	}
}

/* ---- each in its own process ---- */

static void live_as(uint32_t index, int socket, uint64_t seed)
{
	struct side *side = &sides[index];
	char byte;

	side_prepare(side, index, socket, seed);
	side->alone = true;
	side_join(side);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		side_begin_round(side, tasks_of(seed, round, index));
		while (side_step(side))
			;
	}
	/* Neither side ends before both have reached this point. */
	CHECK(send(socket, "", 1, MSG_NOSIGNAL) == 1);
	CHECK(recv(socket, &byte, 1, 0) == 1);
	side_end(side);
}

struct other {
	int socket;
	uint64_t seed;
};

static void *other_run(void *argument)
{
	const struct other *other = argument;

	live_as(1, other->socket, other->seed);
	return NULL;
}

static void live_in_threads(uint64_t seed)
{
	int sockets[2];
	struct other other = {.seed = seed};
	pthread_t thread;

	open_sockets(sockets);
	other.socket = sockets[1];
	CHECK(pthread_create(&thread, NULL, other_run, &other) == 0);
	live_as(0, sockets[0], seed);
	CHECK(pthread_join(thread, NULL) == 0);
	close(sockets[0]);
	close(sockets[1]);
}

static void live_apart(const char *program, uint64_t seed)
{
	int sockets[2], status;
	pid_t pid;

	open_sockets(sockets);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		char socket_text[16], seed_text[32];

		close(sockets[0]);
		snprintf(socket_text, sizeof(socket_text), "%d", sockets[1]);
		snprintf(seed_text, sizeof(seed_text), "%llu", (unsigned long long)seed);
		execl("/proc/self/exe", program, "other", socket_text, seed_text, (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	live_as(0, sockets[0], seed);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(sockets[0]);
}

/* Logs the reasons of failures. */
static void log_errors(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd_sdk(STDERR_FILENO, &backend));
	CHECK_OK(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING));
}

int main(int argc, char **argv)
{
	const char *given = getenv("SOFTFIELD_TEST_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
	const char *mode = argc > 1 ? argv[1] : "one";

	log_errors();
	if (argc == 4) {
		alarm(600);
		live_as(1, atoi(argv[2]), strtoull(argv[3], NULL, 0));
		return 0;
	}
	for (int i = 0; i < LIVES; i++, seed++) {
		fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
		if (strcmp(mode, "two") == 0)
			live_apart(argv[0], seed);
		else if (strcmp(mode, "threads") == 0)
			live_in_threads(seed);
		else
			live_here(seed);
	}
	return 0;
}
