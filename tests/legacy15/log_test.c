/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a program of the 1.5 API, which creates no backend. */
#include <stdio.h>
#include <unistd.h>

#include "legacy/fixture.h"

#include <doca_log.h>

DOCA_LOG_REGISTER(LEGACY15::LOG);

/* Logs one line of the program and one of the library about a mistake. */
static void say(const char *word)
{
	struct doca_workq *workq;

	DOCA_LOG_INFO("the program says %s", word);
	DOCA_LOG_DBG("details of %s", word);
	assert_int_equal(doca_workq_create(0, &workq), DOCA_ERROR_INVALID_VALUE);
}

static void read_all(FILE *file, char *text, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
}

static size_t lines_of(const char *text)
{
	size_t num = 0;

	for (; *text != '\0'; text++)
		num += *text == '\n';
	return num;
}

static void records_go_to_stderr_at_first(void **state)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	char text[4096];

	(void)state;
	assert_true(file != NULL && kept >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	say("one");
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	read_all(file, text, sizeof(text));
	fclose(file);
	assert_non_null(strstr(text, "the program says one"));
	assert_non_null(strstr(text, "LEGACY15::LOG"));
	assert_non_null(strstr(text, "a work queue of depth 0"));
	assert_null(strstr(text, "details of one"));
	assert_int_equal(lines_of(text), 2);
}

static void records_go_where_they_are_redirected(void **state)
{
	FILE *file = tmpfile();
	char text[4096];

	(void)state;
	assert_non_null(file);
	assert_int_equal(doca_log_stream_redirect(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_log_stream_redirect(file));
	assert_ok(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG));
	say("two");
	assert_ok(doca_log_stream_redirect(stderr));
	read_all(file, text, sizeof(text));
	fclose(file);
	assert_non_null(strstr(text, "the program says two"));
	assert_non_null(strstr(text, "details of two"));
	assert_non_null(strstr(text, "a work queue of depth 0"));
	assert_int_equal(lines_of(text), 3);
	assert_ok(doca_log_global_level_set(DOCA_LOG_LEVEL_INFO));
}

static void a_program_adds_backends(void **state)
{
	struct doca_logger_backend *backend;
	FILE *file = tmpfile(), *other = tmpfile();
	char text[4096];

	(void)state;
	assert_true(file != NULL && other != NULL);
	assert_ok(doca_log_stream_redirect(file));
	assert_ok(doca_log_create_file_backend(other, &backend));
	assert_ok(doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_ERROR));
	DOCA_LOG_ERR("to both");
	DOCA_LOG_INFO("to one");
	assert_ok(doca_log_stream_redirect(stderr));
	read_all(file, text, sizeof(text));
	assert_int_equal(lines_of(text), 2);
	read_all(other, text, sizeof(text));
	assert_int_equal(lines_of(text), 1);
	assert_non_null(strstr(text, "to both"));
	fclose(file); /* the backend keeps using the other file */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_go_to_stderr_at_first),
		cmocka_unit_test(records_go_where_they_are_redirected),
		cmocka_unit_test(a_program_adds_backends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
