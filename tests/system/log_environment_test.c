/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOFTFIELD_LOG shows the libraries' lines in a program that does not enable them itself. The variable is read when a program is
 * loaded, so each test starts this program again, with a role.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_pe.h>

#include "base/log.h"
#include "support/child.h"
#include "support/program.h"

static const char *self;

/* ---- roles ---- */

/* A line of each level, as the libraries log it. */
static void log_each_level(void)
{
	SF_LOG_CRIT("a crit line");
	SF_LOG_ERR("an err line");
	SF_LOG_WARN("a wrn line");
	SF_LOG_INFO("an inf line");
	SF_LOG_DBG("a dbg line");
}

static void role_mistake(void)
{
	doca_pe_create(NULL);
}

static void own_backend_of_fd(int fd)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd_sdk(fd, &backend));
}

static void role_stream(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file_sdk(stderr, &backend));
	log_each_level();
}

static void role_fd(void)
{
	own_backend_of_fd(STDERR_FILENO);
	log_each_level();
}

static void role_duplicate(void)
{
	own_backend_of_fd(dup(STDERR_FILENO));
	log_each_level();
}

/* Standard output and standard error are the same file, as on a terminal. */
static void role_stdout(void)
{
	own_backend_of_fd(STDOUT_FILENO);
	log_each_level();
}

static void role_elsewhere(void)
{
	own_backend_of_fd(open("/dev/null", O_WRONLY | O_CLOEXEC));
	log_each_level();
}

static void role_silent_program(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file_sdk(stderr, &backend));
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE));
	log_each_level();
}

/* Starts itself without standard error. A file then gets that descriptor number, and must stay empty. */
static void role_closed(void)
{
	close(STDERR_FILENO);
	execl(self, self, "closed 2", (char *)NULL);
}

static void role_closed_2(void)
{
	char path[] = "/tmp/softfield-log-XXXXXX";
	struct stat stat;

	if (mkstemp(path) != STDERR_FILENO)
		_exit(2);
	unlink(path);
	log_each_level();
	if (fstat(STDERR_FILENO, &stat) != 0 || stat.st_size != 0)
		_exit(3);
}

/* Prints whether the kernel started it as a privileged program. */
static void role_setuid(void)
{
	if (getauxval(AT_SECURE))
		dprintf(STDOUT_FILENO, "privileged\n");
	log_each_level();
}

static const struct {
	const char *name;
	void (*body)(void);
} roles[] = {
	{"levels", log_each_level},    {"mistake", role_mistake},
	{"stream", role_stream},       {"fd", role_fd},
	{"duplicate", role_duplicate}, {"stdout", role_stdout},
	{"elsewhere", role_elsewhere}, {"silent program", role_silent_program},
	{"setuid", role_setuid},       {"closed", role_closed},
	{"closed 2", role_closed_2},
};

/* ---- tests ---- */

static struct program program;

/* Runs a role to its end with this value of the variable; NULL: unset. Returns its output. */
static const char *output_of(const char *role, const char *value)
{
	const char *argv[] = {self, role, NULL};

	if (value)
		setenv("SOFTFIELD_LOG", value, 1);
	else
		unsetenv("SOFTFIELD_LOG");
	assert_true(program_start(&program, argv));
	assert_int_equal(program_wait(&program), 0);
	return program.output;
}

/* How often a line of each of the five levels appears, most severe first: "11000" is one CRIT and one ERR line. */
static const char *counts(const char *output)
{
	static const char *const texts[] = {"a crit line\n", "an err line\n", "a wrn line\n", "an inf line\n", "a dbg line\n"};
	static char count[6];

	for (int i = 0; i < 5; i++) {
		count[i] = '0';
		for (const char *at = output; (at = strstr(at, texts[i])) != NULL; at++)
			count[i]++;
	}
	return count;
}

static void each_value_shows_its_levels(void **state)
{
	assert_string_equal(counts(output_of("levels", "error")), "11000");
	assert_string_equal(counts(output_of("levels", "warning")), "11100");
	assert_string_equal(counts(output_of("levels", "info")), "11110");
	assert_string_equal(counts(output_of("levels", "debug")), "11111");
}

static void unset_or_empty_shows_nothing(void **state)
{
	assert_string_equal(output_of("levels", NULL), "");
	assert_string_equal(output_of("levels", ""), "");
}

static void a_line_names_its_source(void **state)
{
	const char *line = output_of("mistake", "error");

	assert_non_null(strstr(line, "[DOCA][ERR][pe.c:"));
	assert_non_null(strstr(line, "[doca_pe_create] "));
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void wrong_value_is_one_line(void **state)
{
	const char *line = output_of("stdout", "verbose");

	assert_non_null(strstr(line, "[ERR]"));
	assert_non_null(strstr(line, "SOFTFIELD_LOG is \"verbose\": set it to error, warning, info or debug"));
	assert_null(strstr(strstr(line, "SOFTFIELD_LOG") + 1, "SOFTFIELD_LOG"));
	assert_string_equal(counts(line), "11110");
	assert_string_equal(counts(output_of("levels", "verbose")), "11000");
}

static void no_line_is_printed_twice(void **state)
{
	static const char *const own[] = {"stream", "fd", "duplicate", "stdout"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		assert_string_equal(counts(output_of(own[i], NULL)), "11110");
		assert_string_equal(counts(output_of(own[i], "error")), "11110");
		assert_string_equal(counts(output_of(own[i], "info")), "11110");
		assert_string_equal(counts(output_of(own[i], "debug")), "11111");
	}
}

static void own_file_elsewhere_takes_no_line_away(void **state)
{
	assert_string_equal(counts(output_of("elsewhere", "info")), "11110");
}

static void no_call_of_the_program_changes_the_level(void **state)
{
	assert_string_equal(counts(output_of("silent program", NULL)), "00000");
	assert_string_equal(counts(output_of("silent program", "warning")), "11100");
}

static void closed_standard_error_is_left_alone(void **state)
{
	output_of("closed", "debug");
	output_of("closed", "debug,file=/dev/null");
}

/* Makes a copy of this program with the set-user-ID bit, owned by another user. */
static bool make_setuid(char *path)
{
	char bytes[4096];
	int from = open(self, O_RDONLY | O_CLOEXEC), to = mkstemp(path);
	ssize_t len;

	while ((len = read(from, bytes, sizeof(bytes))) > 0)
		CHECK(write(to, bytes, (size_t)len) == len);
	bool made = fchown(to, 65534, 65534) == 0 && fchmod(to, 04755) == 0;

	close(from);
	close(to);
	return made;
}

static void privileged_program_ignores_it(void **state)
{
	char path[] = "/tmp/softfield-log-XXXXXX";
	const char *argv[] = {path, "setuid", NULL};
	bool ran = geteuid() == 0 && make_setuid(path);

	setenv("SOFTFIELD_LOG", "debug", 1);
	ran = ran && program_start(&program, argv) && program_wait(&program) == 0 && strstr(program.output, "privileged");
	unlink(path);
	if (!ran)
		skip(); /* not root, set-user-ID is ignored here, or another user cannot read the libraries */
	assert_string_equal(program.output, "privileged\n");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_shows_its_levels),
		cmocka_unit_test(unset_or_empty_shows_nothing),
		cmocka_unit_test(a_line_names_its_source),
		cmocka_unit_test(wrong_value_is_one_line),
		cmocka_unit_test(no_line_is_printed_twice),
		cmocka_unit_test(own_file_elsewhere_takes_no_line_away),
		cmocka_unit_test(no_call_of_the_program_changes_the_level),
		cmocka_unit_test(closed_standard_error_is_left_alone),
		cmocka_unit_test(privileged_program_ignores_it),
	};

	self = argv[0];
	for (size_t i = 0; argc == 2 && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(argv[1], roles[i].name) == 0) {
			roles[i].body();
			return 0;
		}
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
