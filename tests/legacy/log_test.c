/* SPDX-License-Identifier: BSD-3-Clause */
/* What the log of a program of the 2.2 API shows of its mistakes. */
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"

#include <doca_log.h>

/* Reads what the call of a work queue without room wrote to stderr. */
static void stderr_of_a_mistake(char *text, size_t size)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	struct doca_workq *workq;
	doca_error_t result;
	size_t len;

	assert_non_null(file);
	assert_true(kept >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	result = doca_workq_create(0, &workq);
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	assert_int_equal(result, DOCA_ERROR_INVALID_VALUE);
	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
}

static void standard_backend_shows_a_mistake_once(void **state)
{
	char text[4096], *line;

	(void)state;
	stderr_of_a_mistake(text, sizeof(text));
	assert_string_equal(text, ""); /* no backend was created */
	assert_ok(doca_log_create_standard_backend());
	assert_ok(doca_log_create_standard_backend());
	stderr_of_a_mistake(text, sizeof(text));
	line = strchr(text, '\n');
	assert_non_null(line);
	assert_string_equal(line, "\n"); /* one line */
	assert_non_null(strstr(text, "a work queue of depth 0; it has 1 to"));
	assert_non_null(strstr(text, "workq_create] ")); /* the function that logs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_backend_shows_a_mistake_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
