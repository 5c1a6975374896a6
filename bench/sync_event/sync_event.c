/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-way time from a set to the end of another process's wait, compared to a plain cache line that two processes
 * exchange: both alternate in this run. Usage: bench_sync_event [ROUNDS [EXCHANGES]]
 */
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "base/cpus.h"
#include "device.h"
#include "measure.h"

#define ROUNDS_MAX 101
#define DESCRIPTOR_MAX 4096

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* ---- one side of each exchange: the first sends 1, 3, 5, ...; the other answers 2, 4, 6, ... ---- */

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void bare_side(volatile uint64_t *line, bool first, uint64_t exchanges)
{
	for (uint64_t i = 0; i < exchanges; i++) {
		uint64_t mine = 2 * i + (first ? 1 : 2), theirs = 2 * i + (first ? 2 : 1);

		if (first)
			__atomic_store_n(line, mine, __ATOMIC_RELEASE);
		while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != theirs)
			pause_briefly();
		if (!first)
			__atomic_store_n(line, mine, __ATOMIC_RELEASE);
	}
}

static void sync_side(struct doca_sync_event *event, bool first, uint64_t exchanges)
{
	for (uint64_t i = 0; i < exchanges; i++) {
		uint64_t mine = 2 * i + (first ? 1 : 2), theirs = 2 * i + (first ? 2 : 1);

		if (first)
			check(doca_sync_event_update_set(event, mine), "set");
		check(doca_sync_event_wait_eq(event, theirs, UINT64_MAX), "wait");
		if (!first)
			check(doca_sync_event_update_set(event, mine), "set");
	}
}

/* The same with tasks: one of each type, reused. */
struct by_tasks {
	struct doca_pe *pe;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_eq *wait;
	doca_notification_handle_t handle;
	uint32_t ended;
};

static void ended(struct doca_task *task, union doca_data task_data, union doca_data by_tasks)
{
	(void)task_data;
	check(doca_task_get_status(task), "task");
	((struct by_tasks *)by_tasks.ptr)->ended++;
}

static void tasks_open(struct by_tasks *t, struct doca_sync_event *event)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	union doca_data none = {0};

	memset(t, 0, sizeof(*t));
	check(doca_pe_create(&t->pe), "progress engine");
	check(doca_pe_connect_ctx(t->pe, ctx), "connect");
	check(doca_pe_get_notification_handle(t->pe, &t->handle), "handle");
	check(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = t}), "user data");
	check(doca_sync_event_task_notify_set_set_conf(event, (doca_sync_event_task_notify_set_completion_cb_t)ended,
						       (doca_sync_event_task_notify_set_completion_cb_t)ended, 1),
	      "set tasks");
	check(doca_sync_event_task_wait_eq_set_conf(event, (doca_sync_event_task_wait_eq_completion_cb_t)ended,
						    (doca_sync_event_task_wait_eq_completion_cb_t)ended, 1),
	      "wait tasks");
	check(doca_ctx_start(ctx), "start");
	check(doca_sync_event_task_notify_set_alloc_init(event, 0, none, &t->set), "set task");
	check(doca_sync_event_task_wait_eq_alloc_init(event, 0, UINT64_MAX, none, &t->wait), "wait task");
}

static void tasks_close(struct by_tasks *t, struct doca_sync_event *event)
{
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(t->set));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(t->wait));
	check(doca_ctx_stop(doca_sync_event_as_ctx(event)), "stop");
	check(doca_sync_event_destroy(event), "destroy");
	check(doca_pe_destroy(t->pe), "progress engine");
}

static void sleep_once(struct by_tasks *t)
{
	struct pollfd fd = {.fd = t->handle, .events = POLLIN};

	check(doca_pe_request_notification(t->pe), "request");
	poll(&fd, 1, 10000);
	check(doca_pe_clear_notification(t->pe, 0), "clear");
}

static void run_task(struct by_tasks *t, struct doca_task *task, bool sleeping)
{
	uint32_t wanted = t->ended + 1;

	check(doca_task_submit(task), "submit");
	while (t->ended != wanted) {
		if (doca_pe_progress(t->pe) == 0 && sleeping)
			sleep_once(t);
	}
}

static void tasks_side(struct by_tasks *t, bool first, uint64_t exchanges, bool sleeping)
{
	for (uint64_t i = 0; i < exchanges; i++) {
		doca_sync_event_task_notify_set_set_set_val(t->set, 2 * i + (first ? 1 : 2));
		doca_sync_event_task_wait_eq_set_wait_val(t->wait, 2 * i + (first ? 2 : 1));
		if (first)
			run_task(t, doca_sync_event_task_notify_set_as_doca_task(t->set), false);
		run_task(t, doca_sync_event_task_wait_eq_as_doca_task(t->wait), sleeping);
		if (!first)
			run_task(t, doca_sync_event_task_notify_set_as_doca_task(t->set), false);
	}
}

/* ---- both processes ---- */

struct run {
	volatile uint64_t *line; /* shared; the second line synchronizes both between rounds */
	uint64_t rounds, exchanges;
	bool first;
	uint32_t meetings;
};

static void meet(struct run *run)
{
	volatile uint64_t *place = run->line + 8;

	run->meetings++;
	__atomic_fetch_add(place, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(place, __ATOMIC_SEQ_CST) < 2u * run->meetings)
		sched_yield();
}

enum kind { BARE, CALLS, TASKS, SLEEPING, KINDS };

static double round_of(struct run *run, enum kind kind, struct doca_sync_event *event, struct by_tasks *t)
{
	uint64_t exchanges = kind == SLEEPING ? run->exchanges / 100 + 1 : run->exchanges, begin;

	meet(run);
	if (run->first) { /* restarts the values */
		*run->line = 0;
		if (kind == CALLS)
			check(doca_sync_event_update_set(event, 0), "set");
		if (kind == TASKS || kind == SLEEPING) {
			doca_sync_event_task_notify_set_set_set_val(t->set, 0);
			run_task(t, doca_sync_event_task_notify_set_as_doca_task(t->set), false);
		}
	}
	meet(run);
	begin = sf_now_ns();
	if (kind == BARE)
		bare_side(run->line, run->first, exchanges);
	else if (kind == CALLS)
		sync_side(event, run->first, exchanges);
	else
		tasks_side(t, run->first, exchanges, kind == SLEEPING);
	return (double)(sf_now_ns() - begin) / (double)exchanges / 2;
}

static void rounds_run(struct run *run, struct doca_sync_event *calls, struct by_tasks *t, double results[KINDS][ROUNDS_MAX])
{
	for (uint64_t i = 0; i < run->rounds; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			results[kind][i] = round_of(run, (enum kind)kind, calls, t);
	}
	meet(run); /* if the owner ended, the other would too */
}

static struct doca_sync_event *create_event(struct doca_dev *dev)
{
	struct doca_sync_event *event;

	check(doca_sync_event_create(&event), "event");
	check(doca_sync_event_add_publisher_location_remote_pci(event), "publisher");
	check(doca_sync_event_add_subscriber_location_cpu(event, dev), "subscriber");
	return event;
}

static void hand_over(struct doca_sync_event *event, struct doca_dev *dev, int socket)
{
	const uint8_t *data;
	size_t size;

	check(doca_sync_event_export_to_remote_pci(event, dev, &data, &size), "export");
	check(send(socket, data, size, 0) == (ssize_t)size ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "socket");
}

static struct doca_sync_event *take_over(struct doca_dev *dev, int socket)
{
	uint8_t data[DESCRIPTOR_MAX];
	struct doca_sync_event *event;
	ssize_t size = recv(socket, data, sizeof(data), 0);

	check(size > 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED, "socket");
	check(doca_sync_event_create_from_export(dev, data, (size_t)size, &event), "event from the export");
	return event;
}

/* The rounds of both kinds alternate, so each ratio compares measurements under the same conditions. */
static double median_ratio(double results[KINDS][ROUNDS_MAX], int kind, uint64_t rounds)
{
	double ratios[ROUNDS_MAX];

	for (uint64_t i = 0; i < rounds; i++)
		ratios[i] = results[kind][i] / results[BARE][i];
	return median(ratios, rounds);
}

static int print(double results[KINDS][ROUNDS_MAX], uint64_t rounds)
{
	static const char *const names[KINDS] = {"bare cache line", "set and wait, calls", "set and wait, tasks",
						 "sleeping for the notification"};
	double ratios[KINDS];

	for (int kind = 0; kind < KINDS; kind++)
		ratios[kind] = median_ratio(results, kind, rounds);
	for (int kind = 0; kind < KINDS; kind++)
		printf("%-30s %8.1f ns one way  %6.2fx\n", names[kind], median(results[kind], rounds), ratios[kind]);
	printf("ratio of calls to the bare line: %.2f (wanted: at most 2)\n", ratios[CALLS]);
	return ratios[CALLS] <= 2 ? 0 : 1;
}

static void owner(struct run *run, int socket, double results[KINDS][ROUNDS_MAX])
{
	struct doca_dev *dev = device_open("d8:00.0");
	struct doca_sync_event *calls = create_event(dev), *tasks = create_event(dev);
	struct by_tasks t;

	check(doca_sync_event_start(calls), "start");
	tasks_open(&t, tasks);
	hand_over(calls, dev, socket);
	hand_over(tasks, dev, socket);
	rounds_run(run, calls, &t, results);
	tasks_close(&t, tasks);
	check(doca_sync_event_stop(calls), "stop");
	check(doca_sync_event_destroy(calls), "destroy");
	doca_dev_close(dev);
}

static void importer(struct run *run, int socket)
{
	static double unused[KINDS][ROUNDS_MAX];
	struct doca_dev *dev = device_open("03:00.0");
	struct doca_sync_event *calls = take_over(dev, socket), *tasks = take_over(dev, socket);
	struct by_tasks t;

	check(doca_sync_event_start(calls), "start");
	tasks_open(&t, tasks);
	rounds_run(run, calls, &t, unused);
	tasks_close(&t, tasks);
	check(doca_sync_event_stop(calls), "stop");
	check(doca_sync_event_destroy(calls), "destroy");
	doca_dev_close(dev);
}

int main(int argc, char **argv)
{
	static double results[KINDS][ROUNDS_MAX];
	struct run run = {.rounds = 9, .exchanges = 200000};
	int sockets[2], status;
	pid_t child;

	if (argc > 1)
		run.rounds = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		run.exchanges = strtoull(argv[2], NULL, 10);
	if (run.rounds == 0 || run.rounds > ROUNDS_MAX || run.exchanges == 0) {
		fprintf(stderr, "usage: bench_sync_event [ROUNDS (1 to %d) [EXCHANGES]]\n", ROUNDS_MAX);
		return 1;
	}
	run.line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run.line == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		close(sockets[0]); /* so that a wait here ends with the other process */
		pin(sf_usable_cpu(1));
		importer(&run, sockets[1]);
		return 0;
	}
	close(sockets[1]);
	pin(sf_usable_cpu(0));
	run.first = true;
	owner(&run, sockets[0], results);
	if (waitpid(child, &status, 0) != child || status != 0)
		return 1;
	return print(results, run.rounds);
}
