/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of messages, tasks, workers and plugins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>

#include "base/clock.h"
#include "support/urom_rig.h"
#include "urom_graph.h"

#define ANY DOCA_UROM_WORKER_ID_ANY
#define GRAPH "worker_graph"
#define SIZED "worker_sized"
#define PLUGINS_MAX 62
#define MESSAGE_DEFAULT 4096
#define MESSAGE_MIN 256
#define MESSAGE_MAX (64u << 20)

static struct urom_rig rig;

/* Starts a daemon and a service with that message size; 0: with their defaults. */
static void open_rig(size_t message_max)
{
	char text[32];
	const char *more[] = {"--max-msg-size", text, NULL};

	snprintf(text, sizeof(text), "%zu", message_max);
	memset(&rig, 0, sizeof(rig));
	assert_true(urom_rig_start_daemon(&rig, message_max != 0 ? more : NULL));
	rig.service = urom_rig_service(&rig);
	assert_non_null(rig.service);
	if (message_max != 0)
		assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, message_max), DOCA_SUCCESS);
}

static void start_service(void)
{
	assert_int_equal(doca_ctx_start(doca_urom_service_as_ctx(rig.service)), DOCA_SUCCESS);
}

/* ---- messages ---- */

static void done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)ctx_user_data;
	*(int *)task_user_data.ptr = 1;
}

/* Submits a command of len bytes that asks for an answer of answer_len bytes. Returns the status of the submit or, if that
 * succeeds, of the task. */
static doca_error_t ask(struct doca_urom_worker *worker, size_t len, uint64_t answer_len)
{
	struct doca_urom_worker_cmd_task *task;
	int ended = 0;
	void *data;
	size_t got = 0;

	assert_int_equal(doca_urom_worker_cmd_task_allocate_init(worker, urom_rig_plugin(&rig, SIZED), &task), DOCA_SUCCESS);
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	assert_int_equal(doca_buf_get_data(payload, &data), DOCA_SUCCESS);
	memcpy(data, &answer_len, sizeof(answer_len));
	assert_int_equal(doca_buf_set_data(payload, data, len), DOCA_SUCCESS);
	doca_urom_worker_cmd_task_set_cb(task, done);
	struct doca_task *base = doca_urom_worker_cmd_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = &ended});
	doca_error_t result = doca_task_submit(base);
	if (result == DOCA_SUCCESS) {
		assert_true(urom_rig_await_flag(&rig, &ended));
		result = doca_task_get_status(base);
	}
	if (result == DOCA_SUCCESS) {
		struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);

		assert_int_equal(doca_buf_get_data(response, &data), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_data_len(response, &got), DOCA_SUCCESS);
		assert_int_equal(got, answer_len);
		for (size_t i = 0; i < got; i += i + 1 < got ? got - 1 : 1)
			assert_int_equal(((const uint8_t *)data)[i], i % 251);
	}
	assert_int_equal(doca_urom_worker_cmd_task_release(task), DOCA_SUCCESS);
	return result;
}

static void messages_of_a_size(size_t configured, size_t size)
{
	const size_t command_max = size - sizeof(struct urom_worker_cmd), answer_max = size - sizeof(struct urom_worker_notify);

	open_rig(configured);
	start_service();
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, SIZED);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 1), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(ask(worker, command_max, 0), DOCA_SUCCESS);
	assert_int_equal(ask(worker, command_max + 1, 0), DOCA_ERROR_TOO_BIG); /* the submit fails */
	assert_int_equal(ask(worker, 8, answer_max), DOCA_SUCCESS);
	assert_int_equal(ask(worker, 8, answer_max + 1), DOCA_ERROR_TOO_BIG); /* the task fails */
	assert_int_equal(ask(worker, command_max, answer_max), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	urom_rig_close(&rig);
}

static void messages_of_the_default_size(void **state)
{
	(void)state;
	messages_of_a_size(0, MESSAGE_DEFAULT);
}

static void messages_of_the_smallest_size(void **state)
{
	(void)state;
	messages_of_a_size(MESSAGE_MIN, MESSAGE_MIN);
}

static void messages_of_the_largest_size(void **state)
{
	(void)state;
	messages_of_a_size(MESSAGE_MAX, MESSAGE_MAX);
}

static void larger_messages_than_the_daemon_has(void **state)
{
	(void)state;
	open_rig(MESSAGE_DEFAULT);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, MESSAGE_MIN - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, (size_t)MESSAGE_MAX + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, MESSAGE_DEFAULT + 1), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_urom_service_as_ctx(rig.service)), DOCA_ERROR_TOO_BIG);
	assert_true(program_await(&rig.daemon, "messages of 4097 bytes"));
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, MESSAGE_DEFAULT), DOCA_SUCCESS);
	start_service();
	urom_rig_close(&rig);
}

/* ---- tasks and workers ---- */

static void tasks_in_flight(void **state)
{
	static const uint32_t bad[] = {0, 3, 6, 16384 + 1, 32768, UINT32_MAX};

	(void)state;
	open_rig(0);
	start_service();
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, GRAPH);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, bad[i]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 16384), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 1), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	struct doca_urom_worker_cmd_task *one, *two;
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 2), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_worker_cmd_task_allocate(worker, &one), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_cmd_task_allocate(worker, &two), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_urom_worker_cmd_task_release(one), DOCA_SUCCESS);
	assert_int_equal(urom_rig_loopback(&rig, worker, 4), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	urom_rig_close(&rig);
}

/* ---- a loop of submits ---- */

#define LOOP_COMMANDS 1400
#define LOOP_SIZE 20480
#define LOOP_SECONDS 60

struct loop {
	struct doca_urom_worker_cmd_task *tasks[LOOP_COMMANDS];
	int answered, refused, all;
};

static void loop_answered(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct loop *loop = (struct loop *)task_user_data.ptr;

	(void)ctx_user_data;
	assert_int_equal(doca_task_get_status(doca_urom_worker_cmd_task_as_task(task)), DOCA_SUCCESS);
	loop->all = ++loop->answered == LOOP_COMMANDS;
}

/* Submits all commands, each until AGAIN clears, without any progress call. */
static void loop_run(struct loop *loop)
{
	const uint64_t end = sf_now_ns() + LOOP_SECONDS * UINT64_C(1000000000);

	for (int i = 0; i < LOOP_COMMANDS; i++) {
		doca_error_t result;

		do {
			result = doca_task_submit(doca_urom_worker_cmd_task_as_task(loop->tasks[i]));
			loop->refused += result == DOCA_ERROR_AGAIN;
		} while (result == DOCA_ERROR_AGAIN && sf_now_ns() < end);
		assert_int_equal(result, DOCA_SUCCESS);
	}
}

static void loop_in_command(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	assert_int_equal(doca_task_get_status(doca_urom_worker_cmd_task_as_task(task)), DOCA_SUCCESS);
	loop_run((struct loop *)task_user_data.ptr);
}

static void loop_in_group(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data task_user_data,
			  union doca_data ctx_user_data)
{
	(void)task;
	(void)ctx_user_data;
	loop_run((struct loop *)task_user_data.ptr);
}

static struct doca_urom_worker_cmd_task *loop_command(struct doca_urom_worker *worker, struct loop *loop,
						      doca_urom_worker_cmd_task_completion_cb_t cb)
{
	const uint64_t answer_len = LOOP_SIZE - sizeof(struct urom_worker_notify);
	struct doca_urom_worker_cmd_task *task;
	void *data;

	assert_int_equal(doca_urom_worker_cmd_task_allocate_init(worker, urom_rig_plugin(&rig, SIZED), &task), DOCA_SUCCESS);
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(task);
	assert_int_equal(doca_buf_get_data(payload, &data), DOCA_SUCCESS);
	memset(data, 0, LOOP_SIZE - sizeof(struct urom_worker_cmd));
	memcpy(data, &answer_len, sizeof(answer_len));
	assert_int_equal(doca_buf_set_data(payload, data, LOOP_SIZE - sizeof(struct urom_worker_cmd)), DOCA_SUCCESS);
	doca_urom_worker_cmd_task_set_cb(task, cb);
	doca_task_set_user_data(doca_urom_worker_cmd_task_as_task(task), (union doca_data){.ptr = loop});
	return task;
}

/* Runs the loop in the completion of one of that worker's commands. */
static void run_in_command(struct loop *loop, struct doca_urom_worker *worker)
{
	struct doca_urom_worker_cmd_task *task = loop_command(worker, loop, loop_in_command);

	assert_int_equal(doca_task_submit(doca_urom_worker_cmd_task_as_task(task)), DOCA_SUCCESS);
	assert_true(urom_rig_await_flag(&rig, &loop->all));
	assert_int_equal(doca_urom_worker_cmd_task_release(task), DOCA_SUCCESS);
}

static void run_in_same(struct loop *loop, struct doca_urom_worker *worker, struct doca_urom_worker *other)
{
	(void)other;
	run_in_command(loop, worker);
}

static void run_in_other(struct loop *loop, struct doca_urom_worker *worker, struct doca_urom_worker *other)
{
	(void)worker;
	run_in_command(loop, other);
}

static void run_in_service(struct loop *loop, struct doca_urom_worker *worker, struct doca_urom_worker *other)
{
	struct doca_urom_service_get_workers_by_gid_task *task;

	(void)worker;
	(void)other;
	assert_int_equal(doca_urom_service_get_workers_by_gid_task_allocate_init(rig.service, 7, loop_in_group, &task),
			 DOCA_SUCCESS);
	struct doca_task *base = doca_urom_service_get_workers_by_gid_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = loop});
	assert_int_equal(doca_task_submit(base), DOCA_SUCCESS);
	assert_true(urom_rig_await_flag(&rig, &loop->all));
	assert_int_equal(doca_urom_service_get_workers_by_gid_task_release(task), DOCA_SUCCESS);
}

static void run_outside(struct loop *loop, struct doca_urom_worker *worker, struct doca_urom_worker *other)
{
	(void)worker;
	(void)other;
	loop_run(loop);
	assert_true(urom_rig_await_flag(&rig, &loop->all));
}

static void a_submit_loop(void (*run)(struct loop *loop, struct doca_urom_worker *worker, struct doca_urom_worker *other))
{
	struct loop loop = {.answered = 0};

	open_rig(LOOP_SIZE);
	start_service();
	struct doca_urom_worker *worker = urom_rig_worker(&rig, ANY, SIZED), *other = urom_rig_worker(&rig, ANY, SIZED);
	assert_int_equal(doca_urom_worker_set_max_inflight_tasks(worker, 2048), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_true(urom_rig_start_worker(&rig, other));
	for (int i = 0; i < LOOP_COMMANDS; i++)
		loop.tasks[i] = loop_command(worker, &loop, loop_answered);
	run(&loop, worker, other);
	assert_true(loop.refused > 0); /* otherwise the loop never had to wait */
	for (int i = 0; i < LOOP_COMMANDS; i++)
		assert_int_equal(doca_urom_worker_cmd_task_release(loop.tasks[i]), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, other));
	assert_true(urom_rig_stop_worker(&rig, worker));
	urom_rig_close(&rig);
}

static void a_submit_loop_inside_a_callback(void **state)
{
	(void)state;
	a_submit_loop(run_in_same);
}

static void a_submit_loop_inside_a_callback_of_another_worker(void **state)
{
	(void)state;
	a_submit_loop(run_in_other);
}

static void a_submit_loop_inside_a_callback_of_the_service(void **state)
{
	(void)state;
	a_submit_loop(run_in_service);
}

static void a_submit_loop_outside_of_callbacks(void **state)
{
	(void)state;
	a_submit_loop(run_outside);
}

static void workers_of_a_service(void **state)
{
	static const uint32_t bad[] = {0, 3, 4097, 8192, UINT32_MAX};
	struct doca_urom_worker *workers[3];

	(void)state;
	open_rig(0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_urom_service_set_max_workers(rig.service, bad[i]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_max_workers(rig.service, 4096), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_set_max_workers(rig.service, 2), DOCA_SUCCESS);
	start_service();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(doca_urom_worker_create(&workers[i]), DOCA_SUCCESS);
		assert_int_equal(doca_urom_worker_set_service(workers[i], rig.service),
				 i < 2 ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
	}
	assert_int_equal(doca_urom_worker_set_service(workers[0], rig.service), DOCA_SUCCESS); /* the same service again */
	assert_int_equal(doca_urom_worker_destroy(workers[0]), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_set_service(workers[2], rig.service), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_destroy(workers[1]), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_destroy(workers[2]), DOCA_SUCCESS);
	urom_rig_close(&rig);
}

/* ---- plugins ---- */

/* Creates a folder with num numbered copies of a plugin. */
static void fill_folder(const char *folder, int num)
{
	char command[512];

	snprintf(command, sizeof(command), "for i in $(seq -w 1 %d); do cp '%s/worker_graph.so' '%s'/worker_$i.so; done", num,
		 getenv("GRAPH_FOLDER"), folder);
	assert_int_equal(system(command), 0);
}

static void as_many_plugins_as_there_are_bits(void **state)
{
	char folder[] = "/tmp/urom-plugins-XXXXXX", command[64], *before = strdup(getenv("UROM_PLUGIN_PATH"));
	const struct doca_urom_service_plugin_info *plugins;
	struct doca_urom_worker *worker;
	size_t num;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fill_folder(folder, PLUGINS_MAX + 2);
	setenv("UROM_PLUGIN_PATH", folder, 1);
	open_rig(0);
	setenv("UROM_PLUGIN_PATH", before, 1);
	free(before);
	assert_true(program_await(&rig.daemon, "worker_63.so: the limit of 62 plugins is reached"));
	assert_true(program_await(&rig.daemon, "worker_64.so: the limit of 62 plugins is reached"));
	start_service();
	assert_int_equal(doca_urom_service_get_plugins_list(rig.service, &plugins, &num), DOCA_SUCCESS);
	assert_int_equal(num, PLUGINS_MAX);
	worker = urom_rig_worker(&rig, ANY, "worker_01");
	assert_int_equal(doca_urom_worker_set_plugins(worker, (UINT64_C(1) << PLUGINS_MAX) - 1), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	for (size_t i = 0; i < num; i++) {
		char name[32];

		snprintf(name, sizeof(name), "worker_%02zu", i + 1); /* sorted by name */
		assert_string_equal(plugins[i].plugin_name, name);
		assert_int_equal(plugins[i].id, UINT64_C(1) << i);
		assert_int_equal(urom_graph_init(plugins[i].id, plugins[i].version), DOCA_SUCCESS);
		assert_int_equal(urom_rig_loopback(&rig, worker, i), DOCA_SUCCESS);
	}
	assert_true(urom_rig_stop_worker(&rig, worker));
	urom_rig_close(&rig);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_the_default_size),
		cmocka_unit_test(messages_of_the_smallest_size),
		cmocka_unit_test(messages_of_the_largest_size),
		cmocka_unit_test(larger_messages_than_the_daemon_has),
		cmocka_unit_test(tasks_in_flight),
		cmocka_unit_test(a_submit_loop_inside_a_callback),
		cmocka_unit_test(a_submit_loop_inside_a_callback_of_another_worker),
		cmocka_unit_test(a_submit_loop_inside_a_callback_of_the_service),
		cmocka_unit_test(a_submit_loop_outside_of_callbacks),
		cmocka_unit_test(workers_of_a_service),
		cmocka_unit_test(as_many_plugins_as_there_are_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
