/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines: each line of the input is a word. The program has flags of every type, commands below each other with flags of
 * their own, and a config that its callbacks fill. Flags that end the process (-h, -v) or read files (-j) are left out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>

#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MAX 64
#define TEXT_MAX 64

struct config {
	char text[TEXT_MAX];
	int number;
	bool yes;
	uint32_t objects, commands, eal_words;
};

/* ---- the program ---- */

static doca_error_t set_text(void *value, void *config)
{
	if (strlen(value) >= TEXT_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	strcpy(((struct config *)config)->text, value);
	return DOCA_SUCCESS;
}

static doca_error_t set_number(void *value, void *config)
{
	((struct config *)config)->number = *(int *)value;
	return DOCA_SUCCESS;
}

static doca_error_t set_yes(void *value, void *config)
{
	((struct config *)config)->yes = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t add_object(void *value, void *config)
{
	if (value == NULL)
		abort();
	((struct config *)config)->objects++;
	return DOCA_SUCCESS;
}

static doca_error_t run_command(void *config)
{
	((struct config *)config)->commands++;
	return DOCA_SUCCESS;
}

static doca_error_t take_eal(int argc, char **argv)
{
	if (argc < 1 || argv[argc] != NULL)
		abort();
	for (int i = 0; i < argc; i++)
		(void)strlen(argv[i]);
	return DOCA_SUCCESS;
}

static doca_error_t ignore_message(enum doca_log_level level, const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	return DOCA_SUCCESS;
}

static struct doca_argp_param *param(const char *short_name, const char *long_name, enum doca_argp_type type,
				     doca_argp_param_cb_t set)
{
	struct doca_argp_param *made;

	CHECK_OK(doca_argp_param_create(&made));
	if (short_name != NULL)
		doca_argp_param_set_short_name(made, short_name);
	doca_argp_param_set_long_name(made, long_name);
	doca_argp_param_set_description(made, long_name);
	doca_argp_param_set_type(made, type);
	doca_argp_param_set_callback(made, set);
	return made;
}

static void root_register(void)
{
	struct doca_argp_param *number = param("n", "number", DOCA_ARGP_TYPE_INT, set_number);
	struct doca_argp_param *yes = param("y", "yes", DOCA_ARGP_TYPE_BOOLEAN, set_yes);
	struct doca_argp_param *object = param("o", "object", DOCA_ARGP_TYPE_JSON_OBJ, add_object);

	CHECK_OK(doca_argp_register_param(param("t", "text", DOCA_ARGP_TYPE_STRING, set_text)));
	doca_argp_param_set_multiplicity(number);
	CHECK_OK(doca_argp_register_param(number));
	doca_argp_param_set_inherited(yes);
	CHECK_OK(doca_argp_register_param(yes));
	doca_argp_param_set_multiplicity(object);
	CHECK_OK(doca_argp_register_param(object));
	CHECK_OK(doca_argp_register_param(param(NULL, "device", DOCA_ARGP_TYPE_STRING, set_text)));
}

static struct doca_argp_cmd *command(const char *name)
{
	struct doca_argp_cmd *made;

	CHECK_OK(doca_argp_cmd_create(&made));
	doca_argp_cmd_set_name(made, name);
	doca_argp_cmd_set_description(made, name);
	doca_argp_cmd_set_callback(made, run_command);
	return made;
}

static void commands_register(void)
{
	struct doca_argp_cmd *outer = command("run"), *inner = command("fast");
	struct doca_argp_param *size = param("s", "size", DOCA_ARGP_TYPE_INT, set_number);

	doca_argp_param_set_mandatory(size);
	CHECK_OK(doca_argp_cmd_register_param(inner, size));
	CHECK_OK(doca_argp_cmd_register_param(outer, param("t", "title", DOCA_ARGP_TYPE_STRING, set_text)));
	CHECK_OK(doca_argp_cmd_register_cmd(outer, inner));
	CHECK_OK(doca_argp_register_cmd(outer));
	CHECK_OK(doca_argp_register_cmd(command("stop")));
}

/* ---- the input ---- */

static bool left_out(const char *word)
{
	if (word[0] != '-')
		return false;
	if (word[1] == '-')
		return strncmp(word, "--help", 6) == 0 || strncmp(word, "--version", 9) == 0 || strncmp(word, "--json", 6) == 0;
	return strpbrk(word, "hvj") != NULL;
}

static int split(char *text, char **argv)
{
	int argc = 1;
	char *word;

	argv[0] = (char *)(uintptr_t) "/usr/bin/fuzz";
	while (argc < WORDS_MAX && (word = strsep(&text, "\n")) != NULL) {
		if (!left_out(word))
			argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

/* Each mistake prints the usage. The fuzzer and the sanitizers have their own way to standard error. */
static void silence(void)
{
	static FILE *nowhere;

	if (nowhere == NULL)
		nowhere = fopen("/dev/null", "w");
	if (nowhere != NULL)
		stdout = stderr = nowhere;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS_MAX + 1], *text;
	struct config config = {0};
	int level;

	silence();
	if (size == 0 || (text = strndup((const char *)data + 1, size - 1)) == NULL)
		return 0;
	CHECK_OK(doca_argp_init(NULL, &config));
	CHECK_OK(doca_argp_register_logger_callback(ignore_message));
	root_register();
	commands_register();
	if (data[0] & 1)
		doca_argp_set_dpdk_program(take_eal);
	(void)doca_argp_start(split(text, argv), argv);
	CHECK_OK(doca_argp_get_log_level(&level));
	if (memchr(config.text, '\0', TEXT_MAX) == NULL || config.commands > WORDS_MAX)
		abort();
	CHECK_OK(doca_argp_destroy());
	free(text);
	return 0;
}
