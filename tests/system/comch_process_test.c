/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch between two processes. The other process runs this program again, with a role as its argument. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "comch_roles.h"
#include "support/log_lines.h"
#include "support/provider.h"
#include "support/sanitizers.h"
#include "support/slow.h"
#include "support/stop.h"

#define NS_PER_S UINT64_C(1000000000)

/* ---- the other process ---- */

static pid_t child; /* the one that runs, or 0 */
static char self[4096];

static pid_t start_role(const char *role)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	child = pid;
	if (pid == 0) {
		const char *elsewhere =
			getenv("SOFTFIELD_TEST_ELSEWHERE"); /* a command that runs a program on the other machine */

		if (elsewhere != NULL)
			execl(elsewhere, elsewhere, self, role, server_name, (char *)NULL);
		execl(self, "comch_process_test", role, server_name, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* For a test that needs both devices in one process. */
static bool is_one_machine(void)
{
	return getenv("SOFTFIELD_TEST_ELSEWHERE") == NULL;
}

static void expect_exit(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	child = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void kill_now(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	child = 0;
}

/* Cleans up after a test that failed half-way. */
static int end_child(void **state)
{
	(void)state;
	side_wait_s = SIDE_WAIT_S;
	if (child != 0)
		kill_now(child);
	return 0;
}

/* ---- this process ---- */

static unsigned int num_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int num = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

static void messages_both_ways(void **state)
{
	char text[64];
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("echo");
	wait_for_client();
	for (uint32_t i = 0; i < 1000; i++) {
		int len = snprintf(text, sizeof(text), "number %u", i);

		assert_int_equal(side_send(&own, text, (uint32_t)len), DOCA_SUCCESS);
		SIDE_WAIT(own.num_msgs == i + 1, own.pe, NULL, NULL, NULL);
		assert_int_equal(own.msg_len, len);
		assert_memory_equal(own.msg, text, (size_t)len);
	}
	side_fini(&own, NULL);
	expect_exit(pid);
}

static void data_of_all_sizes(void **state)
{
	uint32_t number = 0;
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("data_echo");
	wait_for_client();
	start_data(1 << 20);
	for (size_t len = 1; len <= 1 << 20; len = len * 3 / 2 + 1) {
		echo_once(len, ++number);
		echo_once(len, ++number);
	}
	echo_once(1 << 20, ++number);
	end_data();
	side_fini(&own, NULL);
	expect_exit(pid);
}

/* Two machines (tests/machines) send it by tcp. */
static void one_message_of_a_gibibyte(void **state)
{
	pid_t pid;

	(void)state;
	/* With AddressSanitizer it takes half a minute for two machines, and shows nothing that a megabyte does not show. */
	if (provider_is("tcp") || HAS_ASAN || slow_machine() || sysconf(_SC_AVPHYS_PAGES) < (6L << 30) / sysconf(_SC_PAGESIZE)) {
		skip();
		return;
	}
	side_wait_s = HUGE_WAIT_S;
	serve();
	pid = start_role("huge_echo");
	wait_for_client();
	start_data((size_t)1 << 30);
	echo_once((size_t)1 << 30, 1);
	end_data();
	side_fini(&own, NULL);
	expect_exit(pid);
}

static void both_sides_asleep_between_messages(void **state)
{
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("sleeper");
	wait_for_client();
	data_init_consumer(&consumer, &own, own.pe, 1, 4096);
	data_init_producer(&producer, &own, own.pe, 1, 4096);
	data_start(&producer, NULL, NULL);
	data_start(&consumer, own.pe, NULL);
	SIDE_WAIT(own.num_new_consumers > 0, own.pe, NULL, NULL, NULL);
	for (uint32_t i = 0; i < 200; i++) {
		data_post(&consumer, 0, 64);
		assert_int_equal(data_send(&producer, 0, 64, own.new_consumer_id, &i, sizeof(i), false), DOCA_SUCCESS);
		while (consumer.num_done == i || producer.num_done == i) {
			while (doca_pe_progress(own.pe))
				;
			if (consumer.num_done == i || producer.num_done == i)
				sleep_until_due(own.pe);
		}
	}
	end_data();
	side_fini(&own, NULL);
	expect_exit(pid);
}

static void killed_client_is_a_disconnect(void **state)
{
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("echo");
	wait_for_client();
	kill_now(pid);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, NULL, NULL, NULL);
	pid = start_role("echo"); /* another client can connect */
	wait_for_client();
	assert_int_equal(side_send(&own, "x", 1), DOCA_SUCCESS);
	SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
	side_fini(&own, NULL);
	expect_exit(pid);
}

static void killed_server_ends_the_client_and_may_return(void **state)
{
	pid_t pid;

	(void)state;
	if (!is_one_machine())
		skip();
	new_name();
	for (int round = 0; round < 3; round++) {
		uint64_t end = sf_now_ns() + side_wait_s * NS_PER_S;

		pid = start_role("server");
		side_init_client(&own, server_name);
		do { /* until the server runs */
			assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
			SIDE_WAIT(side_state(own.ctx) != DOCA_CTX_STATE_STARTING &&
					  side_state(own.ctx) != DOCA_CTX_STATE_STOPPING,
				  own.pe, NULL, NULL, NULL);
		} while (!connected() && sf_now_ns() < end);
		assert_true(connected());
		assert_int_equal(side_send(&own, "x", 1), DOCA_SUCCESS);
		SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
		kill_now(pid);
		SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_IDLE, own.pe, NULL, NULL, NULL);
		side_fini(&own, NULL);
	}
}

static void killed_peer_ends_posted_receives_and_sends(void **state)
{
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("data_echo");
	wait_for_client();
	start_data(4096);
	echo_once(64, 1);
	data_post(&consumer, 0, 64);
	kill_now(pid);
	SIDE_WAIT(own.num_disconnects == 1 && consumer.num_errors == 1 && side_state(producer.ctx) == DOCA_CTX_STATE_IDLE, own.pe,
		  consumer.pe, producer.pe, NULL);
	assert_int_equal(consumer.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(own.num_expired_consumers, 1);
	end_data();
	side_fini(&own, NULL);
}

/* Returns a peer that has echoed one message. */
static pid_t start_echo(void)
{
	pid_t pid;

	serve();
	pid = start_role("data_echo");
	wait_for_client();
	start_data(4096);
	echo_once(64, 1);
	SIDE_WAIT(producer.num_done == 1, producer.pe, NULL, NULL, NULL);
	return pid;
}

/* By tcp a stopped peer acknowledges nothing, so the message stays in flight. */
static void a_send_that_fails_logs_one_line(void **state)
{
	pid_t pid;

	(void)state;
	if (!provider_is("tcp"))
		skip();
	pid = start_echo();
	process_stop(pid);
	while (data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, true) == DOCA_ERROR_AGAIN) {
		/* it was stopped before it posted its next receive */
		assert_int_equal(kill(pid, SIGCONT), 0);
		time_pass_ms(10);
		process_stop(pid);
	}
	log_lines_open();
	kill_now(pid);
	SIDE_WAIT(producer.num_errors == 1, producer.pe, NULL, NULL, NULL); /* the server would report its client's end, too */
	log_lines_expect("producer", "a send to consumer", "CONNECTION_ABORTED");
	end_data();
	side_fini(&own, NULL);
}

/* A producer that only submits, without progress, must also learn of the peer's death. */
static void killed_peer_ends_a_loop_of_submits(void **state)
{
	uint32_t errors;
	pid_t pid;

	(void)state;
	pid = start_echo();
	kill_now(pid);
	errors = producer.num_errors;
	for (int i = 0; i < 100 && producer.num_errors == errors; i++) {
		/* repeats the submit while it returns AGAIN */
		doca_error_t result = data_send(&producer, 0, 64, own.new_consumer_id, NULL, 0, false);

		assert_int_equal(result, DOCA_SUCCESS);
		SIDE_WAIT(producer.num_errors + producer.num_done >= 2, producer.pe, NULL, NULL, NULL);
		if (producer.num_errors == errors)
			producer.num_done = 1; /* it still found a receive of the dead peer */
	}
	assert_true(producer.num_errors > errors);
	SIDE_WAIT(own.num_disconnects == 1, own.pe, NULL, NULL, NULL);
	end_data();
	side_fini(&own, NULL);
}

static void progress_for(uint64_t ns)
{
	uint64_t end = sf_now_ns() + ns;

	while (sf_now_ns() < end) {
		doca_pe_progress(own.pe);
		doca_pe_progress(consumer.pe);
		doca_pe_progress(producer.pe);
		if (own.num_new_consumers > own.num_expired_consumers && side_state(producer.ctx) == DOCA_CTX_STATE_RUNNING)
			(void)data_send(&producer, 0, 3000, own.new_consumer_id, NULL, 0, true);
	}
}

/* Whatever the client does when it is killed: the server sees its end, and all tasks that it held complete. */
static void killed_at_any_moment(void **state)
{
	unsigned int seed = (unsigned int)getpid(), fds = 0;

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	serve();
	for (int round = 0; round < 24; round++) {
		uint32_t disconnects = own.num_disconnects, posted;
		pid_t pid = start_role("busy");

		wait_for_client();
		data_init_consumer(&consumer, &own, NULL, 16, 65536);
		data_init_producer(&producer, &own, NULL, 1024, 65536);
		assert_int_equal(doca_ctx_start(producer.ctx), DOCA_SUCCESS);
		assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
		consumer.repost = true;
		progress_for((uint64_t)(rand() % 3) * 1000000);
		for (posted = 0; posted < 16 && side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING; posted++)
			data_post(&consumer, posted * 4096, 4096);
		progress_for((uint64_t)(rand() % 4000) * 1000);
		kill_now(pid);
		SIDE_WAIT(own.num_disconnects == disconnects + 1 && side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE &&
				  side_state(producer.ctx) == DOCA_CTX_STATE_IDLE,
			  own.pe, consumer.pe, producer.pe, NULL);
		end_data();
		doca_pe_progress(own.pe);
		if (round == 3)
			fds = num_fds();
	}
	SIDE_WAIT(num_fds() <= fds, own.pe, NULL, NULL, NULL);
	side_fini(&own, NULL);
}

/* How often this thread has given up the processor voluntarily. */
static long waits(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

static void stopped_peer_blocks_nobody(void **state)
{
	uint64_t longest = 0, begin;
	bool sent = false;
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("data_echo");
	wait_for_client();
	start_data(1 << 20);
	echo_once(1 << 20, 1);
	data_post(&consumer, 0, 1 << 20);
	process_stop(pid);
	begin = sf_now_ns();
	while (sf_now_ns() - begin < NS_PER_S / 2) {
		uint64_t before = sf_now_ns(), took;
		long waited = waits();

		doca_pe_progress(own.pe);
		doca_pe_progress(producer.pe);
		doca_pe_progress(consumer.pe);
		if (!sent && producer.num_done == 1) /* goes into the stopped peer's memory, if its receive was posted in time */
			sent = data_send(&producer, 0, 1 << 20, own.new_consumer_id, NULL, 0, true) == DOCA_SUCCESS;
		took = sf_now_ns() - before;
		if (waits() != waited) /* otherwise it was busy, or had no processor */
			longest = took > longest ? took : longest;
	}
	assert_true(longest < NS_PER_S / 4);
	assert_int_equal(own.num_disconnects, 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	if (!sent)
		assert_int_equal(data_send(&producer, 0, 1 << 20, own.new_consumer_id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 2, own.pe, consumer.pe, producer.pe, NULL);
	end_data();
	side_fini(&own, NULL);
	expect_exit(pid);
}

static void server_stops_though_its_client_is_stopped(void **state)
{
	pid_t pid;

	(void)state;
	serve();
	pid = start_role("echo");
	wait_for_client();
	assert_int_equal(side_send(&own, "x", 1), DOCA_SUCCESS); /* its echo shows that the client runs */
	SIDE_WAIT(own.num_msgs == 1, own.pe, NULL, NULL, NULL);
	process_stop(pid);
	side_fini(&own, NULL);
	assert_int_equal(kill(pid, SIGCONT), 0);
	expect_exit(pid);
}

/* ---- threads ---- */

#define THREADS 4
#define THREAD_MESSAGES 500

struct worker {
	pthread_t thread;
	struct data_side consumer, producer;
	uint32_t remote_id;
	uint32_t received;
};

/* Each thread has its own progress engine, sends to the consumer that the main thread found for it, and receives. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	uint32_t sent = 0;

	data_start(&worker->producer, NULL, NULL);
	assert_int_equal(doca_ctx_start(worker->consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(worker->consumer.ctx) == DOCA_CTX_STATE_RUNNING, worker->consumer.pe, NULL, NULL, NULL);
	for (size_t i = 0; i < 8; i++)
		data_post(&worker->consumer, i * 64, 64);
	while (sent < THREAD_MESSAGES || worker->consumer.num_done < THREAD_MESSAGES ||
	       worker->producer.num_done < THREAD_MESSAGES) {
		if (sent < THREAD_MESSAGES && sent - worker->producer.num_done < 8 &&
		    data_send(&worker->producer, 0, 64, worker->remote_id, NULL, 0, true) == DOCA_SUCCESS) {
			if (worker->producer.num_errors == 0)
				sent++;
		}
		doca_pe_progress(worker->producer.pe);
		doca_pe_progress(worker->consumer.pe);
		if (worker->producer.num_errors > 0) { /* the peer's consumer was not known yet */
			assert_int_equal(worker->producer.status, DOCA_ERROR_NOT_FOUND);
			sent -= worker->producer.num_errors;
			worker->producer.num_errors = 0;
		}
	}
	return NULL;
}

static void threads_with_engines_of_their_own(void **state)
{
	static struct worker workers[2 * THREADS];
	static struct comch_side client;

	(void)state;
	if (!is_one_machine())
		skip();
	serve();
	side_init_client(&client, server_name);
	assert_int_equal(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_RUNNING && own.num_connects == 1, own.pe, client.pe, NULL, NULL);
	for (uint32_t i = 0; i < 2 * THREADS; i++) {
		struct comch_side *control = i < THREADS ? &own : &client;

		data_init_consumer(&workers[i].consumer, control, NULL, 8, 4096);
		workers[i].consumer.repost = true;
		data_init_producer(&workers[i].producer, control, NULL, 16, 4096);
		workers[i].remote_id = i % THREADS + 1;
	}
	for (uint32_t i = 0; i < 2 * THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (uint32_t i = 0; i < 2 * THREADS; i++) {
		while (pthread_tryjoin_np(workers[i].thread, NULL) == EBUSY) {
			doca_pe_progress(own.pe);
			doca_pe_progress(client.pe);
		}
	}
	for (uint32_t i = 0; i < 2 * THREADS; i++) {
		data_fini(&workers[i].producer);
		data_fini(&workers[i].consumer);
	}
	side_fini(&client, &own);
	side_fini(&own, NULL);
}

#define TEST(name) cmocka_unit_test_teardown(name, end_child)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_both_ways),
		TEST(data_of_all_sizes),
		TEST(one_message_of_a_gibibyte),
		TEST(both_sides_asleep_between_messages),
		TEST(killed_client_is_a_disconnect),
		TEST(killed_server_ends_the_client_and_may_return),
		TEST(killed_peer_ends_posted_receives_and_sends),
		TEST(a_send_that_fails_logs_one_line),
		TEST(killed_peer_ends_a_loop_of_submits),
		TEST(killed_at_any_moment),
		TEST(stopped_peer_blocks_nobody),
		TEST(server_stops_though_its_client_is_stopped),
		TEST(threads_with_engines_of_their_own),
	};

	if (realpath("/proc/self/exe", self) == NULL)
		return 2;
	if (argc == 3) {
		snprintf(server_name, sizeof(server_name), "%s", argv[2]);
		return run_role(argv[1]);
	}
	if (getenv("SOFTFIELD_TEST_CASE") != NULL)
		cmocka_set_test_filter(getenv("SOFTFIELD_TEST_CASE"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
