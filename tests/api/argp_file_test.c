/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

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
		"{\"doca_program_flags\": {\"log-level\": 20}}", /* a general flag */
		"{\"doca_general_flags\": {\"text\": \"a\"}}",
		"{\"doca_general_flags\": {\"json\": \"a\"}}",
		"{\"doca_program_flags\": {\"cli\": 1}}", /* command line only */
		"{\"doca_dpdk_flags\": {}}",		  /* not a DPDK program */
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		assert_int_equal(parse_file(unknown[i], ""), DOCA_ERROR_NOT_SUPPORTED);
		assert_string_equal(seen.text, "");
		doca_argp_destroy();
		setup(NULL);
	}
}

static void unknown_keys_are_ignored_if_asked(void **state)
{
	assert_int_equal(doca_argp_disable_pedantic_config_parsing(), DOCA_SUCCESS);
	assert_int_equal(
		parse_file("{\"flags\": {}, \"other\": 1, \"doca_dpdk_flags\": {}, \"doca_general_flags\": {\"bogus\": 1},"
			   "\"doca_program_flags\": {\"bogus\": 1, \"text\": \"a\"}}",
			   ""),
		DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=a;valid;");
	doca_argp_destroy();
	setup(NULL); /* a new parser has the default again */
	assert_int_equal(parse_file("{\"flags\": {}}", ""), DOCA_ERROR_NOT_SUPPORTED);
}

static void known_keys_are_checked_all_the_same(void **state)
{
	assert_int_equal(doca_argp_disable_pedantic_config_parsing(), DOCA_SUCCESS);
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"cli\": 1}}", ""), DOCA_ERROR_NOT_SUPPORTED);
}

static void doubles_in_a_file_and_on_the_command_line(void **state)
{
	static const char *const wrong[] = {"--double x", "--double 1.5x", "--double= 1", "--double inf", "--double 1e999"};

	flag_add(NULL, "double", DOCA_ARGP_TYPE_DOUBLE, 0);
	assert_int_equal(parse("--double -2.5e3"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "double=-2500;valid;");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		doca_argp_destroy();
		setup(NULL);
		flag_add(NULL, "double", DOCA_ARGP_TYPE_DOUBLE, MULTIPLE);
		assert_int_equal(parse(wrong[i]), DOCA_ERROR_INVALID_VALUE);
	}
	doca_argp_destroy();
	setup(NULL);
	flag_add(NULL, "double", DOCA_ARGP_TYPE_DOUBLE, MULTIPLE);
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"double\": [0.25, 3]}}", ""), DOCA_SUCCESS);
	assert_string_equal(seen.text, "double=0.25;double=3;valid;");
	doca_argp_destroy();
	setup(NULL);
	flag_add(NULL, "double", DOCA_ARGP_TYPE_DOUBLE, 0);
	assert_int_equal(parse_file("{\"doca_program_flags\": {\"double\": \"1\"}}", ""), DOCA_ERROR_INVALID_VALUE);
}

static void values_of_the_wrong_type_in_a_file_are_invalid(void **state)
{
	static const char *const wrong[] = {
		"[]",
		"{\"doca_program_flags\": 1}",
		"{\"doca_program_flags\": {\"text\": 1}}",
		"{\"doca_program_flags\": {\"text\": [\"a\"]}}", /* the flag does not repeat */
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

static void commands_run_in_the_order_of_the_line(void **state)
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
	assert_string_equal(message, "-v, --value is missing: it is mandatory");
}

static void unknown_command_is_not_supported(void **state)
{
	cmds_add();
	assert_int_equal(parse("put"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(message, "there is no command 'put'");
}

static void help_of_a_command_lists_its_flags(void **state)
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

static void incomplete_and_equal_commands_are_rejected(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(file_gives_values_of_every_type),
		CASE(command_line_replaces_the_file),
		CASE(mandatory_flag_may_come_from_the_file),
		CASE(broken_files_are_io_errors),
		CASE(unknown_keys_of_a_file_are_not_supported),
		CASE(unknown_keys_are_ignored_if_asked),
		CASE(known_keys_are_checked_all_the_same),
		CASE(doubles_in_a_file_and_on_the_command_line),
		CASE(values_of_the_wrong_type_in_a_file_are_invalid),
		CASE(commands_run_in_the_order_of_the_line),
		CASE(inherited_flags_pass_down_and_others_do_not),
		CASE(mandatory_flag_of_a_command_counts_only_with_it),
		CASE(unknown_command_is_not_supported),
		CASE(help_of_a_command_lists_its_flags),
		CASE(incomplete_and_equal_commands_are_rejected),
		CASE(dpdk_gets_the_words_before_the_dashes),
		CASE(dpdk_gets_all_words_without_dashes),
		CASE(dpdk_flags_come_from_the_file),
	};

	return cmocka_run_group_tests_name("%s", tests, NULL, NULL);
}
