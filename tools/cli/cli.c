/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>
#include <softfield/version.h>

#include "base/nearest_word.h"

#define WORDS_MAX 64 /* options of a command, or commands of a program */

/* ---- errors ---- */

_Noreturn void cli_wrong(const struct cli *cli, const char *format, ...)
{
	const char *name = cli->command != NULL ? cli->command->name : "";
	va_list args;

	fprintf(stderr, "%s%s%s: ", cli->program->name, *name != '\0' ? " " : "", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(TOOL_USAGE);
}

/* A full disk or a closed pipe is a failure too. */
static int output_finish(const struct cli_program *program, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: cannot write the output\n", program->name);
	return TOOL_FAILED;
}

static void print_version(const struct cli_program *program)
{
	printf("%s %s, DOCA API %s\n", program->name, SOFTFIELD_VERSION, doca_version_runtime());
}

static _Noreturn void option_unknown(const struct cli *cli, const char *word)
{
	const struct cli_option *options = cli->command->options;
	const char *words[WORDS_MAX + 3], *nearest = NULL;
	char text[WORDS_MAX];
	size_t num = 0;

	for (; options != NULL && options[num].name != NULL && num < WORDS_MAX; num++)
		words[num] = options[num].name;
	words[num++] = "help";
	words[num++] = "version";
	words[num] = NULL;
	if (strncmp(word, "--", 2) == 0) {
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		nearest = sf_nearest_word(text, words, 0);
	}
	if (nearest != NULL)
		cli_wrong(cli, "unknown option %s; did you mean --%s?", word, nearest);
	cli_wrong(cli, "unknown option %s; --help lists the options", word);
}

static const struct cli_option *option_of(const struct cli_command *command, int id)
{
	const struct cli_option *option = command->options;

	while (option != NULL && option->name != NULL && option->id != id)
		option++;
	return option != NULL && option->name != NULL ? option : NULL;
}

/* Reports an option that getopt_long rejected: unknown, without its value, or with an unexpected one. */
static _Noreturn void option_refused(const struct cli *cli, int reason)
{
	const struct cli_option *option = option_of(cli->command, optopt);
	const char *word = cli->argv[optind > 0 ? optind - 1 : 0];

	if (reason == ':' && option != NULL)
		cli_wrong(cli, "--%s needs %s", option->name, option->value);
	if (option != NULL && strncmp(word, "--", 2) == 0)
		cli_wrong(cli, "--%s takes no value", option->name);
	if (optopt > 0 && optopt < CLI_ID_LONG && strncmp(word, "--", 2) != 0)
		option_unknown(cli, (const char[]){'-', (char)optopt, '\0'});
	option_unknown(cli, word);
}

/* ---- options ---- */

/* Converts the table for getopt_long. The prefix of letters stops it at the first argument and disables its messages. */
static void getopt_tables(const struct cli_command *command, struct option longs[WORDS_MAX + 3], char letters[4 * WORDS_MAX])
{
	char *letter = stpcpy(letters, command->takes_words ? "+:hv" : ":hv");
	size_t num = 0;

	for (const struct cli_option *o = command->options; o != NULL && o->name != NULL && num < WORDS_MAX; o++) {
		int takes = o->value == NULL ? no_argument : o->value_optional ? optional_argument : required_argument;

		longs[num++] = (struct option){o->name, takes, NULL, o->id};
		if (o->id < CLI_ID_LONG)
			letter += sprintf(letter, "%c%.*s", o->id, takes == no_argument ? 0 : takes, "::");
	}
	longs[num++] = (struct option){"help", no_argument, NULL, 'h'};
	longs[num++] = (struct option){"version", no_argument, NULL, 'v'};
	longs[num] = (struct option){0};
}

/* An optional value may be the next word, unless that is an option. */
static void take_optional_value(struct cli *cli, int id)
{
	const struct cli_option *option = option_of(cli->command, id);

	if (option != NULL && option->value_optional && cli->value == NULL && optind < cli->argc && cli->argv[optind][0] != '-')
		cli->value = cli->argv[optind++];
}

/* Rejects abbreviations, which getopt_long accepts: a new option with the same prefix would break scripts. */
static void check_whole(const struct cli *cli, const char *name)
{
	const char *word = cli->argv[optind - (optarg != NULL && optarg == cli->argv[optind - 1] ? 2 : 1)];

	if (strcspn(word + 2, "=") != strlen(name))
		option_unknown(cli, word);
}

int cli_next(struct cli *cli)
{
	struct option longs[WORDS_MAX + 3];
	char letters[4 * WORDS_MAX];
	int id, at = -1;

	if (!cli->begun)
		optind = 0;
	cli->begun = true;
	opterr = 0;
	getopt_tables(cli->command, longs, letters);
	id = getopt_long(cli->argc, cli->argv, letters, longs, &at);
	if (id == '?' || id == ':')
		option_refused(cli, id);
	if (id != -1 && at >= 0)
		check_whole(cli, longs[at].name);
	cli->value = id == -1 ? NULL : optarg;
	take_optional_value(cli, id);
	if (id != 'h' && id != 'v')
		return id == -1 ? CLI_END : id;
	if (id == 'h')
		cli_help(cli->program, cli->command, NULL);
	else
		print_version(cli->program);
	exit(output_finish(cli->program, TOOL_OK));
}

char **cli_arguments(const struct cli *cli, int min, int max, int *num)
{
	*num = cli->argc - optind;
	if (*num < min)
		cli_wrong(cli, "needs %s", cli->command->arguments);
	if (*num > max)
		cli_wrong(cli, "takes no argument %s", cli->argv[optind + max]);
	return cli->argv + optind;
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

static _Noreturn void command_unknown(const struct cli_program *program, const char *group, const char *word)
{
	char copies[WORDS_MAX][32];
	const char *words[WORDS_MAX + 1];
	size_t num = 0, skip = group != NULL ? strlen(group) + 1 : 0;

	for (const struct cli_command *const *at = program->commands; *at != NULL && num < WORDS_MAX; at++) {
		if (group != NULL && !command_begins(*at, group, ' '))
			continue;
		snprintf(copies[num], sizeof(copies[num]), "%.*s", (int)strcspn((*at)->name + skip, " "), (*at)->name + skip);
		words[num] = copies[num];
		num++;
	}
	words[num] = NULL;
	fprintf(stderr, "%s%s%s: ", program->name, group != NULL ? " " : "", group != NULL ? group : "");
	const char *nearest = word != NULL ? sf_nearest_word(word, words, 0) : NULL;
	if (word == NULL)
		fprintf(stderr, "no command given; --help lists all\n");
	else if (nearest != NULL)
		fprintf(stderr, "unknown command %s; did you mean %s?\n", word, nearest);
	else
		fprintf(stderr, "unknown command %s; --help lists all\n", word);
	exit(TOOL_USAGE);
}

static bool is_word(const char *word, const char *name, const char *letter)
{
	return word != NULL && (strcmp(word, name) == 0 || strcmp(word, letter) == 0);
}

/* Prints help or version of the program, or of a group of its commands. */
static int run_no_command(const struct cli_program *program, const char *group, const char *word)
{
	if (is_word(word, "--help", "-h"))
		cli_help(program, NULL, group);
	else if (is_word(word, "--version", "-v"))
		print_version(program);
	else if (word != NULL && word[0] == '-')
		option_unknown(
			&(struct cli){.program = program, .command = &(struct cli_command){.name = group != NULL ? group : ""}},
			word);
	else
		command_unknown(program, group, word);
	return output_finish(program, TOOL_OK);
}

int cli_main(const struct cli_program *program, int argc, char **argv)
{
	struct cli cli = {.program = program, .command = program->commands[0], .argc = argc, .argv = argv};
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
