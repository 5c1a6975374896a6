/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"

#define WORD_SIZE 32 /* of a command's word, with its NUL */

/* ---- errors ---- */

void cli_wrong(const struct cli *cli, const char *format, ...)
{
	const char *name = cli->command->name;
	va_list args;

	fprintf(stderr, "%s%s%s: ", cli->program->name, *name != '\0' ? " " : "", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	sf_print_help_hint(cli->program->name, name);
	exit(TOOL_USAGE);
}

void cli_unknown(const struct cli *cli, const char *kind, const char *word, const char *nearest)
{
	char text[SF_COMMAND_LINE_TEXT_SIZE];

	sf_text_unknown(text, kind, word, nearest);
	cli_wrong(cli, "%s", text);
}

/* A full disk or a closed pipe is a failure too. */
static int output_finish(const struct cli_program *program, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: cannot write the output\n", program->name);
	return TOOL_FAILED;
}

/* ---- options ---- */

/* The command's own options, and those of every command. */
#define TABLES 2

static const struct cli_option *table_of(const struct cli_command *command, int table)
{
	static const struct cli_option none = {0};

	return table == 1 ? cli_options_always : command->options != NULL ? command->options : &none;
}

static const void *option_find(const void *scope, const char *name, size_t len, bool is_long)
{
	for (int table = 0; table < TABLES; table++) {
		for (const struct cli_option *o = table_of((const struct cli_command *)scope, table); o->name != NULL; o++) {
			bool is_letter = len == 1 && o->id < CLI_ID_LONG && o->id == name[0];

			if (is_long ? strlen(o->name) == len && memcmp(o->name, name, len) == 0 : is_letter)
				return o;
		}
	}
	return NULL;
}

static _Noreturn void option_unknown(const struct cli *cli, const char *word)
{
	const char *nearest = NULL;

	for (int table = 0; table < TABLES && strncmp(word, "--", 2) == 0; table++) {
		for (const struct cli_option *o = table_of(cli->command, table); o->name != NULL; o++)
			nearest = sf_word_nearer(word + 2, nearest, o->name);
	}
	cli_unknown(cli, "option", word, nearest);
}

static _Noreturn void value_missing(const struct cli *cli, const struct cli_option *option, const char *next)
{
	char label[CLI_LABEL_SIZE], text[SF_COMMAND_LINE_TEXT_SIZE];

	cli_option_label(option, label);
	sf_text_value_missing(text, "option", label, option->name, next);
	cli_wrong(cli, "%s", text);
}

/* Sets the option's value: what follows the '=' of its word, or the next word. */
static void value_take(struct cli *cli, const struct cli_option *option, char *behind)
{
	const struct sf_options options = {option_find, cli->command};
	char *next = cli->at < cli->argc ? cli->argv[cli->at] : NULL;

	cli->value = behind;
	if (option->value == NULL && behind != NULL)
		cli_wrong(cli, "--%s takes no value", option->name);
	if (option->value == NULL || behind != NULL || (option->value_optional && (next == NULL || sf_option_begins(next))))
		return;
	if (sf_option_value(&options, next) == NULL)
		value_missing(cli, option, next);
	cli->value = next;
	cli->at++;
}

static int option_take(struct cli *cli, char *word)
{
	const struct sf_options options = {option_find, cli->command};
	const char *behind;
	const struct cli_option *option = sf_option_read(&options, word, &behind);

	if (option == NULL)
		option_unknown(cli, word);
	value_take(cli, option, behind != NULL ? word + (behind - word) : NULL);
	if (option->id != 'h' && option->id != 'v')
		return option->id;
	if (option->id == 'h')
		cli_help(cli->program, cli->command, NULL);
	else
		sf_print_version(cli->program->name);
	exit(output_finish(cli->program, TOOL_OK));
}

int cli_next(struct cli *cli)
{
	while (cli->at < cli->argc) {
		char *word = cli->argv[cli->at++];

		if (!cli->only_arguments && strcmp(word, "--") == 0) {
			cli->only_arguments = true;
			continue;
		}
		if (!cli->only_arguments && sf_option_begins(word))
			return option_take(cli, word);
		cli->only_arguments = cli->only_arguments || cli->command->takes_words;
		cli->argv[1 + cli->num_arguments++] = word; /* in place of a word that was read */
	}
	cli->value = NULL;
	return CLI_END;
}

char **cli_arguments(const struct cli *cli, int min, int max, int *num)
{
	*num = cli->num_arguments;
	if (*num < min)
		cli_wrong(cli, "needs %s", cli->command->arguments);
	if (*num > max)
		cli_wrong(cli, "takes no argument %s", cli->argv[1 + max]);
	cli->argv[1 + *num] = NULL;
	return cli->argv + 1;
}

long cli_number(const struct cli *cli, const char *option, long min, long max)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(cli->value, &end, 10);
	if (errno != 0 || end == cli->value || *end != '\0' || number < min || number > max)
		cli_wrong(cli, "--%s takes a number from %ld to %ld, not %s", option, min, max, cli->value);
	return number;
}

/* ---- commands ---- */

/* Returns true if the word is the command, or the first of its two words. */
static bool command_begins(const struct cli_command *command, const char *word, char end)
{
	size_t len = strlen(word);

	return strncmp(command->name, word, len) == 0 && command->name[len] == end;
}

static const struct cli_command *command_find(const struct cli_program *program, const char *first, const char *second)
{
	for (const struct cli_command *const *at = program->commands; *at != NULL; at++) {
		if (command_begins(*at, first, '\0'))
			return *at;
		if (second != NULL && command_begins(*at, first, ' ') && strcmp((*at)->name + strlen(first) + 1, second) == 0)
			return *at;
	}
	return NULL;
}

static bool is_group(const struct cli_program *program, const char *word)
{
	for (const struct cli_command *const *at = program->commands; *at != NULL; at++) {
		if (command_begins(*at, word, ' '))
			return true;
	}
	return false;
}

static _Noreturn void command_unknown(const struct cli *group, const char *word)
{
	char nearest[WORD_SIZE] = "", candidate[WORD_SIZE];
	size_t skip = *group->command->name != '\0' ? strlen(group->command->name) + 1 : 0;

	if (word == NULL)
		cli_wrong(group, "no command given");
	for (const struct cli_command *const *at = group->program->commands; *at != NULL; at++) {
		if (skip != 0 && !command_begins(*at, group->command->name, ' '))
			continue;
		snprintf(candidate, sizeof(candidate), "%.*s", (int)strcspn((*at)->name + skip, " "), (*at)->name + skip);
		if (sf_word_nearer(word, *nearest != '\0' ? nearest : NULL, candidate) == candidate)
			memcpy(nearest, candidate, sizeof(nearest));
	}
	cli_unknown(group, "command", word, *nearest != '\0' ? nearest : NULL);
}

static bool is_word(const char *word, const char *name, const char *letter)
{
	return word != NULL && (strcmp(word, name) == 0 || strcmp(word, letter) == 0);
}

/* Prints help or version of the program, or of a group of its commands. */
static int run_no_command(const struct cli_program *program, const char *group, const char *word)
{
	const struct cli cli = {.program = program, .command = &(struct cli_command){.name = group != NULL ? group : ""}};

	if (is_word(word, "--help", "-h"))
		cli_help(program, NULL, group);
	else if (is_word(word, "--version", "-v"))
		sf_print_version(program->name);
	else if (word != NULL && word[0] == '-')
		option_unknown(&cli, word);
	else
		command_unknown(&cli, word);
	return output_finish(program, TOOL_OK);
}

int cli_main(const struct cli_program *program, int argc, char **argv)
{
	struct cli cli = {.program = program, .command = program->commands[0], .argc = argc, .argv = argv, .at = 1};
	const char *first = argc > 1 ? argv[1] : NULL, *second = argc > 2 ? argv[2] : NULL;
	int words = 0;

	if (*cli.command->name != '\0') {
		cli.command = first != NULL ? command_find(program, first, second) : NULL;
		if (cli.command == NULL && first != NULL && is_group(program, first))
			return run_no_command(program, first, second);
		if (cli.command == NULL)
			return run_no_command(program, NULL, first);
		words = strchr(cli.command->name, ' ') != NULL ? 2 : 1;
	}
	cli.argc -= words;
	cli.argv += words;
	return output_finish(program, cli.command->run(&cli));
}
