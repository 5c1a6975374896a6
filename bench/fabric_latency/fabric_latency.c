/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a message between two processes, each on its own core:
 *
 *   bench_fabric_latency [provider [bytes]]
 *
 * prints half the round-trip time of a message and its echo, and the one-way rates in messages and bytes per second.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "fabric/fabric.h"

#define RECVS 256
#define SENDS 64
#define MESSAGE_MAX (1 << 20)
#define POLL_BUDGET 64
#define ROUNDS 100 /* short rounds, so that the best one is undisturbed even on a busy machine */

struct side {
	struct sf_domain *domain;
	struct sf_region *region;
	struct sf_ep *ep;
	struct sf_conn *conn;
	char *memory; /* RECVS buffers of a size */
	size_t size;
	uint64_t received, sent;
	bool echo; /* returns every message */
	bool over;
	struct sf_recv recvs[RECVS];
	struct sf_iov recv_iovs[RECVS];
	struct sf_op ops[SENDS], *free;
	struct sf_iov iov;
};

static struct side side;

static void must(doca_error_t error, const char *what)
{
	if (error == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(error));
	exit(1);
}

static void op_done(struct sf_op *op)
{
	op->next = side.free;
	side.free = op;
}

static bool send_one(void)
{
	struct sf_op *op = side.free;

	if (op == NULL)
		return false;
	side.free = op->next;
	doca_error_t error = sf_conn_submit(side.conn, op);

	if (error == DOCA_SUCCESS) {
		side.sent++;
		return true;
	}
	op->next = side.free;
	side.free = op;
	if (error != DOCA_ERROR_AGAIN && error != DOCA_ERROR_NOT_CONNECTED)
		must(error, "send");
	return false;
}

static void recv_done(struct sf_recv *recv)
{
	if (recv->status != DOCA_SUCCESS)
		return;
	side.received++;
	if (side.echo)
		while (!send_one() && !side.over)
			;
	must(sf_ep_post_recv(side.ep, recv), "post");
}

static void connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	must(status, "connect");
	side.conn = conn;
}

static void accepted(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len)
{
	side.conn = conn;
}

static void closed(struct sf_conn *conn, doca_error_t reason)
{
	side.over = true;
}

/* ready: written once the listener exists. The first message may arrive in the poll that accepts the connection, so echo is set
 * before. */
static void side_open(const char *provider, const char *name, bool listens, size_t size, bool echo, int ready)
{
	static const struct sf_ep_handler handler = {.accepted = accepted, .connected = connected, .closed = closed};
	const struct sf_fabric_ops *ops = sf_fabric_find(provider);
	struct sf_listener *listener;
	struct sf_conn *conn;

	if (ops == NULL) {
		fprintf(stderr, "no provider %s\n", provider);
		exit(1);
	}
	memset(&side, 0, sizeof(side));
	side.size = size;
	side.echo = echo;
	side.memory = mmap(NULL, (size_t)RECVS * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	must(sf_domain_open(ops, "bench", &side.domain), "domain");
	must(sf_region_register(side.domain, side.memory, (size_t)RECVS * size, 0, &side.region), "region");
	must(sf_ep_open(side.domain, &handler, RECVS, eventfd(0, EFD_NONBLOCK), &side.ep), "endpoint");
	for (int i = 0; i < RECVS; i++) {
		side.recv_iovs[i] = (struct sf_iov){side.memory + (size_t)i * size, size};
		side.recvs[i] =
			(struct sf_recv){.done = recv_done, .region = side.region, .iov_num = 1, .iov = &side.recv_iovs[i]};
		must(sf_ep_post_recv(side.ep, &side.recvs[i]), "post");
	}
	side.iov = (struct sf_iov){malloc(size), size};
	memset(side.iov.addr, 1, size);
	for (int i = 0; i < SENDS; i++) {
		side.ops[i] =
			(struct sf_op){.done = op_done, .kind = SF_OP_SEND, .iov_num = 1, .iov = &side.iov, .next = side.free};
		side.free = &side.ops[i];
	}
	if (listens)
		must(sf_listener_open(side.ep, name, SF_LISTEN_AUTO, NULL, &listener), "listen");
	if (listens && write(ready, "", 1) != 1)
		exit(1);
	while (side.conn == NULL) {
		if (!listens) {
			must(sf_conn_connect(side.ep, name, NULL, NULL, 0, NULL, &conn), "connect");
			listens = true;
		}
		sf_ep_poll(side.ep, POLL_BUDGET);
	}
}

/* BENCH_CPUS=a,b selects the cores. */
static void pin(int which)
{
	const char *cpus = getenv("BENCH_CPUS");
	int cpu = sf_usable_cpu(which);
	cpu_set_t set;

	if (cpus != NULL)
		cpu = atoi(which == 0 || strchr(cpus, ',') == NULL ? cpus : strchr(cpus, ',') + 1);

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void peer(const char *provider, const char *name, size_t size, bool echo, int ready)
{
	pin(1);
	side_open(provider, name, true, size, echo, ready);
	while (!side.over)
		sf_ep_poll(side.ep, POLL_BUDGET);
	_exit(0);
}

static double ping_pong(uint64_t num)
{
	uint64_t start = sf_now_ns();

	for (uint64_t i = 0; i < num; i++) {
		uint64_t before = side.received;

		while (!send_one())
			sf_ep_poll(side.ep, POLL_BUDGET);
		while (side.received == before)
			sf_ep_poll(side.ep, POLL_BUDGET);
	}
	return (double)(sf_now_ns() - start) / 1e9 / (double)num / 2;
}

static double stream(uint64_t num)
{
	uint64_t start = sf_now_ns();

	for (uint64_t i = 0; i < num;) {
		if (send_one()) {
			i++;
			if ((i & 15) != 0)
				continue;
		}
		sf_ep_poll(side.ep, POLL_BUDGET);
	}
	return (double)(sf_now_ns() - start) / 1e9 / (double)num;
}

/* Returns the best of several rounds, because the machine may be busy. */
static void measure(const char *provider, size_t size, bool echo, uint64_t num)
{
	char name[64];
	double best = 1e9;
	int ready[2];
	pid_t child;
	char byte;

	if (pipe(ready) != 0)
		exit(1);
	snprintf(name, sizeof(name), "bench-%d-%zu-%d", getpid(), size, echo);
	child = fork();
	if (child == 0)
		peer(provider, name, size, echo, ready[1]);
	pid_t self = fork();
	if (self == 0) {
		pin(0);
		if (read(ready[0], &byte, 1) != 1)
			exit(1);
		side_open(provider, name, false, size, false, -1);
		for (int i = 0; i < ROUNDS; i++) {
			double each = echo ? ping_pong(num) : stream(num);

			best = each < best ? each : best;
		}
		if (echo)
			printf("%8zu B  one way %8.1f ns\n", size, best * 1e9);
		else
			printf("%8zu B  %8.2f M messages/s  %7.2f GB/s\n", size, 1e-6 / best, (double)size / best / 1e9);
		fflush(stdout);
		sf_conn_disconnect(side.conn);
		_exit(0);
	}
	close(ready[0]);
	close(ready[1]);
	waitpid(self, NULL, 0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *provider = argc > 1 ? argv[1] : NULL;
	static const size_t all[] = {8, 64, 256, 1024, 4096, 65536};
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const size_t *sizes = only != 0 ? &only : all;
	size_t num = only != 0 ? 1 : sizeof(all) / sizeof(all[0]);

	for (size_t i = 0; i < num; i++)
		measure(provider, sizes[i], true, sizes[i] > 4096 ? 100 : 500);
	for (size_t i = 0; i < num; i++)
		measure(provider, sizes[i], false, sizes[i] > 4096 ? 200 : 5000);
	return 0;
}
