/* SPDX-License-Identifier: BSD-3-Clause */
/* SOFTFIELD_LOG as a list: levels of modules, a file, JSON lines. Also variables that do not exist. Each test starts this
 * program again, with a role. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/environment.h"
#include "base/log.h"
#include "support/child.h"
#include "support/program.h"

#define HOSTILE "a \"quote\", a \\, a tab\t, a newline\n, an escape\x1b[1m, ü, \xc3 cut off, \xed\xa0\x80 a surrogate, \xff, end"

static const char *self;
static char folder[] = "/tmp/softfield-log-XXXXXX", path[64];

/* ---- roles ---- */

/* A warning and a debug line of some modules. */
static void role_modules(void)
{
	static const char *const files[] = {"../src/core/a.c", "../src/rdma/b.c", "/home/src/x/src/fabric/c.c",
					    "../src/fabric/tcp/d.c", "../tests/e.c"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		sf_log(DOCA_LOG_LEVEL_WARNING, files[i], 1, "f", "warning");
		sf_log(DOCA_LOG_LEVEL_DEBUG, files[i], 1, "f", "debug");
	}
}

static void role_hostile(void)
{
	sf_log(DOCA_LOG_LEVEL_ERROR, "../src/fabric/tcp/tcp.c", 7, "open", "%s", HOSTILE);
	sf_log(DOCA_LOG_LEVEL_ERROR, "../src/fabric/tcp/tcp.c", 8, "open", "%09999d\n", 0);
	sf_log(DOCA_LOG_LEVEL_ERROR, "../src/fabric/tcp/tcp.c", 9, "open", "%s", "");
}

/* Closes descriptors that it does not know, as daemons do, and opens files of its own that get the same numbers. */
static void role_closes_all(void)
{
	struct stat stat;
	int own[16];

	sf_log(DOCA_LOG_LEVEL_ERROR, "../src/core/a.c", 1, "f", "first line");
	for (int fd = 3; fd < 3 + 16; fd++)
		close(fd);
	for (int i = 0; i < 16; i++) {
		own[i] = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		CHECK(own[i] >= 0);
	}
	sf_log(DOCA_LOG_LEVEL_ERROR, "../src/core/a.c", 1, "f", "second line");
	for (int i = 0; i < 16; i++)
		CHECK(fstat(own[i], &stat) == 0 && stat.st_size == 0);
}

static void role_nothing(void) {}

static const struct {
	const char *name;
	void (*body)(void);
} roles[] = {
	{"modules", role_modules},
	{"hostile", role_hostile},
	{"closes all", role_closes_all},
	{"nothing", role_nothing},
};

/* ---- tests ---- */

static struct program program;

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

/* Which lines of role_modules appear, one letter for each file: w, d, both or -, in the order of the files. */
static const char *shown(const char *value)
{
	static const char *const sources[] = {"[a.c:", "[b.c:", "[c.c:", "[d.c:", "[e.c:"};
	static char result[16];
	const char *output = output_of("modules", value);
	bool has[5][2] = {0};

	for (const char *line = output; *line; line = strchr(line, '\n') + 1) {
		for (int i = 0; i < 5; i++) {
			const char *at = strstr(line, sources[i]);

			if (at && at < strchr(line, '\n'))
				has[i][strncmp(strchr(at, ' ') + 1, "debug", 5) == 0] = true;
		}
	}
	result[0] = '\0';
	for (int i = 0; i < 5; i++)
		strcat(result, has[i][1] ? "d" : has[i][0] ? "w" : "-");
	return result;
}

static void modules_have_levels_of_their_own(void **state)
{
	assert_string_equal(shown("debug"), "ddddd");
	assert_string_equal(shown("rdma:debug"), "-d---");
	assert_string_equal(shown("warning,rdma:debug"), "wdwww");
	assert_string_equal(shown("rdma:debug,warning"), "wdwww");
	assert_string_equal(shown("debug,core:error,rdma:warning"), "-wddd");
}

static void the_inner_folder_counts(void **state)
{
	assert_string_equal(shown("fabric:debug"), "--dd-");
	assert_string_equal(shown("tcp:debug"), "---d-");
	assert_string_equal(shown("tcp:warning,fabric:debug"), "--dw-");
	assert_string_equal(shown("fabric:debug,tcp:warning"), "--dw-");
}

static void the_last_of_two_levels_counts(void **state)
{
	assert_string_equal(shown("rdma:error,rdma:debug"), "-d---");
	assert_string_equal(shown("debug,warning"), "wwwww");
}

/* Each mistake is reported in one line, and the rest of the list takes effect. */
static void mistakes_are_named(void **state)
{
	static const struct {
		const char *value, *line;
	} mistakes[] = {
		{"debug,rmda:debug", "SOFTFIELD_LOG has \"rmda:debug\": no module has this name; did you mean rdma"},
		{"debug,xyzzyplugh:debug", "no module has this name; docs/environment.md lists them"},
		{"debug,rdma:loud", "SOFTFIELD_LOG has \"rdma:loud\": a level is error, warning, info or debug"},
		{"debug,verbose", "SOFTFIELD_LOG is \"verbose\": set it to error, warning, info or debug"},
		{"debug,file=", "SOFTFIELD_LOG is \"file=\": set it to"},
		{"debug,:debug", "SOFTFIELD_LOG has \":debug\": no module"},
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const char *line = strstr(output_of("modules", mistakes[i].value), mistakes[i].line);

		assert_non_null(line);
		assert_null(strstr(line + 1, "SOFTFIELD_LOG "));
		assert_non_null(strstr(program.output, "[d.c:1][f] debug\n"));
	}
}

/* Returns the contents of the log file, and removes the file. */
static const char *file_contents(void)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	unlink(path);
	assert_true(len >= 0);
	text[len] = '\0';
	return text;
}

static const char *value_with_file(const char *before)
{
	static char value[128];

	snprintf(value, sizeof(value), "%sfile=%s", before, path);
	return value;
}

static void a_file_is_appended_to(void **state)
{
	struct stat stat_of_file;

	assert_string_equal(output_of("modules", value_with_file("rdma:debug,")), "");
	assert_string_equal(output_of("modules", value_with_file("core:debug,")), "");
	assert_int_equal(stat(path, &stat_of_file), 0);
	assert_int_equal(stat_of_file.st_mode & 0777, 0600);

	const char *text = file_contents();

	assert_non_null(strstr(text, "[b.c:1][f] debug\n"));
	assert_non_null(strstr(strstr(text, "[b.c:1][f] debug\n"), "[a.c:1][f] debug\n"));
}

static void a_file_that_cannot_be_opened_is_one_line(void **state)
{
	static const char *const values[] = {"warning,file=/nonexistent/log", "warning,file=/tmp"};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *line = strstr(output_of("modules", values[i]), "SOFTFIELD_LOG names the file /");

		assert_non_null(line);
		assert_non_null(strstr(line, "which cannot be opened: "));
		assert_null(strstr(line + 1, "SOFTFIELD_LOG"));
		assert_non_null(strstr(line, "[a.c:1][f] warning\n"));
	}
}

/* A FIFO without a reader would block open for ever. */
static void a_fifo_without_reader_is_not_waited_for(void **state)
{
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_non_null(strstr(output_of("modules", value_with_file("")), "cannot be opened: No such device or address"));
	unlink(path);
}

static void a_program_that_closes_all_descriptors_keeps_its_files(void **state)
{
	output_of("closes all", value_with_file(""));
	const char *text = file_contents();

	assert_non_null(strstr(text, "first line\n"));
	assert_non_null(strstr(text, "second line\n"));
}

static const char *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, name, &value));
	return json_object_get_string(value);
}

/* Parses one line into an object, and moves to the next line. */
static struct json_object *parse_line(const char **text)
{
	const char *end = strchr(*text, '\n');
	struct json_tokener *tokener = json_tokener_new();

	assert_non_null(end);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);

	struct json_object *object = json_tokener_parse_ex(tokener, *text, (int)(end - *text));

	assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
	assert_non_null(object);
	json_tokener_free(tokener);
	*text = end + 1;
	return object;
}

static void json_lines_escape_what_they_must(void **state)
{
	static const char expected[] = "a \"quote\", a \\, a tab\t, a newline\n, an escape\x1b[1m, ü, \xef\xbf\xbd cut off, "
				       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd a surrogate, \xef\xbf\xbd, end";
	const char *at = output_of("hostile", "json");
	struct json_object *object = parse_line(&at);

	assert_string_equal(member(object, "message"), expected);
	assert_string_equal(member(object, "level"), "error");
	assert_string_equal(member(object, "program"), program_invocation_short_name);
	assert_string_equal(member(object, "module"), "tcp");
	assert_string_equal(member(object, "file"), "tcp.c");
	assert_string_equal(member(object, "line"), "7");
	assert_string_equal(member(object, "function"), "open");
	assert_int_equal(strlen(member(object, "time")), strlen("2026-01-01T00:00:00.000000Z"));
	assert_int_equal(atoi(member(object, "pid")), program.pid);
	json_object_put(object);

	object = parse_line(&at);
	assert_int_equal(strlen(member(object, "message")), 9999);
	json_object_put(object);
	object = parse_line(&at);
	assert_string_equal(member(object, "message"), "");
	json_object_put(object);
	assert_string_equal(at, "");
}

static void json_lines_go_to_a_file(void **state)
{
	assert_string_equal(output_of("hostile", value_with_file("json,")), "");

	const char *at = file_contents();

	json_object_put(parse_line(&at));
}

/* ---- variables ---- */

static void a_variable_that_does_not_exist_is_named_once(void **state)
{
	setenv("SOFTFIELD_LGO", "debug", 1);
	assert_string_equal(output_of("nothing", NULL),
			    "softfield: no variable is named SOFTFIELD_LGO: did you mean SOFTFIELD_LOG?\n");
	assert_non_null(strstr(output_of("nothing", "warning"), "[WRN]"));
	assert_non_null(strstr(program.output, "no variable is named SOFTFIELD_LGO: did you mean SOFTFIELD_LOG?\n"));
	assert_string_equal(output_of("nothing", "error"), "");
	unsetenv("SOFTFIELD_LGO");

	setenv("SOFTFIELD_XYZZY_PLUGH", "1", 1);
	assert_string_equal(output_of("nothing", NULL), "softfield: no variable is named SOFTFIELD_XYZZY_PLUGH: "
							"docs/environment.md lists those that exist\n");
	setenv("SOFTFIELD_XYZZY_PLUGH", "", 1);
	assert_string_equal(output_of("nothing", NULL), "");
	unsetenv("SOFTFIELD_XYZZY_PLUGH");
}

static void known_variables_and_those_of_tests_are_not(void **state)
{
	setenv("SOFTFIELD_TEST_ANYTHING", "1", 1);
	setenv("SOFTFIELD_USER", "0:0", 1);
	assert_string_equal(output_of("nothing", NULL), "");
	unsetenv("SOFTFIELD_TEST_ANYTHING");
	unsetenv("SOFTFIELD_USER");
}

static void the_nearest_variable_is_found(void **state)
{
	assert_string_equal(sf_environment_nearest("SOFTFIELD_RUNTIM"), "SOFTFIELD_RUNTIME");
	assert_string_equal(sf_environment_nearest("SOFTFIELD_FBARIC"), "SOFTFIELD_FABRIC");
	assert_string_equal(sf_environment_nearest("SOFTFIELD_TOPOLGY"), "SOFTFIELD_TOPOLOGY");
	assert_string_equal(sf_environment_nearest("SOFTFIELD_NODES"), "SOFTFIELD_NODE");
	assert_null(sf_environment_nearest("SOFTFIELD_KEY"));
	assert_string_equal(sf_environment_nearest("SOFTFIELD_GPU_FAULT"), "SOFTFIELD_GPU_FAULT");
	assert_null(sf_environment_nearest("SOFTFIELD_XYZZY_PLUGH"));
	assert_null(sf_environment_nearest("SOFTFIELD_"));
}

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_levels_of_their_own),
		cmocka_unit_test(the_inner_folder_counts),
		cmocka_unit_test(the_last_of_two_levels_counts),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(a_file_is_appended_to),
		cmocka_unit_test(a_file_that_cannot_be_opened_is_one_line),
		cmocka_unit_test(a_fifo_without_reader_is_not_waited_for),
		cmocka_unit_test(a_program_that_closes_all_descriptors_keeps_its_files),
		cmocka_unit_test(json_lines_escape_what_they_must),
		cmocka_unit_test(json_lines_go_to_a_file),
		cmocka_unit_test(a_variable_that_does_not_exist_is_named_once),
		cmocka_unit_test(known_variables_and_those_of_tests_are_not),
		cmocka_unit_test(the_nearest_variable_is_found),
	};

	self = argv[0];
	for (size_t i = 0; argc == 2 && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(argv[1], roles[i].name) == 0) {
			const char *value = getenv("SOFTFIELD_LOG"), *file = value ? strstr(value, "/tmp/softfield-log-") : NULL;

			if (file) /* the folder in which the role creates its files */
				memcpy(folder, file, strlen(folder));
			roles[i].body();
			return 0;
		}
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
