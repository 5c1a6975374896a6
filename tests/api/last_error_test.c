/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a thread's last error, and how an error line is split. There is no log backend here. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_mmap.h>
#include <doca_pe.h>
#include <softfield/last_error.h>

#include "base/explain.h"
#include "base/log.h"
#include "base/log_rate.h"

static struct softfield_error error;

static void without_an_error_there_is_no_record(void **state)
{
	softfield_last_error_clear();
	assert_int_equal(softfield_last_error(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_last_error(&error), DOCA_ERROR_NOT_FOUND);
}

static void a_failed_call_leaves_a_record(void **state)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_string_equal(error.file, "mmap.c");
	assert_string_equal(error.object, "mmap");
	assert_true(error.line > 0 && error.function[0] != '\0');
	assert_true(error.cause[0] != '\0' && error.fix[0] != '\0' && error.rule[0] != '\0');
	assert_non_null(strstr(error.message, error.cause));
	assert_int_equal(doca_mmap_destroy(mmap), DOCA_SUCCESS);
}

static void the_public_function_is_named(void **state)
{
	assert_int_equal(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_string_equal(error.call, "doca_pe_create");
	assert_string_equal(error.object, "pe");
	assert_string_equal(error.rule, "required arguments are not NULL");
	assert_string_equal(error.fix, "pass the argument");
}

static void a_call_that_succeeds_leaves_it(void **state)
{
	struct doca_pe *pe;
	uint64_t number;

	assert_int_equal(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	number = error.number;
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_int_equal(error.number, number);
	softfield_last_error_clear();
	assert_int_equal(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_int_equal(error.number, number + 1);
}

static void *fail_in_thread(void *result)
{
	struct softfield_error own;

	*(doca_error_t *)result = softfield_last_error(&own);
	(void)doca_pe_create(NULL);
	return softfield_last_error(&own) == DOCA_SUCCESS && own.number == 1 ? result : NULL;
}

static void each_thread_has_its_own(void **state)
{
	doca_error_t before;
	pthread_t thread;
	void *good;

	SF_LOG_ERR("this thread's");
	assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &before), 0);
	assert_int_equal(pthread_join(thread, &good), 0);
	assert_int_equal(before, DOCA_ERROR_NOT_FOUND);
	assert_non_null(good);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_string_equal(error.message, "this thread's");
}

static void only_error_lines_are_recorded(void **state)
{
	softfield_last_error_clear();
	SF_LOG_WARN("a warning");
	SF_LOG_INFO("an info");
	assert_int_equal(softfield_last_error(&error), DOCA_ERROR_NOT_FOUND);
	SF_LOG_ERR_LIMITED("of a peer");
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_string_equal(error.message, "of a peer");
}

static void errno_is_kept_and_shown(void **state)
{
	errno = ENOENT;
	SF_LOG_ERR("cannot open it: %m");
	assert_int_equal(errno, ENOENT);
	assert_int_equal(softfield_last_error(&error), DOCA_SUCCESS);
	assert_string_equal(error.message, "cannot open it: No such file or directory");
}

static void long_texts_are_truncated(void **state)
{
	char text[2048];

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "doca_", 5);
	text[sizeof(text) - 1] = '\0';
	sf_explain(text, 1, text, text, &error);
	assert_int_equal(strlen(error.call), sizeof(error.call) - 1);
	assert_int_equal(strlen(error.cause), sizeof(error.cause) - 1);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

static void a_line_is_split(void **state)
{
	static const struct {
		const char *file, *func, *message;
		const char *object, *call, *argument, *cause, *fix;
	} lines[] = {
		{"../src/comch/consumer.c", "consumer_check",
		 "consumer 3: the buffer's mmap is stopped; start it, and make the buffer after that", "consumer 3", "", "",
		 "the buffer's mmap is stopped", "start it, and make the buffer after that"},
		{"../src/mem/mmap.c", "doca_mmap_export_pci",
		 "memory map is not started, so no device knows its memory: call doca_mmap_start first", "mmap",
		 "doca_mmap_export_pci", "", "memory map is not started, so no device knows its memory",
		 "call doca_mmap_start first"},
		{"server.c", "server_check", "repr is NULL: a server needs the representor it serves", "server", "", "repr",
		 "repr is NULL: a server needs the representor it serves", "pass the argument"},
		{"graph.c", "node_add", "doca_graph_start: the DMA context of node 2 is not started", "graph", "doca_graph_start",
		 "", "the DMA context of node 2 is not started",
		 "wait until the object is in the state that the call needs (doca_ctx_get_state, the state callback)"},
		{"pe.c", "doca_pe_x", "no progress engine given", "pe", "doca_pe_x", "progress engine",
		 "no progress engine given", "pass the argument"},
		{"", "", "", "", "", "", "", ""},
		{"", "", ": ", "", "", "", ": ", ""},
		{"", "", "; ", "", "", "", "", ""},
		{"", "", "a: b; ", "a", "", "", "b", ""},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		sf_explain(lines[i].file, 7, lines[i].func, lines[i].message, &error);
		assert_string_equal(error.object, lines[i].object);
		assert_string_equal(error.call, lines[i].call);
		assert_string_equal(error.argument, lines[i].argument);
		assert_string_equal(error.cause, lines[i].cause);
		assert_string_equal(error.fix, lines[i].fix);
		assert_string_equal(error.message, lines[i].message);
		assert_int_equal(error.line, 7);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_error_there_is_no_record),
		cmocka_unit_test(a_failed_call_leaves_a_record),
		cmocka_unit_test(the_public_function_is_named),
		cmocka_unit_test(a_call_that_succeeds_leaves_it),
		cmocka_unit_test(each_thread_has_its_own),
		cmocka_unit_test(only_error_lines_are_recorded),
		cmocka_unit_test(errno_is_kept_and_shown),
		cmocka_unit_test(long_texts_are_truncated),
		cmocka_unit_test(a_line_is_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
