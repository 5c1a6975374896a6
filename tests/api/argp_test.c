/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include <doca_argp.h>
#include <doca_log.h>

/* What the callbacks saw, in order: "name=value;". */
struct seen {
	char text[1024];
	doca_error_t answer;   /* of the callbacks */
	doca_error_t validity; /* of the validation */
};

static struct seen seen;
static char message[1024]; /* the last one for the user */

static void see(const char *format, ...)
{
	size_t len = strlen(seen.text);
	va_list args;

	va_start(args, format);
	vsnprintf(seen.text + len, sizeof(seen.text) - len, format, args);
	va_end(args);
}

static doca_error_t on_text(void *value, void *config)
{
	assert_ptr_equal(config, &seen);
	see("text=%s;", (char *)value);
	return seen.answer;
}

static doca_error_t on_number(void *value, void *config)
{
	see("number=%d;", *(int *)value);
	return seen.answer;
}

static doca_error_t on_yes(void *value, void *config)
{
	see("yes=%d;", *(bool *)value);
	return seen.answer;
}

static doca_error_t on_object(void *value, void *config)
{
	see("object=%s;", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
	return seen.answer;
}

static doca_error_t on_cmd(void *config)
{
	assert_ptr_equal(config, &seen);
	see("cmd;");
	return seen.answer;
}

static doca_error_t on_validation(void *config)
{
	assert_ptr_equal(config, &seen);
	see("valid;");
	return seen.validity;
}

static doca_error_t on_dpdk(int argc, char **argv)
{
	see("dpdk");
	for (int i = 0; i < argc; i++)
		see(" %s", argv[i]);
	assert_null(argv[argc]);
	see(";");
	return DOCA_SUCCESS;
}

static doca_error_t on_message(enum doca_log_level level, const char *format, va_list args)
{
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	vsnprintf(message, sizeof(message), format, args);
	return DOCA_SUCCESS;
}

enum flag_option {
	MANDATORY = 1,
	MULTIPLE = 2,
	SINGULAR = 4,
	INHERITED = 8,
	HIDDEN = 16,
	CLI_ONLY = 32,
};

static struct doca_argp_param *flag_make(const char *short_name, const char *long_name, enum doca_argp_type type,
					 unsigned int options)
{
	static const doca_argp_param_cb_t callbacks[] = {NULL, on_text, on_number, on_yes, on_object};
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "what it is for");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callbacks[type]);
	if (options & MANDATORY)
		doca_argp_param_set_mandatory(param);
	if (options & MULTIPLE)
		doca_argp_param_set_multiplicity(param);
	if (options & SINGULAR)
		doca_argp_param_set_singular(param);
	if (options & INHERITED)
		doca_argp_param_set_inherited(param);
	if (options & HIDDEN)
		doca_argp_param_set_hidden(param);
	if (options & CLI_ONLY)
		doca_argp_param_set_cli_only(param);
	return param;
}

static void flag_add(const char *short_name, const char *long_name, enum doca_argp_type type, unsigned int options)
{
	assert_int_equal(doca_argp_register_param(flag_make(short_name, long_name, type, options)), DOCA_SUCCESS);
}

static struct doca_argp_cmd *cmd_make(const char *name)
{
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "what it does");
	doca_argp_cmd_set_callback(cmd, on_cmd);
	return cmd;
}

/* Splits a line at spaces and parses it. */
static doca_error_t parse(const char *line)
{
	char *argv[64] = {strdup("./some/where/prog")};
	char *words = strdup(line), *rest = words, *word;
	doca_error_t result;
	int argc = 1;

	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word != '\0')
			argv[argc++] = word;
	}
	result = doca_argp_start(argc, argv);
	free(argv[0]);
	free(words);
	return result;
}

static void setup_bare(void)
{
	memset(&seen, 0, sizeof(seen));
	message[0] = '\0';
	assert_int_equal(doca_argp_init(NULL, &seen), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_logger_callback(on_message), DOCA_SUCCESS);
}

static int setup(void **state)
{
	setup_bare();
	flag_add("t", "text", DOCA_ARGP_TYPE_STRING, 0);
	flag_add("num", "number", DOCA_ARGP_TYPE_INT, MULTIPLE);
	flag_add("y", "yes", DOCA_ARGP_TYPE_BOOLEAN, 0);
	flag_add(NULL, "object", DOCA_ARGP_TYPE_JSON_OBJ, 0);
	flag_add("o", NULL, DOCA_ARGP_TYPE_STRING, 0);
	flag_add("c", "cli", DOCA_ARGP_TYPE_INT, CLI_ONLY);
	assert_int_equal(doca_argp_register_validation_callback(on_validation), DOCA_SUCCESS);
	return 0;
}

static int teardown(void **state)
{
	return doca_argp_destroy() == DOCA_SUCCESS ? 0 : -1;
}

/* Runs the line in a child that ends in exit; returns its status and what it printed. */
static int parse_in_child(const char *line, char *output, size_t output_size)
{
	size_t len = 0;
	int fds[2], status;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		_exit(parse(line) == DOCA_SUCCESS ? 98 : 99); /* not reached by help and version */
	}
	close(fds[1]);
	while ((got = read(fds[0], output + len, output_size - 1 - len)) > 0)
		len += (size_t)got;
	output[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A parameter file with this text, passed with -j beside further words. */
static doca_error_t parse_file(const char *text, const char *more)
{
	char path[] = "/tmp/argp_testXXXXXX";
	int fd = mkstemp(path);
	char line[256];
	doca_error_t result;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	snprintf(line, sizeof(line), "-j %s %s", path, more);
	result = parse(line);
	unlink(path);
	return result;
}

static void values_arrive_by_both_names_in_order(void **state)
{
	assert_int_equal(parse("-t abc --number 5 -num -7 --yes --object {\"a\":[1,]} -o x"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=abc;number=5;number=-7;yes=1;object={\"a\":[1]};text=x;valid;");
}

static void long_name_takes_value_behind_equals(void **state)
{
	assert_int_equal(parse("--text=a=b --number=12 --text2"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(seen.text, ""); /* nothing runs when something is wrong */
	doca_argp_destroy();
	setup(NULL);
	assert_int_equal(parse("--text=a=b --number=12 --object={}"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=a=b;number=12;object={};valid;");
}

static void short_names_are_whole(void **state)
{
	assert_int_equal(parse("-yt abc"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(message, "there is no flag -yt");
}

static void short_value_is_not_glued(void **state)
{
	assert_int_equal(parse("-tabc"), DOCA_ERROR_NOT_SUPPORTED);
}

static void value_may_begin_with_a_dash(void **state)
{
	assert_int_equal(parse("-t -abc --number -5"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=-abc;number=-5;valid;");
}

static void a_flag_is_no_value(void **state)
{
	assert_int_equal(parse("--text --yes"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message,
			    "-t, --text needs a value, but the flag --yes follows (if that is the value, write --text=--yes)");
}

static void value_at_the_end_is_missed(void **state)
{
	assert_int_equal(parse("-t"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-t, --text needs a value");
}

static void boolean_takes_no_value(void **state)
{
	assert_int_equal(parse("--yes=true"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-y, --yes takes no value, but got 'true'");
}

static void stray_word_is_refused(void **state)
{
	assert_int_equal(parse("-y stray"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "'stray' is neither a flag nor the value of one");
}

static void number_is_parsed_strictly(void **state)
{
	static const char *const bad[] = {"12x",      "x", "1.5", "0x10", "2147483648", "-2147483649", "99999999999999999999",
					  "--number="};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), bad[i][0] == '-' && bad[i][1] == '-' ? "%s" : "-num %s", bad[i]);
		assert_int_equal(parse(line), DOCA_ERROR_INVALID_VALUE);
		assert_non_null(strstr(message, "-num, --number takes a"));
		assert_string_equal(seen.text, "");
		doca_argp_destroy();
		setup(NULL);
	}
	assert_int_equal(parse("-num 2147483647 -num -2147483648"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "number=2147483647;number=-2147483648;valid;");
}

static void single_flag_given_twice_is_refused(void **state)
{
	assert_int_equal(parse("-t a --text b"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-t, --text is given more than once");
}

static void mandatory_flag_is_missed_and_named(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	assert_int_equal(parse("-y"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-m, --must is missing, it is mandatory");
}

static void singular_flag_stands_alone(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	flag_add("s", "single", DOCA_ARGP_TYPE_BOOLEAN, SINGULAR);
	assert_int_equal(parse("-m 1 -s"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-s, --single stands alone, it does not go with -m, --must");
}

static void singular_flag_needs_nothing_mandatory(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	flag_add("s", "single", DOCA_ARGP_TYPE_BOOLEAN, SINGULAR);
	assert_int_equal(parse("-s -l 50"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "yes=1;valid;");
}

static void callback_error_ends_start(void **state)
{
	seen.answer = DOCA_ERROR_TOO_BIG;
	assert_int_equal(parse("-t a -y"), DOCA_ERROR_TOO_BIG);
	assert_string_equal(seen.text, "text=a;");
	assert_string_equal(message, "-t, --text: the program refuses this value (DOCA_ERROR_TOO_BIG)");
}

static void validation_error_is_returned(void **state)
{
	seen.validity = DOCA_ERROR_BAD_CONFIG;
	assert_int_equal(parse("-y"), DOCA_ERROR_BAD_CONFIG);
	assert_string_equal(seen.text, "yes=1;valid;");
}

static void log_levels_are_set_before_callbacks(void **state)
{
	uint32_t sdk_before = doca_log_level_get_global_sdk_limit();
	int level;

	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, doca_log_level_get_global_lower_limit());
	assert_int_equal(parse("-y -l 60 --sdk-log-level 30"), DOCA_SUCCESS);
	assert_int_equal(doca_log_level_get_global_lower_limit(), 60);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), 30);
	assert_int_equal(doca_argp_get_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, 60);
	assert_int_equal(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
	assert_int_equal(level, 30);
	assert_int_equal(doca_argp_get_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_get_sdk_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
	doca_log_level_set_global_sdk_limit(sdk_before);
}

static void log_level_must_be_one_of_the_seven(void **state)
{
	static const char *const bad[] = {"-l 0", "-l 5", "-l 55", "-l 80", "--sdk-log-level -10", "-l INFO"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i]), DOCA_ERROR_INVALID_VALUE);
		doca_argp_destroy();
		setup(NULL);
	}
}

static void help_prints_the_layout_of_the_guide_and_exits(void **state)
{
	char output[4096];
	struct doca_argp_param *param = flag_make("d", "device-id", DOCA_ARGP_TYPE_STRING, MANDATORY);

	doca_argp_param_set_arguments(param, "<DEV ID>");
	doca_argp_param_set_description(param, "Device ID (mandatory).");
	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	flag_add("s", "secret", DOCA_ARGP_TYPE_BOOLEAN, HIDDEN);
	assert_int_equal(parse_in_child("-h", output, sizeof(output)), EXIT_SUCCESS);
	assert_non_null(strstr(output, "Usage: prog [DOCA Flags] [Program Flags]\n\nDOCA Flags:\n  -h, --help  "));
	assert_non_null(strstr(output,
			       "\n  -j, --json <path>                     Parse command line flags from an input json file\n\n"
			       "Program Flags:\n  -t, --text "));
	assert_non_null(strstr(output, "\n  -d, --device-id <DEV ID>              Device ID (mandatory).\n"));
	assert_null(strstr(output, "secret"));
}

static void help_wins_over_missing_mandatory_flags(void **state)
{
	char output[4096];

	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	assert_int_equal(parse_in_child("-y --help", output, sizeof(output)), EXIT_SUCCESS);
	assert_null(strstr(output, "missing"));
}

static void wrong_flag_prints_message_and_usage(void **state)
{
	char output[4096];

	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
	assert_int_equal(parse_in_child("--bogus", output, sizeof(output)), 99);
	assert_ptr_equal(strstr(output, "prog: there is no flag --bogus\nUsage: prog [DOCA Flags]"), output);
}

static void version_prints_and_exits(void **state)
{
	char output[4096];

	assert_int_equal(parse_in_child("-v", output, sizeof(output)), EXIT_SUCCESS);
	assert_non_null(strstr(output, "prog: DOCA API "));
}

static doca_error_t on_version(void *value, void *config)
{
	printf("mine\n");
	return DOCA_SUCCESS;
}

static void version_callback_replaces_the_text(void **state)
{
	char output[4096];

	assert_int_equal(doca_argp_register_version_callback(on_version), DOCA_SUCCESS);
	assert_int_equal(parse_in_child("--version", output, sizeof(output)), EXIT_SUCCESS);
	assert_string_equal(output, "mine\n");
}

static void given_program_name_is_shown(void **state)
{
	char output[4096];

	doca_argp_destroy();
	assert_int_equal(doca_argp_init("doca_something", &seen), DOCA_SUCCESS);
	assert_int_equal(parse_in_child("-h", output, sizeof(output)), EXIT_SUCCESS);
	assert_ptr_equal(strstr(output, "Usage: doca_something [DOCA Flags] [Program Flags]\n"), output);
}

static void file_gives_values_of_every_type(void **state)
{
	assert_int_equal(
		parse_file("/* a comment */ {\"doca_general_flags\": {\"log-level\": 40, \"sdk-log-level\": 50,},\n"
			   "// another\n\"doca_program_flags\": {\"text\": \"a b\", \"number\": [1, -2,], \"yes\": false,"
			   "\"object\": {\"k\": null}}}\n// the end",
			   ""),
		DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=a b;number=1;number=-2;yes=0;object={\"k\":null};valid;");
	assert_int_equal(doca_log_level_get_global_lower_limit(), 40);
	doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO);
}

static void command_line_replaces_the_file(void **state)
{
	assert_int_equal(
		parse_file("{\"doca_program_flags\": {\"text\": \"file\", \"number\": [1, 2], \"yes\": true}}", "-num 9 -t cli"),
		DOCA_SUCCESS);
	assert_string_equal(seen.text, "yes=1;number=9;text=cli;valid;");
}

static void mandatory_flag_may_come_from_the_file(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"must\": 4}}", ""), DOCA_SUCCESS);
	assert_string_equal(seen.text, "number=4;valid;");
}

static void broken_files_are_io_errors(void **state)
{
	static const char *const broken[] = {"", "{", "{\"doca_program_flags\": {\"text\": }}", "{} x", "{\"a\"", "/* open"};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		assert_int_equal(parse_file(broken[i], ""), DOCA_ERROR_IO_FAILED);
		doca_argp_destroy();
		setup(NULL);
	}
	assert_int_equal(parse("-j /nonexistent/file"), DOCA_ERROR_IO_FAILED);
	assert_non_null(strstr(message, "/nonexistent/file cannot be opened: No such file"));
}

static void unknown_keys_of_a_file_are_not_supported(void **state)
{
	static const char *const unknown[] = {
		"{\"flags\": {}}",
		"{\"doca_program_flags\": {\"bogus\": 1}}",
		"{\"doca_program_flags\": {\"log-level\": 20}}", /* a general one */
		"{\"doca_general_flags\": {\"text\": \"a\"}}",
		"{\"doca_general_flags\": {\"json\": \"a\"}}",
		"{\"doca_program_flags\": {\"cli\": 1}}", /* for the command line only */
		"{\"doca_dpdk_flags\": {}}",		  /* this is no DPDK program */
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_int_equal(parse_file(unknown[i], ""), DOCA_ERROR_NOT_SUPPORTED);
		assert_string_equal(seen.text, "");
		doca_argp_destroy();
		setup(NULL);
	}
}

static void values_of_the_wrong_type_in_a_file_are_invalid(void **state)
{
	static const char *const wrong[] = {
		"[]",
		"{\"doca_program_flags\": 1}",
		"{\"doca_program_flags\": {\"text\": 1}}",
		"{\"doca_program_flags\": {\"text\": [\"a\"]}}", /* not one that repeats */
		"{\"doca_program_flags\": {\"text\": \"a\\u0000b\"}}",
		"{\"doca_program_flags\": {\"number\": \"1\"}}",
		"{\"doca_program_flags\": {\"number\": 2147483648}}",
		"{\"doca_program_flags\": {\"number\": [1, 1.5]}}",
		"{\"doca_program_flags\": {\"yes\": 1}}",
		"{\"doca_program_flags\": {\"object\": null}}",
		"{\"doca_general_flags\": {\"log-level\": 33}}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse_file(wrong[i], ""), DOCA_ERROR_INVALID_VALUE);
		assert_string_equal(seen.text, "");
		doca_argp_destroy();
		setup(NULL);
	}
}

static void register_needs_every_field(void **state)
{
	for (int missing = 0; missing < 4; missing++) {
		struct doca_argp_param *param;

		assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
		if (missing != 0)
			doca_argp_param_set_long_name(param, "new");
		if (missing != 1)
			doca_argp_param_set_description(param, "text");
		if (missing != 2)
			doca_argp_param_set_type(param, DOCA_ARGP_TYPE_INT);
		if (missing != 3)
			doca_argp_param_set_callback(param, on_number);
		assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	}
}

static void taken_and_bad_names_are_refused(void **state)
{
	static const struct {
		const char *short_name, *long_name;
	} bad[] = {{"h", "new"}, {"v", "new"},	{NULL, "json"}, {"t", "new"}, {"new", "text"},
		   {"", "new"},	 {NULL, "a b"}, {NULL, "a=b"},	{"-a", NULL}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_argp_register_param(flag_make(bad[i].short_name, bad[i].long_name, DOCA_ARGP_TYPE_INT, 0)),
				 DOCA_ERROR_INVALID_VALUE);
}

static void number_of_flags_is_bounded(void **state)
{
	doca_error_t result = DOCA_SUCCESS;
	int count;

	for (count = 0; count < 1000 && result == DOCA_SUCCESS; count++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", count);
		result = doca_argp_register_param(flag_make(NULL, name, DOCA_ARGP_TYPE_INT, 0));
	}
	assert_int_equal(result, DOCA_ERROR_INVALID_VALUE);
	assert_in_range(count, 100, 256);
}

static void registered_objects_are_not_the_callers(void **state)
{
	struct doca_argp_param *param = flag_make(NULL, "new", DOCA_ARGP_TYPE_INT, 0);
	struct doca_argp_cmd *cmd = cmd_make("new");

	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_BAD_STATE);
	doca_argp_param_set_long_name(param, NULL); /* no longer changes it */
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, cmd_make("late")), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_register_param(cmd, flag_make(NULL, "late", DOCA_ARGP_TYPE_INT, 0)), DOCA_ERROR_BAD_STATE);
	assert_int_equal(parse("--new 3"), DOCA_SUCCESS);
}

static void unregistered_objects_can_be_destroyed(void **state)
{
	struct doca_argp_cmd *cmd = cmd_make("outer");

	assert_int_equal(doca_argp_param_destroy(flag_make("a", "b", DOCA_ARGP_TYPE_INT, 0)), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, cmd_make("inner")), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(cmd, flag_make("a", "b", DOCA_ARGP_TYPE_INT, 0)), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_SUCCESS);
}

static void null_arguments_are_invalid(void **state)
{
	assert_int_equal(doca_argp_param_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_param(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_cmd(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_param_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_register_param(NULL, flag_make("a", "b", DOCA_ARGP_TYPE_INT, 0)),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_register_cmd(NULL, cmd_make("a")), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_version_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_validation_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_start(0, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void logger_callback_is_registered_once(void **state)
{
	assert_int_equal(doca_argp_register_logger_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_logger_callback(on_message), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
}

static void without_init_everything_is_a_bad_state(void **state)
{
	char *argv[] = {(char *)(uintptr_t) "prog", NULL};
	struct doca_argp_param *param;
	struct doca_argp_cmd *cmd;

	doca_argp_destroy();
	assert_int_equal(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_start(1, argv), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_param_create(&param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_version_callback(on_version), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_validation_callback(on_validation), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_register_logger_callback(on_message), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	setup(NULL);
}

static void second_init_and_second_start_are_bad_states(void **state)
{
	char name[300];

	assert_int_equal(doca_argp_init("again", NULL), DOCA_ERROR_BAD_STATE);
	assert_int_equal(parse("-y"), DOCA_SUCCESS);
	assert_int_equal(parse("-y"), DOCA_ERROR_BAD_STATE);
	doca_argp_destroy();
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(doca_argp_init(name, NULL), DOCA_ERROR_INVALID_VALUE);
	setup(NULL);
}

/* prog [-i inherited] {get [-num N] | set {-v must} {deep}} */
static void cmds_add(void)
{
	struct doca_argp_cmd *get = cmd_make("get"), *set = cmd_make("set"), *deep = cmd_make("deep");

	flag_add("i", "inherited", DOCA_ARGP_TYPE_INT, INHERITED);
	assert_int_equal(doca_argp_cmd_register_param(get, flag_make("num", NULL, DOCA_ARGP_TYPE_INT, 0)), DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_param(set, flag_make("v", "value", DOCA_ARGP_TYPE_STRING, MANDATORY)),
			 DOCA_SUCCESS);
	assert_int_equal(doca_argp_cmd_register_cmd(set, deep), DOCA_SUCCESS);
	doca_argp_cmd_set_hidden(get);
	assert_int_equal(doca_argp_register_cmd(get), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(set), DOCA_SUCCESS);
}

static void commands_run_where_they_stand(void **state)
{
	cmds_add();
	assert_int_equal(parse("-t a set -v x deep"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=a;cmd;text=x;cmd;valid;");
}

static void inherited_flags_pass_down_and_others_do_not(void **state)
{
	cmds_add();
	assert_int_equal(parse("get -i 5 -num 6 -l 50"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "cmd;number=5;number=6;valid;");
	doca_argp_destroy();
	setup(NULL);
	cmds_add();
	assert_int_equal(parse("get -t a"), DOCA_ERROR_NOT_SUPPORTED);
}

static void mandatory_flag_of_a_command_counts_only_with_it(void **state)
{
	cmds_add();
	assert_int_equal(parse("set"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-v, --value is missing, it is mandatory");
}

static void unknown_command_is_not_supported(void **state)
{
	cmds_add();
	assert_int_equal(parse("put"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(message, "there is no command 'put'");
}

static void help_of_a_command_is_its_own(void **state)
{
	char output[4096];

	cmds_add();
	assert_int_equal(parse_in_child("set -h", output, sizeof(output)), EXIT_SUCCESS);
	assert_non_null(strstr(output, "Usage: prog set [DOCA Flags] [Command Flags] [Command]\n"));
	assert_non_null(strstr(output, "Command Flags:\n  -v, --value"));
	assert_non_null(strstr(output, "-i, --inherited"));
	assert_null(strstr(output, "--text"));
	assert_int_equal(parse_in_child("-h", output, sizeof(output)), EXIT_SUCCESS);
	assert_non_null(strstr(output, "Commands:\n  set "));
	assert_null(strstr(output, "  get "));
}

static void incomplete_and_equal_commands_are_refused(void **state)
{
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(cmd), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_argp_register_cmd(cmd_make("same")), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_cmd(cmd_make("same")), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_register_cmd(cmd_make("-dash")), DOCA_ERROR_INVALID_VALUE);
	cmd = cmd_make("self");
	assert_int_equal(doca_argp_cmd_register_cmd(cmd, cmd), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_argp_cmd_destroy(cmd), DOCA_SUCCESS);
}

static void dpdk_gets_the_words_before_the_dashes(void **state)
{
	doca_argp_set_dpdk_program(on_dpdk);
	assert_int_equal(parse("-a 03:00.0 -l 0-3 -- -t x"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=x;dpdk ./some/where/prog -a 03:00.0 -l 0-3;valid;");
}

static void dpdk_gets_all_words_without_dashes(void **state)
{
	doca_argp_set_dpdk_program(on_dpdk);
	assert_int_equal(parse("-c 0x3"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "dpdk ./some/where/prog -c 0x3;valid;");
}

static void dpdk_flags_come_from_the_file(void **state)
{
	doca_argp_set_dpdk_program(on_dpdk);
	assert_int_equal(
		parse_file(
			"{\"doca_dpdk_flags\": {\"devices\": [{\"device\": \"sf\", \"id\": \"4\"}, {\"device\": \"pf\", \"id\": "
			"\"03:00.0\"}], \"core-mask\": 3, \"core-list\": \"0-4\", \"flags\": \"-n 4  --in-memory\"}}",
			"-y"),
		DOCA_SUCCESS);
	assert_string_equal(seen.text, "yes=1;dpdk ./some/where/prog -a auxiliary:mlx5_core.sf.4 -a 03:00.0 -c 0x3 -l 0-4 -n 4 "
				       "--in-memory;valid;");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(values_arrive_by_both_names_in_order),
		CASE(long_name_takes_value_behind_equals),
		CASE(short_names_are_whole),
		CASE(short_value_is_not_glued),
		CASE(value_may_begin_with_a_dash),
		CASE(a_flag_is_no_value),
		CASE(value_at_the_end_is_missed),
		CASE(boolean_takes_no_value),
		CASE(stray_word_is_refused),
		CASE(number_is_parsed_strictly),
		CASE(single_flag_given_twice_is_refused),
		CASE(mandatory_flag_is_missed_and_named),
		CASE(singular_flag_stands_alone),
		CASE(singular_flag_needs_nothing_mandatory),
		CASE(callback_error_ends_start),
		CASE(validation_error_is_returned),
		CASE(log_levels_are_set_before_callbacks),
		CASE(log_level_must_be_one_of_the_seven),
		CASE(help_prints_the_layout_of_the_guide_and_exits),
		CASE(help_wins_over_missing_mandatory_flags),
		CASE(wrong_flag_prints_message_and_usage),
		CASE(version_prints_and_exits),
		CASE(version_callback_replaces_the_text),
		CASE(given_program_name_is_shown),
		CASE(file_gives_values_of_every_type),
		CASE(command_line_replaces_the_file),
		CASE(mandatory_flag_may_come_from_the_file),
		CASE(broken_files_are_io_errors),
		CASE(unknown_keys_of_a_file_are_not_supported),
		CASE(values_of_the_wrong_type_in_a_file_are_invalid),
		CASE(register_needs_every_field),
		CASE(taken_and_bad_names_are_refused),
		CASE(number_of_flags_is_bounded),
		CASE(registered_objects_are_not_the_callers),
		CASE(unregistered_objects_can_be_destroyed),
		CASE(null_arguments_are_invalid),
		CASE(logger_callback_is_registered_once),
		CASE(without_init_everything_is_a_bad_state),
		CASE(second_init_and_second_start_are_bad_states),
		CASE(commands_run_where_they_stand),
		CASE(inherited_flags_pass_down_and_others_do_not),
		CASE(mandatory_flag_of_a_command_counts_only_with_it),
		CASE(unknown_command_is_not_supported),
		CASE(help_of_a_command_is_its_own),
		CASE(incomplete_and_equal_commands_are_refused),
		CASE(dpdk_gets_the_words_before_the_dashes),
		CASE(dpdk_gets_all_words_without_dashes),
		CASE(dpdk_flags_come_from_the_file),
	};

	return cmocka_run_group_tests_name("argp", tests, NULL, NULL);
}
