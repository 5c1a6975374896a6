/* SPDX-License-Identifier: BSD-3-Clause */
/* The sandbox plugin: tagged messages between the workers of a domain. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "support/stop.h"
#include "support/urom_rig.h"
#include "urom_sandbox.h"

#define SANDBOX "worker_sandbox"
#define MESSAGE_MAX 4096 /* of the plugin's channel */
#define MANY 64
#define LOAD_MESSAGE_MAX 65536
#define LOAD_LONG 60000
#define LOAD_MANY 256 /* together more than a connection holds */

static struct urom_rig rig;
static struct doca_urom_worker *workers[2];
static struct doca_urom_domain *domain;
static const uint64_t ids[2] = {4, 9};

/* ---- a domain of one process ---- */

static doca_error_t gather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	(void)coll_info;
	memcpy(rbuf, sbuf, msglen);
	*req = rbuf;
	return DOCA_SUCCESS;
}

static doca_error_t gathered(void *req)
{
	(void)req;
	return DOCA_SUCCESS;
}

static bool start_domain(void)
{
	struct doca_urom_domain_oob_coll oob = {gather, gathered, gathered, NULL, 1, 0};
	uint64_t own[2] = {ids[0], ids[1]};

	if (doca_urom_domain_create(&domain) != DOCA_SUCCESS)
		return false;
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(domain);
	return doca_pe_connect_ctx(rig.pe, ctx) == DOCA_SUCCESS && doca_urom_domain_set_oob(domain, &oob) == DOCA_SUCCESS &&
	       doca_urom_domain_set_workers(domain, own, workers, 2) == DOCA_SUCCESS &&
	       doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS && urom_rig_await(&rig, ctx, DOCA_CTX_STATE_RUNNING);
}

static void end_domain(void)
{
	(void)doca_ctx_stop(doca_urom_domain_as_ctx(domain));
	(void)doca_urom_domain_destroy(domain);
	domain = NULL;
}

static bool init_sandbox(void)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	if (doca_urom_service_get_plugins_list(rig.service, &plugins, &num) != DOCA_SUCCESS)
		return false;
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, SANDBOX) == 0)
			return urom_sandbox_init(plugins[i].id, plugins[i].version + 1) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_sandbox_init(plugins[i].id, PUBLISHED_VERSION) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_sandbox_init(plugins[i].id, plugins[i].version) == DOCA_SUCCESS;
	}
	return false;
}

static int open_workers(uint32_t inflight)
{
	if (!init_sandbox())
		return -1;
	for (int i = 0; i < 2; i++) {
		workers[i] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, SANDBOX);
		if (workers[i] == NULL || doca_urom_worker_set_max_inflight_tasks(workers[i], inflight) != DOCA_SUCCESS ||
		    !urom_rig_start_worker(&rig, workers[i]))
			return -1;
	}
	return start_domain() ? 0 : -1;
}

static int open_rig(void **state)
{
	(void)state;
	return urom_rig_open(&rig, NULL) ? open_workers(2 * MANY) : -1;
}

/* A rig with messages of 64 KiB. */
static int open_long_rig(void **state)
{
	static const char *const args[] = {"--max-msg-size", "65536", NULL};

	(void)state;
	if (!urom_rig_start_daemon(&rig, args) || (rig.service = urom_rig_service(&rig)) == NULL ||
	    doca_urom_service_set_max_comm_msg_size(rig.service, LOAD_MESSAGE_MAX) != DOCA_SUCCESS ||
	    doca_ctx_start(doca_urom_service_as_ctx(rig.service)) != DOCA_SUCCESS)
		return -1;
	return open_workers(2 * LOAD_MANY);
}

/* The same, with workers connected only by TCP, as on two machines. */
static int open_tcp_rig(void **state)
{
	setenv("UCX_TLS", "tcp", 1);
	return open_long_rig(state);
}

static int open_eager_rig(void **state)
{
	setenv("UCX_RNDV_THRESH", "inf", 1);
	return open_tcp_rig(state);
}

static int close_rig(void **state)
{
	(void)state;
	unsetenv("UCX_TLS");
	unsetenv("UCX_RNDV_THRESH");
	if (domain != NULL)
		end_domain();
	for (int i = 0; i < 2; i++) {
		if (workers[i] != NULL)
			(void)urom_rig_stop_worker(&rig, workers[i]);
	}
	urom_rig_close(&rig);
	return 0;
}

/* ---- messages ---- */

struct end {
	int done;
	doca_error_t result;
	size_t len;
	uint64_t tag;
	uint8_t data[MESSAGE_MAX]; /* the first bytes of the message */
};

static void sent(doca_error_t result, union doca_data cookie)
{
	struct end *end = (struct end *)cookie.ptr;

	end->result = result;
	end->done = 1;
}

static void received(doca_error_t result, union doca_data cookie, const void *data, size_t len, uint64_t tag)
{
	struct end *end = (struct end *)cookie.ptr;

	end->result = result;
	end->done = 1;
	end->len = len;
	end->tag = tag;
	if (len != 0)
		memcpy(end->data, data, len < sizeof(end->data) ? len : sizeof(end->data));
}

/* A worker that has died is not expected: its daemon knows why. */
static void assert_begun(int worker, doca_error_t result)
{
	if (result != DOCA_SUCCESS) {
		(void)urom_rig_end_daemon(&rig); /* reads the rest of its log */
		fprintf(stderr, "worker %d: %s; the daemon's log:\n%s\n", worker, doca_error_get_name(result), rig.daemon.output);
	}
	assert_int_equal(result, DOCA_SUCCESS);
}

static void begin_send(int from, uint64_t peer, uint64_t tag, const void *data, size_t len, struct end *end)
{
	memset(end, 0, sizeof(*end));
	assert_begun(from, urom_sandbox_task_send(workers[from], (union doca_data){.ptr = end}, peer, tag, data, len, sent));
}

static void begin_receive(int at, uint64_t tag, uint64_t mask, size_t len, struct end *end)
{
	memset(end, 0, sizeof(*end));
	assert_begun(at, urom_sandbox_task_receive(workers[at], (union doca_data){.ptr = end}, tag, mask, len, received));
}

static doca_error_t await(struct end *end)
{
	assert_true(urom_rig_await_flag(&rig, &end->done));
	return end->result;
}

static doca_error_t send(int from, uint64_t peer, uint64_t tag, const void *data, size_t len)
{
	struct end end;

	begin_send(from, peer, tag, data, len, &end);
	return await(&end);
}

/* ---- tests ---- */

static void there_and_back(void **state)
{
	struct end ping, pong;

	(void)state;
	begin_receive(1, 7, UINT64_MAX, 100, &ping);
	assert_int_equal(send(0, ids[1], 7, "ping", 4), DOCA_SUCCESS);
	assert_int_equal(await(&ping), DOCA_SUCCESS);
	assert_int_equal(ping.len, 4);
	assert_int_equal(ping.tag, 7);
	assert_memory_equal(ping.data, "ping", 4);
	assert_int_equal(send(1, ids[0], 8, "pong!", 5), DOCA_SUCCESS); /* before a receive is posted */
	begin_receive(0, 8, UINT64_MAX, 100, &pong);
	assert_int_equal(await(&pong), DOCA_SUCCESS);
	assert_int_equal(pong.len, 5);
	assert_int_equal(pong.tag, 8);
	assert_memory_equal(pong.data, "pong!", 5);
}

static void a_worker_writes_to_itself(void **state)
{
	struct end end;

	(void)state;
	begin_receive(0, 1, UINT64_MAX, 100, &end);
	assert_int_equal(send(0, ids[0], 1, "me", 2), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
	assert_memory_equal(end.data, "me", 2);
}

static void only_bits_of_the_mask_matter(void **state)
{
	struct end low, high;

	(void)state;
	begin_receive(1, 0x0100, 0xff00, 100, &low);
	begin_receive(1, 0x0200, 0xff00, 100, &high);
	assert_int_equal(send(0, ids[1], 0x0234, "high", 4), DOCA_SUCCESS);
	assert_int_equal(await(&high), DOCA_SUCCESS);
	assert_int_equal(high.tag, 0x0234);
	assert_false(low.done);
	assert_int_equal(send(0, ids[1], 0x0112, "low", 3), DOCA_SUCCESS);
	assert_int_equal(await(&low), DOCA_SUCCESS);
	assert_int_equal(low.tag, 0x0112);
}

static void an_empty_message(void **state)
{
	struct end end;

	(void)state;
	begin_receive(1, 1, UINT64_MAX, 0, &end);
	assert_int_equal(send(0, ids[1], 1, NULL, 0), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
	assert_int_equal(end.len, 0);
}

static void the_largest_message(void **state)
{
	static uint8_t data[MESSAGE_MAX];
	static struct end end;
	size_t most = MESSAGE_MAX;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	while (urom_sandbox_task_receive(workers[1], (union doca_data){.ptr = &end}, 5, UINT64_MAX, most, received) ==
	       DOCA_ERROR_TOO_BIG)
		most--;
	size_t sendable = MESSAGE_MAX;
	doca_error_t result;
	struct end out = {0};
	while ((result = urom_sandbox_task_send(workers[0], (union doca_data){.ptr = &out}, ids[1], 5, data, sendable, sent)) ==
	       DOCA_ERROR_TOO_BIG)
		sendable--;
	assert_int_equal(result, DOCA_SUCCESS);
	assert_in_range(sendable, MESSAGE_MAX - 128, MESSAGE_MAX - 24);
	assert_in_range(most, sendable, MESSAGE_MAX - 32);
	assert_int_equal(await(&out), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
	assert_int_equal(end.len, sendable);
	assert_memory_equal(end.data, data, sendable);
}

static void more_than_was_asked_for(void **state)
{
	struct end end;

	(void)state;
	begin_receive(1, 1, UINT64_MAX, 3, &end);
	assert_int_equal(send(0, ids[1], 1, "four", 4), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_ERROR_TOO_BIG);
	assert_int_equal(send(0, ids[1], 1, "five5", 5), DOCA_SUCCESS); /* before a receive is posted */
	begin_receive(1, 1, UINT64_MAX, 3, &end);
	assert_int_equal(await(&end), DOCA_ERROR_TOO_BIG);
	begin_receive(1, 2, UINT64_MAX, 3, &end);
	assert_int_equal(send(0, ids[1], 2, "3 b", 3), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
}

static void an_id_of_no_worker(void **state)
{
	(void)state;
	assert_int_equal(send(0, 5, 1, "x", 1), DOCA_ERROR_NOT_FOUND);
	end_domain();
	assert_int_equal(doca_pe_progress(rig.pe) >= 0, 1);
	for (doca_error_t result = DOCA_SUCCESS; result != DOCA_ERROR_NOT_FOUND;) /* the worker learns that the domain is gone */
		result = send(0, ids[1], 1, "x", 1);
}

static void many_in_their_order(void **state)
{
	static struct end out[MANY], in[MANY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		begin_receive(1, 3, UINT64_MAX, sizeof(i), &in[i]);
		begin_send(0, ids[1], 3, &i, sizeof(i), &out[i]);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(await(&out[i]), DOCA_SUCCESS);
		assert_int_equal(await(&in[i]), DOCA_SUCCESS);
		assert_memory_equal(in[i].data, &i, sizeof(i));
	}
}

static void a_worker_that_is_gone(void **state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result;

	(void)state;
	assert_int_equal(send(0, ids[1], 1, "x", 1), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, workers[1]));
	workers[1] = NULL;
	do
		result = send(0, ids[1], 1, "x", 1);
	while (result == DOCA_SUCCESS && sf_now_ns() < until);
	assert_int_not_equal(result, DOCA_SUCCESS);
	struct end end;
	begin_receive(0, 2, UINT64_MAX, 10, &end); /* the other worker still works */
	assert_int_equal(send(0, ids[0], 2, "me", 2), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
}

/* ---- a worker that dies with much in flight ---- */

static void write_to_itself(int worker)
{
	struct end end;

	begin_receive(worker, 99, UINT64_MAX, 10, &end);
	assert_int_equal(send(worker, ids[worker], 99, "me", 2), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS);
	assert_memory_equal(end.data, "me", 2);
}

static uint8_t load[LOAD_MESSAGE_MAX];
static struct end out[LOAD_MANY], in[LOAD_MANY];

static void begin_load(size_t len)
{
	for (int i = 0; i < LOAD_MANY; i++)
		begin_send(0, ids[1], 2, load, len, &out[i]);
}

static void assert_sends_end(void)
{
	for (int i = 0; i < LOAD_MANY; i++) {
		doca_error_t result = await(&out[i]);

		assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_CONNECTION_ABORTED);
	}
	write_to_itself(0);
}

/* The victim is stopped, so that a send is cut in the middle. The survivor reads the victim's last messages before it notices
 * the reset, so that the send detects it. */
static void a_worker_that_dies_in_the_middle_of_a_send(void **state)
{
	struct end back[4];
	pid_t survivor = urom_rig_process_of(&rig, workers[0]), victim = urom_rig_process_of(&rig, workers[1]);

	(void)state;
	assert_int_equal(send(0, ids[1], 1, "there", 5), DOCA_SUCCESS);
	assert_int_equal(send(1, ids[0], 1, "back", 4), DOCA_SUCCESS);
	process_stop(victim);
	begin_load(30000);
	write_to_itself(0); /* completes after the sends were begun, so they are in flight */
	process_stop(survivor);
	for (int i = 0; i < 4; i++)
		begin_send(1, ids[0], 2, load, 8000, &back[i]);
	kill(victim, SIGCONT);
	for (int i = 0; i < 4; i++)
		assert_int_equal(await(&back[i]), DOCA_SUCCESS);
	kill(victim, SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[1]), DOCA_CTX_STATE_IDLE));
	kill(survivor, SIGCONT);
	assert_sends_end();
}

static void a_worker_that_dies_while_it_receives_much(void **state)
{
	pid_t victim = urom_rig_process_of(&rig, workers[1]);

	(void)state;
	for (int i = 0; i < LOAD_MANY; i++)
		begin_receive(1, 2, UINT64_MAX, LOAD_LONG, &in[i]);
	begin_load(LOAD_LONG);
	assert_int_equal(await(&in[LOAD_MANY / 4]), DOCA_SUCCESS);
	kill(victim, SIGKILL);
	assert_sends_end();
}

static void a_worker_that_dies_while_it_sends_much(void **state)
{
	pid_t victim = urom_rig_process_of(&rig, workers[0]);

	(void)state;
	for (int i = 0; i < LOAD_MANY; i++)
		begin_receive(1, 2, UINT64_MAX, LOAD_LONG, &in[i]);
	begin_load(LOAD_LONG);
	assert_int_equal(await(&in[LOAD_MANY / 4]), DOCA_SUCCESS);
	kill(victim, SIGKILL);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[0]), DOCA_CTX_STATE_IDLE));
	write_to_itself(1);
	assert_true(urom_rig_stop_worker(&rig, workers[1]));
	workers[1] = NULL;
	for (int i = 0; i < LOAD_MANY; i++)
		assert_true(in[i].done && (in[i].result == DOCA_SUCCESS || in[i].result == DOCA_ERROR_CONNECTION_ABORTED ||
					   in[i].result == DOCA_ERROR_BAD_STATE));
}

/* It never answers the other's first message. */
static void a_worker_that_dies_before_it_answers(void **state)
{
	pid_t victim = urom_rig_process_of(&rig, workers[1]);

	(void)state;
	process_stop(victim);
	begin_send(0, ids[1], 2, load, LOAD_LONG, &out[0]);
	write_to_itself(0); /* completes after the send was begun */
	kill(victim, SIGKILL);
	assert_int_equal(await(&out[0]), DOCA_ERROR_CONNECTION_ABORTED);
	write_to_itself(0);
}

static void a_stop_while_receives_wait(void **state)
{
	struct end end;

	(void)state;
	begin_receive(0, 1, UINT64_MAX, 10, &end);
	assert_int_equal(doca_ctx_stop(doca_urom_worker_as_ctx(workers[0])), DOCA_ERROR_IN_PROGRESS);
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(workers[0]), DOCA_CTX_STATE_IDLE));
	assert_int_equal(await(&end), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_worker_destroy(workers[0]), DOCA_SUCCESS);
	workers[0] = NULL;
}

/* Otherwise its receives would consume the messages of the remaining clients. */
static void a_client_that_leaves_takes_its_receives_along(void **state)
{
	struct end waiting[MANY], end, mine;
	struct doca_urom_worker *first = workers[0], *other;
	uint64_t id, num_sent = 0, until;

	(void)state;
	assert_int_equal(doca_urom_worker_get_id(first, &id), DOCA_SUCCESS);
	other = urom_rig_worker(&rig, id, SANDBOX);
	assert_true(urom_rig_start_worker(&rig, other));
	workers[0] = other;
	for (int i = 0; i < MANY; i++)
		begin_receive(0, 5, UINT64_MAX, 10, &waiting[i]);
	begin_receive(0, 6, UINT64_MAX, 10, &end);
	assert_int_equal(send(1, ids[0], 6, "there", 5), DOCA_SUCCESS);
	assert_int_equal(await(&end), DOCA_SUCCESS); /* completes after the other receives, so they are posted */
	workers[0] = first;
	assert_true(urom_rig_stop_worker(&rig, other));
	begin_receive(0, 5, UINT64_MAX, 10, &mine);
	while (!mine.done && num_sent++ < MANY) { /* the worker may learn of the end a little later */
		assert_int_equal(send(1, ids[0], 5, "mine", 4), DOCA_SUCCESS);
		for (until = sf_now_ns() + UINT64_C(100000000); !mine.done && sf_now_ns() < until;)
			urom_rig_progress(rig.pe);
	}
	assert_true(mine.done);
	assert_int_equal(mine.result, DOCA_SUCCESS);
	assert_memory_equal(mine.data, "mine", 4);
}

static void raw_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct end *end = (struct end *)task_user_data.ptr;

	(void)ctx_user_data;
	end->result = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	end->done = 1;
	(void)doca_urom_worker_cmd_task_release(task);
}

static void what_is_no_command(void **state)
{
	static const uint64_t words[][5] = {
		{0}, {3, 4, 1, 0, 0}, {1, 4, 1, 0, 1}, {1, 4, 1, 0, UINT64_MAX}, {2, 0, 1, 0, UINT64_MAX}};
	static const size_t lens[] = {40, 40, 40, 40, 40, 39, 8, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct doca_urom_worker_cmd_task *task;
		struct end end = {0};
		void *place;

		assert_int_equal(doca_urom_worker_cmd_task_allocate_init(workers[0], urom_rig_plugin(&rig, SANDBOX), &task),
				 DOCA_SUCCESS);
		struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
		assert_int_equal(doca_buf_get_data(payload, &place), DOCA_SUCCESS);
		memcpy(place, words[i < 5 ? i : 4], 40);
		assert_int_equal(doca_buf_set_data(payload, place, lens[i]), DOCA_SUCCESS);
		doca_urom_worker_cmd_task_set_cb(task, raw_done);
		doca_task_set_user_data(doca_urom_worker_cmd_task_as_task(task), (union doca_data){.ptr = &end});
		assert_int_equal(doca_task_submit(doca_urom_worker_cmd_task_as_task(task)), DOCA_SUCCESS);
		assert_int_equal(await(&end), DOCA_ERROR_INVALID_VALUE);
	}
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)
#define WITH_TCP(test) cmocka_unit_test_setup_teardown(test, open_tcp_rig, close_rig)

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		WITH_RIG(there_and_back),
		WITH_RIG(a_worker_writes_to_itself),
		WITH_RIG(only_bits_of_the_mask_matter),
		WITH_RIG(an_empty_message),
		WITH_RIG(the_largest_message),
		WITH_RIG(more_than_was_asked_for),
		WITH_RIG(an_id_of_no_worker),
		WITH_RIG(many_in_their_order),
		WITH_RIG(a_worker_that_is_gone),
		cmocka_unit_test_setup_teardown(a_worker_that_dies_in_the_middle_of_a_send, open_eager_rig, close_rig),
		WITH_TCP(a_worker_that_dies_while_it_receives_much),
		WITH_TCP(a_worker_that_dies_while_it_sends_much),
		cmocka_unit_test_setup_teardown(a_worker_that_dies_before_it_answers, open_long_rig, close_rig),
		WITH_RIG(a_stop_while_receives_wait),
		WITH_RIG(a_client_that_leaves_takes_its_receives_along),
		WITH_RIG(what_is_no_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
