/* SPDX-License-Identifier: BSD-3-Clause */
/* The service: look-up, permissions, its plugins, its end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/urom_rig.h"

static struct urom_rig rig;

static int open_rig(void **state)
{
	(void)state;
	return urom_rig_open(&rig, NULL) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

static struct doca_ctx *ctx_of(struct doca_urom_service *service)
{
	return doca_urom_service_as_ctx(service);
}

/* ---- what it reports ---- */

static void plugins_are_listed(void **state)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;

	(void)state;
	assert_int_equal(doca_urom_service_get_plugins_list(rig.service, &plugins, &num), DOCA_SUCCESS);
	assert_true(num >= 2);
	uint64_t ids = 0;
	for (size_t i = 0; i < num; i++) {
		assert_int_equal(__builtin_popcountll(plugins[i].id), 1);
		assert_int_equal(ids & plugins[i].id, 0);
		ids |= plugins[i].id;
		assert_int_equal(plugins[i].version & UINT32_MAX, 1);
	}
	assert_string_equal(plugins[0].plugin_name, "worker_graph"); /* that of the first folder */
}

static void processors_are_those_of_the_daemon_and_those_of_a_card(void **state)
{
	doca_cpu_set_t set;
	cpu_set_t usable;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(usable), &usable), 0);
	assert_int_equal(doca_urom_service_get_cpuset(rig.service, &set), DOCA_SUCCESS);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(doca_cpu_is_set(i, &set) != 0, i < 8 || CPU_ISSET(i, &usable) != 0);
}

static void before_start_nothing_is_known(void **state)
{
	const struct doca_urom_service_plugin_info *plugins;
	struct doca_urom_service *service = urom_rig_service(&rig);
	doca_cpu_set_t set;
	size_t num;

	(void)state;
	assert_non_null(service);
	assert_int_equal(doca_urom_service_get_plugins_list(service, &plugins, &num), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_service_get_cpuset(service, &set), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
}

static void setters_refuse_once_it_runs(void **state)
{
	(void)state;
	assert_int_equal(doca_urom_service_set_max_workers(rig.service, 4), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(rig.service, 4096), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_service_set_dev(rig.service, rig.dev), DOCA_ERROR_BAD_STATE);
}

static void setters_check_their_values(void **state)
{
	struct doca_urom_service *service = urom_rig_service(&rig);

	(void)state;
	assert_int_equal(doca_urom_service_set_max_workers(service, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_max_workers(service, 3), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(service, 255), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_set_dev(service, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
}

/* ---- look-up ---- */

static doca_error_t start_with_file(const char *text)
{
	char path[128], *own = strdup(getenv("DOCA_UROM_SERVICE_FILE"));
	struct doca_urom_service *service = urom_rig_service(&rig);

	snprintf(path, sizeof(path), "%s/other", rig.folder);
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	setenv("DOCA_UROM_SERVICE_FILE", path, 1);
	doca_error_t result = doca_ctx_start(ctx_of(service));
	if (result == DOCA_SUCCESS)
		(void)doca_ctx_stop(ctx_of(service));
	(void)doca_urom_service_destroy(service);
	setenv("DOCA_UROM_SERVICE_FILE", own, 1);
	free(own);
	return result;
}

static void a_service_is_looked_up_by_host_and_device(void **state)
{
	char text[256];

	(void)state;
	assert_int_equal(start_with_file("other.example dpu 127.0.0.1 d8:00.0 lo\n"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(start_with_file("localhost dpu 127.0.0.1 d8:00.1 lo\n"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(start_with_file(""), DOCA_ERROR_NOT_FOUND);
	snprintf(text, sizeof(text),
		 "bad line\nother dpu 10.1.1.1 d8:00.0 lo\nlocalhost dpu 127.0.0.1:%u 0000:d8:00.0 lo # here\n", rig.port);
	assert_int_equal(start_with_file(text), DOCA_SUCCESS);
}

static void without_the_variable_there_is_no_service(void **state)
{
	char *own = strdup(getenv("DOCA_UROM_SERVICE_FILE"));
	struct doca_urom_service *service;

	(void)state;
	assert_int_equal(doca_urom_service_create(&service), DOCA_SUCCESS);
	unsetenv("DOCA_UROM_SERVICE_FILE");
	assert_int_equal(doca_urom_service_set_dev(service, rig.dev), DOCA_ERROR_NOT_SUPPORTED);
	setenv("DOCA_UROM_SERVICE_FILE", own, 1);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
	free(own);
}

static void nobody_at_the_address(void **state)
{
	(void)state;
	assert_int_equal(start_with_file("localhost dpu 127.0.0.1:1 d8:00.0 lo\n"), DOCA_ERROR_CONNECTION_ABORTED);
}

/* ---- permissions ---- */

static doca_error_t start_with_secret(const char *secret, unsigned mode)
{
	char path[128];
	struct doca_urom_service *service = urom_rig_service(&rig);

	snprintf(path, sizeof(path), "%s/secret", rig.folder);
	FILE *file = fopen(path, "w");
	fputs(secret, file);
	fclose(file);
	chmod(path, mode);
	setenv("UROM_SECRET_FILE", path, 1);
	doca_error_t result = doca_ctx_start(ctx_of(service));
	(void)doca_urom_service_destroy(service);
	unsetenv("UROM_SECRET_FILE");
	unlink(path);
	return result;
}

static void another_secret_is_refused(void **state)
{
	(void)state;
	assert_int_equal(start_with_secret("0123456789abcdef0123456789abcdef\n", 0600), DOCA_ERROR_NOT_PERMITTED);
}

static void a_secret_that_others_may_read_is_none(void **state)
{
	(void)state;
	assert_int_equal(start_with_secret("0123456789abcdef0123456789abcdef\n", 0644), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(start_with_secret("short\n", 0600), DOCA_ERROR_NOT_PERMITTED);
}

static void larger_messages_than_the_service_takes(void **state)
{
	struct doca_urom_service *service = urom_rig_service(&rig);

	(void)state;
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(service, 4097), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx_of(service)), DOCA_ERROR_TOO_BIG);
	assert_int_equal(doca_urom_service_set_max_comm_msg_size(service, 4096), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx_of(service)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(ctx_of(service)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
}

/* ---- its end ---- */

static void a_second_daemon_reports_the_first(void **state)
{
	const char *const args[] = {getenv("UROM_DAEMON"), "--port", "0", NULL};
	struct program second;
	char pid[64];

	(void)state;
	snprintf(pid, sizeof(pid), "process %d", rig.daemon.pid);
	assert_true(program_start(&second, args));
	assert_int_equal(program_wait(&second), 1);
	assert_non_null(strstr(second.output, pid));
}

static void a_killed_daemon_is_noticed_and_found_again(void **state)
{
	(void)state;
	kill(rig.daemon.pid, SIGKILL);
	assert_true(urom_rig_await(&rig, ctx_of(rig.service), DOCA_CTX_STATE_IDLE));
	assert_int_equal(program_wait(&rig.daemon), 128 + SIGKILL);
	assert_int_equal(doca_ctx_start(ctx_of(rig.service)), DOCA_ERROR_CONNECTION_ABORTED);
	assert_true(urom_rig_start_daemon(&rig, NULL));
	assert_int_equal(doca_ctx_start(ctx_of(rig.service)), DOCA_SUCCESS);
}

static void a_terminated_daemon_ends_its_workers(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, "worker_graph");
	char lock[96];

	(void)state;
	snprintf(lock, sizeof(lock), "%s/urom-daemon", rig.folder);
	assert_int_equal(access(lock, F_OK), 0);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(urom_rig_end_daemon(&rig), 0);
	assert_non_null(strstr(rig.daemon.output, "has ended"));
	assert_int_equal(access(lock, F_OK), -1); /* the daemon left no file */
	assert_true(urom_rig_await(&rig, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE));
	assert_true(urom_rig_await(&rig, ctx_of(rig.service), DOCA_CTX_STATE_IDLE));
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	rig.daemon.pid = 0;
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(plugins_are_listed),
		WITH_RIG(processors_are_those_of_the_daemon_and_those_of_a_card),
		WITH_RIG(before_start_nothing_is_known),
		WITH_RIG(setters_refuse_once_it_runs),
		WITH_RIG(setters_check_their_values),
		WITH_RIG(a_service_is_looked_up_by_host_and_device),
		WITH_RIG(without_the_variable_there_is_no_service),
		WITH_RIG(nobody_at_the_address),
		WITH_RIG(another_secret_is_refused),
		WITH_RIG(a_secret_that_others_may_read_is_none),
		WITH_RIG(larger_messages_than_the_service_takes),
		WITH_RIG(a_second_daemon_reports_the_first),
		WITH_RIG(a_killed_daemon_is_noticed_and_found_again),
		WITH_RIG(a_terminated_daemon_ends_its_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
