/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains of very many processes, all but one of them simulated; and failures before RUNNING. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/stop.h"
#include "support/urom_players.h"
#include "support/urom_rig.h"
#include "ucx_side.h"
#include "urom_sandbox.h"

#define SANDBOX "worker_sandbox"
#define MANY 2000
#define MANY_NS UINT64_C(60000000000) /* an idle machine needs about 10 ms */
#define WORKERS 4
#define DOMAINS_MAX 1024 /* for each worker */
#define SHARED_ID 55
#define NOBODY 77 /* no worker has this id */
#define FORGED_NS UINT64_C(500000000)
#define TASKS_MAX 16384 /* more than a connection accepts */

static struct urom_rig rig;
static struct doca_urom_worker *workers[WORKERS]; /* the first two share a process */
static uint64_t ids[WORKERS] = {40, 10, 30, 20};

static bool start_workers(void)
{
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = urom_rig_worker(&rig, i < 2 ? SHARED_ID : DOCA_UROM_WORKER_ID_ANY, SANDBOX);
		if (workers[i] == NULL || !urom_rig_start_worker(&rig, workers[i]))
			return false;
	}
	return urom_sandbox_init(urom_rig_plugin(&rig, SANDBOX), urom_rig_plugin_version(&rig, SANDBOX)) == DOCA_SUCCESS;
}

static int open_rig(void **state)
{
	(void)state;
	return urom_rig_open(&rig, NULL) && start_workers() ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	for (int i = 0; i < WORKERS; i++) {
		if (workers[i] != NULL)
			(void)urom_rig_stop_worker(&rig, workers[i]);
		workers[i] = NULL;
	}
	urom_rig_close(&rig);
	return 0;
}

static void deal(struct urom_players *players, uint32_t num)
{
	urom_players_open(players, num);
	for (uint32_t i = 0; i + 1 < num; i++)
		urom_player_set(players, i, 2, 200, i % 3, 100);
}

static struct doca_urom_domain *make_domain(struct urom_players *players, size_t num_workers)
{
	struct doca_urom_domain_oob_coll oob = urom_players_oob(players);
	struct doca_urom_domain *domain;

	assert_int_equal(doca_urom_domain_create(&domain), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(rig.pe, doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_workers(domain, ids, workers, num_workers), DOCA_SUCCESS);
	return domain;
}

/* Starts the domain. Returns the state in which the start ends. */
static enum doca_ctx_states start(struct doca_urom_domain *domain)
{
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(domain);
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (doca_ctx_start(ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_CTX_STATE_IDLE;
	do {
		urom_rig_progress(rig.pe);
		(void)doca_ctx_get_state(ctx, &state);
	} while (state == DOCA_CTX_STATE_STARTING && sf_now_ns() < until);
	return state;
}

static void end(struct doca_urom_domain *domain, struct urom_players *players)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(doca_urom_domain_as_ctx(domain), &state), DOCA_SUCCESS);
	if (state != DOCA_CTX_STATE_IDLE)
		assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
	urom_players_close(players);
}

struct sent {
	int done;
	doca_error_t result;
};

static void sent(doca_error_t result, union doca_data cookie)
{
	*(struct sent *)cookie.ptr = (struct sent){1, result};
}

/* Sends to an id, which the worker looks up in its domains. */
static doca_error_t send_to(struct doca_urom_worker *worker, uint64_t id)
{
	struct sent end = {0};

	assert_int_equal(urom_sandbox_task_send(worker, (union doca_data){.ptr = &end}, id, 1, "x", 1, sent), DOCA_SUCCESS);
	assert_true(urom_rig_await_flag(&rig, &end.done));
	return end.result;
}

/* ---- very many ---- */

static void two_thousand_processes(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, MANY);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	uint64_t from = sf_now_ns();
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	assert_true(sf_now_ns() - from < MANY_NS);
	assert_int_equal(players.num_freed, players.round);
	for (int i = 0; i < WORKERS; i++) {
		for (int j = 0; j < WORKERS; j++)
			assert_int_equal(send_to(workers[i], ids[j]), DOCA_SUCCESS);
		assert_int_equal(send_to(workers[i], 11), DOCA_ERROR_NOT_FOUND);
	}
	end(domain, &players);
}

/* Entries are gathered in rounds, so the memory in use does not grow with one large entry. */
static void one_has_much_more_than_the_others(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 100);
	urom_player_set(&players, 7, 2, 200, 1024, 500);
	struct doca_urom_domain *domain = make_domain(&players, 2);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	assert_true(players.round > 3);
	assert_int_equal(players.num_freed, players.round);
	assert_in_range(players.bytes_most, 1, 16 << 20);
	assert_int_equal(send_to(workers[0], ids[1]), DOCA_SUCCESS);
	end(domain, &players);
}

static void more_than_a_directory_holds(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 3);
	players.lens[0] = players.lens[1] = (130 << 20);
	struct doca_urom_domain *domain = make_domain(&players, 1);
	assert_int_equal(start(domain), DOCA_CTX_STATE_IDLE);
	assert_int_equal(players.round, 1); /* only sizes were gathered */
	end(domain, &players);
}

static void as_many_domains_as_a_worker_takes(void **state)
{
	static struct doca_urom_domain *domains[DOMAINS_MAX + 1];
	struct urom_players players;

	(void)state;
	urom_players_open(&players, 1);
	for (int i = 0; i <= DOMAINS_MAX; i++) {
		domains[i] = make_domain(&players, 1);
		assert_int_equal(start(domains[i]), i < DOMAINS_MAX ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_IDLE);
	}
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domains[5])), DOCA_SUCCESS);
	struct doca_urom_domain_oob_coll oob = urom_players_oob(&players);
	assert_int_equal(doca_urom_domain_set_oob(domains[DOMAINS_MAX], &oob), DOCA_SUCCESS);
	assert_int_equal(start(domains[DOMAINS_MAX]), DOCA_CTX_STATE_RUNNING);
	for (int i = 0; i <= DOMAINS_MAX; i++) {
		if (i != 5)
			assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domains[i])), DOCA_SUCCESS);
		assert_int_equal(doca_urom_domain_destroy(domains[i]), DOCA_SUCCESS);
	}
	urom_players_close(&players);
}

/* ---- contexts of one worker process ---- */

static void a_worker_that_sent_a_directory_may_leave(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 50);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	for (int i = 0; i < 2; i++) { /* one of the two sent the directory to the process, and the other relies on that */
		assert_int_equal(send_to(workers[1], ids[3]), DOCA_SUCCESS);
		assert_true(urom_rig_stop_worker(&rig, workers[i]));
		workers[i] = NULL;
	}
	assert_int_equal(send_to(workers[2], ids[3]), DOCA_SUCCESS); /* this worker has its own process */
	end(domain, &players);
}

/* Opens another program with a worker that both programs share. Waits for a byte before it opens the worker, and writes one
 * afterwards. */
static struct doca_urom_domain *join_shared(int wait_fd, int say_fd, struct urom_players *players)
{
	char byte = 0;

	if (wait_fd >= 0 && read(wait_fd, &byte, 1) != 1)
		_exit(1);
	rig.service = urom_rig_service(&rig);
	if (rig.service == NULL || doca_ctx_start(doca_urom_service_as_ctx(rig.service)) != DOCA_SUCCESS)
		_exit(1);
	workers[0] = urom_rig_worker(&rig, SHARED_ID, SANDBOX);
	if (workers[0] == NULL ||
	    urom_sandbox_init(urom_rig_plugin(&rig, SANDBOX), urom_rig_plugin_version(&rig, SANDBOX)) != DOCA_SUCCESS ||
	    !urom_rig_start_worker(&rig, workers[0]) || write(say_fd, &byte, 1) != 1)
		_exit(1);
	deal(players, MANY);
	return make_domain(players, 1);
}

/* Begins to send the directory to the worker, and is killed after some progress calls. */
static void notify_and_die(int wait_fd, int say_fd, int turns)
{
	struct urom_players players;
	struct doca_urom_domain *domain = join_shared(wait_fd, say_fd, &players);

	if (doca_ctx_start(doca_urom_domain_as_ctx(domain)) != DOCA_ERROR_IN_PROGRESS)
		_exit(1);
	for (int i = 0; i < turns; i++)
		(void)doca_pe_progress(rig.pe);
	raise(SIGKILL);
}

/* Offers the same directory at about that time: the worker then requests it from this process. */
static void notify_after_it(int say_fd, int wait_fd)
{
	struct urom_players players;
	struct doca_urom_domain *domain = join_shared(-1, say_fd, &players);
	char byte;

	if (read(wait_fd, &byte, 1) != 1)
		_exit(1);
	_exit(start(domain) == DOCA_CTX_STATE_RUNNING && send_to(workers[0], ids[0]) == DOCA_SUCCESS ? 0 : 2);
}

static void a_program_that_sends_a_directory_may_die(void **state)
{
	struct urom_rig host = {.pe = NULL};

	(void)state;
	assert_true(urom_rig_start_daemon(&host, NULL));
	fflush(NULL);
	for (int turns = 1; turns < 400; turns *= 3) {
		int up[2], notices[2], status;

		assert_int_equal(pipe(up) | pipe(notices), 0);
		pid_t other = fork(); /* both run in children, because UCX does not survive a fork */
		if (other == 0)
			notify_and_die(up[0], notices[1], turns);
		pid_t own = fork();
		if (own == 0)
			notify_after_it(up[1], notices[0]);
		assert_int_equal(waitpid(other, &status, 0), other);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(waitpid(own, &status, 0), own);
		assert_int_equal(status, 0);
		for (int i = 0; i < 2; i++)
			(void)(close(up[i]) | close(notices[i]));
	}
	urom_rig_close(&host);
}

/* ---- what goes wrong ---- */

/* The first start fails; the next one, with a correct exchange, does not. */
static void fails_once(struct urom_players *players)
{
	struct doca_urom_domain *domain = make_domain(players, WORKERS);

	assert_int_equal(start(domain), DOCA_CTX_STATE_IDLE);
	players->fails_to_start = players->fails = players->other_index = 0;
	struct doca_urom_domain_oob_coll oob = urom_players_oob(players);
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_SUCCESS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(players->num_freed, players->round);
	end(domain, players);
}

static void a_gathering_that_does_not_start(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	players.fails_to_start = 1;
	struct doca_urom_domain *domain = make_domain(&players, 1);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IO_FAILED);
	assert_int_equal(players.num_freed, 0);
	end(domain, &players);
	deal(&players, 5);
	players.fails_to_start = 2;
	fails_once(&players);
}

static void a_gathering_that_fails(void **state)
{
	struct urom_players players;

	(void)state;
	for (uint32_t round = 1; round <= 2; round++) {
		deal(&players, 5);
		players.fails = round;
		fails_once(&players);
	}
}

static void an_index_that_is_there_twice(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	players.other_index = 1;
	fails_once(&players);
}

static void an_entry_that_is_malformed(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	memset(players.entries[2], 0xff, players.lens[2]);
	struct doca_urom_domain *domain = make_domain(&players, 1);
	assert_int_equal(start(domain), DOCA_CTX_STATE_IDLE);
	end(domain, &players);
}

static void a_stop_in_each_round(void **state)
{
	struct urom_players players;

	(void)state;
	for (uint32_t round = 1; round <= 2; round++) {
		enum doca_ctx_states now;

		deal(&players, 5);
		players.never_ends = round;
		struct doca_urom_domain *domain = make_domain(&players, WORKERS);
		assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
		for (int i = 0; i < 100; i++)
			(void)doca_pe_progress(rig.pe);
		assert_int_equal(doca_ctx_get_state(doca_urom_domain_as_ctx(domain), &now), DOCA_SUCCESS);
		assert_int_equal(now, DOCA_CTX_STATE_STARTING);
		assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
		assert_int_equal(players.num_freed, round);
		end(domain, &players);
	}
}

/* Stops the domain after each number of progress calls: when it has offered the directory, is sending it, or has sent it. */
static void a_stop_while_workers_receive_the_directory(void **state)
{
	struct urom_players players;

	(void)state;
	for (int turns = 1; turns < 100; turns += 3) {
		deal(&players, 200);
		struct doca_urom_domain *domain = make_domain(&players, WORKERS);
		assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
		for (int i = 0; i < turns; i++)
			(void)doca_pe_progress(rig.pe);
		assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
		end(domain, &players);
	}
	deal(&players, 200);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	end(domain, &players);
}

static void a_worker_that_dies_while_processes_gather(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	players.never_ends = 2;
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
	kill(urom_rig_process_of(&rig, workers[3]), SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[3]), DOCA_CTX_STATE_IDLE));
	players.never_ends = 0; /* the other participants are not held up */
	assert_true(urom_rig_await(&rig, doca_urom_domain_as_ctx(domain), DOCA_CTX_STATE_IDLE));
	assert_int_equal(players.round, 2);
	assert_int_equal(players.num_freed, 2);
	end(domain, &players);
}

static void a_worker_that_dies_later(void **state)
{
	struct urom_players players;
	enum doca_ctx_states now;

	(void)state;
	deal(&players, 5);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	kill(urom_rig_process_of(&rig, workers[3]), SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[3]), DOCA_CTX_STATE_IDLE));
	assert_int_equal(doca_ctx_get_state(doca_urom_domain_as_ctx(domain), &now), DOCA_SUCCESS);
	assert_int_equal(now, DOCA_CTX_STATE_RUNNING);
	assert_int_equal(send_to(workers[0], ids[2]), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_BAD_STATE); /* without the dead worker */
	end(domain, &players);
}

/* ---- a queue that is full ---- */

static int num_under_way, num_not_found;

static void ended(doca_error_t result, union doca_data cookie)
{
	(void)cookie;
	num_under_way--;
	num_not_found += result == DOCA_ERROR_NOT_FOUND;
}

/* Submits commands to a missing worker until the connection is full. */
static void fill_queue(struct doca_urom_worker *worker)
{
	static const char much[3900];
	doca_error_t result;

	num_under_way = num_not_found = 0;
	while ((result = urom_sandbox_task_send(worker, (union doca_data){0}, NOBODY, 1, much, sizeof(much), ended)) ==
	       DOCA_SUCCESS)
		num_under_way++;
	assert_int_equal(result, DOCA_ERROR_AGAIN);
}

static void restart_with_many_tasks(struct doca_urom_worker **worker)
{
	assert_true(urom_rig_stop_worker(&rig, *worker));
	*worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, SANDBOX);
	assert_non_null(*worker);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(*worker, TASKS_MAX), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, *worker));
}

/* The domain is destroyed immediately after its stop, as is permitted; its workers still forget it. */
static void a_stop_while_a_worker_reads_nothing(void **state)
{
	struct urom_players players;

	(void)state;
	restart_with_many_tasks(&workers[2]);
	pid_t process = urom_rig_process_of(&rig, workers[2]);
	deal(&players, 5);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(send_to(workers[2], ids[3]), DOCA_SUCCESS);
	process_stop(process);
	fill_queue(workers[2]);
	int num = num_under_way;
	end(domain, &players);
	assert_int_equal(kill(process, SIGCONT), 0);
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	while (num_under_way != 0 && sf_now_ns() < until)
		urom_rig_progress(rig.pe);
	assert_int_equal(num_not_found, num);
	assert_int_equal(send_to(workers[2], ids[3]), DOCA_ERROR_NOT_FOUND);
	deal(&players, 5);
	domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	end(domain, &players);
}

/* The messages that were still to be sent to the worker are dropped with it. */
static void a_worker_that_is_to_leave_a_domain_and_stops(void **state)
{
	struct urom_players players;

	(void)state;
	restart_with_many_tasks(&workers[2]);
	pid_t process = urom_rig_process_of(&rig, workers[2]);
	deal(&players, 5);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	process_stop(process);
	fill_queue(workers[2]);
	end(domain, &players);
	assert_int_equal(kill(process, SIGKILL), 0);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[2]), DOCA_CTX_STATE_IDLE));
	assert_int_equal(num_under_way, 0);
}

/* The domain starts again with the same settings and a new exchange. */
static void a_worker_that_runs_again(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	kill(urom_rig_process_of(&rig, workers[3]), SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[3]), DOCA_CTX_STATE_IDLE));
	assert_true(urom_rig_start_worker(&rig, workers[3]));
	assert_int_equal(send_to(workers[3], ids[0]), DOCA_ERROR_NOT_FOUND); /* its new process does not have the domain */
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	urom_players_close(&players);
	deal(&players, 5);
	struct doca_urom_domain_oob_coll oob = urom_players_oob(&players);
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_SUCCESS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(send_to(workers[3], ids[0]), DOCA_SUCCESS);
	assert_int_equal(send_to(workers[0], ids[3]), DOCA_SUCCESS);
	end(domain, &players);
}

/* Restarts the worker between two progress calls of the domain: the new process does not get what the old one was offered. */
static void a_worker_that_runs_again_while_its_domain_starts(void **state)
{
	struct urom_players players;

	(void)state;
	deal(&players, 5);
	players.never_ends = 2;
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
	kill(urom_rig_process_of(&rig, workers[3]), SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[3]), DOCA_CTX_STATE_IDLE));
	assert_true(urom_rig_start_worker(&rig, workers[3]));
	players.never_ends = 0;
	assert_true(urom_rig_await(&rig, doca_urom_domain_as_ctx(domain), DOCA_CTX_STATE_IDLE));
	end(domain, &players);
}

/* ---- an address that is not from UCX ---- */

/* Gives the first player one worker, with that address for the plugin. */
static void forge(struct urom_players *players, const void *address, size_t len)
{
	uint8_t addresses[1024];
	size_t addresses_len =
		urom_addresses_append(addresses, sizeof(addresses), 0, urom_rig_plugin(&rig, SANDBOX), address, len);
	const struct urom_entry_worker forged = {NOBODY, {addresses, addresses_len}};

	players->lens[0] = urom_entry_pack(&forged, 1, NULL, 0, NULL, 0);
	free(players->entries[0]);
	players->entries[0] = (uint8_t *)malloc(players->lens[0]);
	(void)urom_entry_pack(&forged, 1, NULL, 0, players->entries[0], players->lens[0]);
}

/* UCX uses an address as it is, and its reaction to a forged one is undefined. Only the worker that sends to it may be
 * affected. */
static bool send_to_forged(const void *address, size_t len)
{
	struct urom_players players;
	enum doca_ctx_states now;

	deal(&players, 3);
	forge(&players, address, len);
	struct doca_urom_domain *domain = make_domain(&players, WORKERS);
	assert_int_equal(start(domain), DOCA_CTX_STATE_RUNNING);
	struct sent end_of_it = {0};
	assert_int_equal(urom_sandbox_task_send(workers[2], (union doca_data){.ptr = &end_of_it}, NOBODY, 1, "x", 1, sent),
			 DOCA_SUCCESS);
	uint64_t until =
		sf_now_ns() + FORGED_NS; /* a forged address that looks valid may accept the message and never deliver it */
	while (!end_of_it.done && sf_now_ns() < until)
		urom_rig_progress(rig.pe);
	assert_int_equal(doca_ctx_get_state(doca_urom_worker_as_ctx(workers[2]), &now), DOCA_SUCCESS);
	bool died = now != DOCA_CTX_STATE_RUNNING;
	if (died)
		assert_true(end_of_it.done && program_await(&rig.daemon, "died: "));
	assert_int_equal(send_to(workers[0], ids[3]), DOCA_SUCCESS);
	assert_int_equal(send_to(workers[3], ids[0]), DOCA_SUCCESS);
	end(domain, &players);
	assert_true(urom_rig_stop_worker(&rig, workers[2]));
	workers[2] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, SANDBOX);
	assert_true(urom_rig_start_worker(&rig, workers[2]));
	return died;
}

/* Changes each byte of a real address. */
static void forged_addresses(void **state)
{
	uint8_t address[512];
	struct ucx_side side;

	(void)state;
	assert_int_equal(ucx_side_open(&side, UCP_FEATURE_TAG), DOCA_SUCCESS);
	size_t len = side.address_len < sizeof(address) ? side.address_len : sizeof(address);
	uint32_t num = 1, num_died = 0;
	for (size_t at = 0; at < len; at += 1 + len / 8) {
		memcpy(address, side.address, len);
		address[at] ^= 0xff;
		num_died += send_to_forged(address, len);
		num++;
	}
	memset(address, 0xff, sizeof(address));
	num_died += send_to_forged(address, 16);
	print_message("%u of %u forged addresses ended the worker\n", num_died, num);
	ucx_side_close(&side);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_sends_a_directory_may_die), /* first, because it forks */
		WITH_RIG(two_thousand_processes),
		WITH_RIG(one_has_much_more_than_the_others),
		WITH_RIG(more_than_a_directory_holds),
		WITH_RIG(as_many_domains_as_a_worker_takes),
		WITH_RIG(a_worker_that_sent_a_directory_may_leave),
		WITH_RIG(a_gathering_that_does_not_start),
		WITH_RIG(a_gathering_that_fails),
		WITH_RIG(an_index_that_is_there_twice),
		WITH_RIG(an_entry_that_is_malformed),
		WITH_RIG(a_stop_in_each_round),
		WITH_RIG(a_stop_while_workers_receive_the_directory),
		WITH_RIG(a_worker_that_dies_while_processes_gather),
		WITH_RIG(a_worker_that_dies_later),
		WITH_RIG(a_worker_that_runs_again),
		WITH_RIG(a_worker_that_runs_again_while_its_domain_starts),
		WITH_RIG(forged_addresses),
		WITH_RIG(a_stop_while_a_worker_reads_nothing),
		WITH_RIG(a_worker_that_is_to_leave_a_domain_and_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
