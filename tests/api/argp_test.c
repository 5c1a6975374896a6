/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

static void values_arrive_by_both_names_in_order(void **state)
{
	assert_int_equal(parse("-t abc --number 5 -num -7 --yes --object {\"a\":[1,]} -o x"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=abc;number=5;number=-7;yes=1;object={\"a\":[1]};text=x;valid;");
}

static void long_name_takes_value_behind_equals(void **state)
{
	assert_int_equal(parse("--text=a=b --number=12 --text2"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(seen.text, ""); /* no callback runs if anything is wrong */
	doca_argp_destroy();
	setup(NULL);
	assert_int_equal(parse("--text=a=b --number=12 --object={}"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=a=b;number=12;object={};valid;");
}

static void mistyped_name_before_its_value_has_a_suggestion(void **state)
{
	assert_int_equal(parse("--txet=1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(message, "there is no flag --txet=1; did you mean --text?");
}

static void short_names_do_not_combine(void **state)
{
	assert_int_equal(parse("-yt abc"), DOCA_ERROR_NOT_SUPPORTED);
	assert_string_equal(message, "there is no flag -yt");
}

static void short_name_and_value_are_separate_words(void **state)
{
	assert_int_equal(parse("-tabc"), DOCA_ERROR_NOT_SUPPORTED);
}

static void value_may_begin_with_a_dash(void **state)
{
	assert_int_equal(parse("-t -abc --number -5"), DOCA_SUCCESS);
	assert_string_equal(seen.text, "text=-abc;number=-5;valid;");
}

static void a_flag_is_not_a_value(void **state)
{
	assert_int_equal(parse("--text --yes"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message,
			    "-t, --text needs a value, but the flag --yes follows (if that is the value, write --text=--yes)");
}

static void a_missing_value_at_the_end_is_an_error(void **state)
{
	assert_int_equal(parse("-t"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-t, --text needs a value");
}

static void a_boolean_accepts_no_value(void **state)
{
	assert_int_equal(parse("--yes=true"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-y, --yes takes no value, but got 'true'");
}

static void a_stray_word_is_rejected(void **state)
{
	assert_int_equal(parse("-y stray"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "unexpected argument 'stray': it is neither a flag nor a flag's value");
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

static void a_single_flag_passed_twice_is_rejected(void **state)
{
	assert_int_equal(parse("-t a --text b"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-t, --text is given more than once");
}

static void a_missing_mandatory_flag_is_named(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	assert_int_equal(parse("-y"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-m, --must is missing: it is mandatory");
}

static void singular_flag_stands_alone(void **state)
{
	flag_add("m", "must", DOCA_ARGP_TYPE_INT, MANDATORY);
	flag_add("s", "single", DOCA_ARGP_TYPE_BOOLEAN, SINGULAR);
	assert_int_equal(parse("-m 1 -s"), DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(message, "-s, --single cannot be combined with -m, --must");
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
	assert_string_equal(message, "-t, --text: invalid value (DOCA_ERROR_TOO_BIG)");
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

static void the_passed_program_name_is_shown(void **state)
{
	char output[4096];

	doca_argp_destroy();
	assert_int_equal(doca_argp_init("doca_something", &seen), DOCA_SUCCESS);
	assert_int_equal(parse_in_child("-h", output, sizeof(output)), EXIT_SUCCESS);
	assert_ptr_equal(strstr(output, "Usage: doca_something [DOCA Flags] [Program Flags]\n"), output);
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

static void used_and_invalid_names_are_rejected(void **state)
{
	static const struct {
		const char *short_name, *long_name;
	} bad[] = {{"h", "new"}, {"v", "new"},	 {NULL, "json"}, {"t", "new"}, {"new", "text"},
		   {"", "new"},	 {NULL, "a\nb"}, {NULL, "a=b"},	 {"-a", NULL}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_argp_register_param(flag_make(bad[i].short_name, bad[i].long_name, DOCA_ARGP_TYPE_INT, 0)),
				 DOCA_ERROR_INVALID_VALUE);
}

static void long_name_may_have_a_space(void **state)
{
	char program[] = "prog", flag[] = "--two words", value[] = "3";
	char *argv[] = {program, flag, value, NULL};

	flag_add(NULL, "two words", DOCA_ARGP_TYPE_INT, 0);
	assert_int_equal(doca_argp_start(3, argv), DOCA_SUCCESS);
	assert_string_equal(seen.text, "number=3;valid;");
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

static void registered_objects_no_longer_belong_to_the_caller(void **state)
{
	struct doca_argp_param *param = flag_make(NULL, "new", DOCA_ARGP_TYPE_INT, 0);
	struct doca_argp_cmd *cmd = cmd_make("new");

	assert_int_equal(doca_argp_register_param(param), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_argp_param_destroy(param), DOCA_ERROR_BAD_STATE);
	doca_argp_param_set_long_name(param, NULL); /* has no effect any more */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(values_arrive_by_both_names_in_order),
		CASE(long_name_takes_value_behind_equals),
		CASE(mistyped_name_before_its_value_has_a_suggestion),
		CASE(short_names_do_not_combine),
		CASE(short_name_and_value_are_separate_words),
		CASE(value_may_begin_with_a_dash),
		CASE(a_flag_is_not_a_value),
		CASE(a_missing_value_at_the_end_is_an_error),
		CASE(a_boolean_accepts_no_value),
		CASE(a_stray_word_is_rejected),
		CASE(number_is_parsed_strictly),
		CASE(a_single_flag_passed_twice_is_rejected),
		CASE(a_missing_mandatory_flag_is_named),
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
		CASE(the_passed_program_name_is_shown),
		CASE(register_needs_every_field),
		CASE(used_and_invalid_names_are_rejected),
		CASE(long_name_may_have_a_space),
		CASE(number_of_flags_is_bounded),
		CASE(registered_objects_no_longer_belong_to_the_caller),
		CASE(unregistered_objects_can_be_destroyed),
		CASE(null_arguments_are_invalid),
		CASE(logger_callback_is_registered_once),
		CASE(without_init_everything_is_a_bad_state),
		CASE(second_init_and_second_start_are_bad_states),
	};

	return cmocka_run_group_tests_name("%s", tests, NULL, NULL);
}
