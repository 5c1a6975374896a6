/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define COLUMN_MAX 36 /* last column where texts may begin; longer options overlap it */
#define WIDTH 100

const struct cli_option cli_options_always[] = {
	{.name = "help", .text = "show this help", .id = 'h'}, {.name = "version", .text = "show the version", .id = 'v'}, {0}};

size_t cli_option_label(const struct cli_option *option, char label[CLI_LABEL_SIZE])
{
	char letter[8] = "";

	if (option->id < CLI_ID_LONG)
		snprintf(letter, sizeof(letter), "-%c, ", option->id);
	return (size_t)snprintf(label, CLI_LABEL_SIZE, "%s--%s", letter, option->name);
}

/* The option's part of its line in the help. */
static size_t option_entry(const struct cli_option *option, char entry[CLI_LABEL_SIZE])
{
	char label[CLI_LABEL_SIZE];

	cli_option_label(option, label);
	return (size_t)snprintf(entry, CLI_LABEL_SIZE, "  %s%s%s", label, option->value != NULL ? " " : "",
				option->value != NULL ? option->value : "");
}

/* Prints a text after its label, in lines that begin at the column. */
static void print_entry(const char *label, size_t column, const char *text)
{
	printf("%-*s", (int)column, label);
	for (size_t left = WIDTH - column; strlen(text) > left;) {
		size_t len = left;

		while (len > 0 && text[len] != ' ')
			len--;
		if (len == 0)
			break;
		printf("%.*s\n%*s", (int)len, text, (int)column, "");
		text += len + 1;
	}
	printf("%s\n", text);
}

static void print_options(const struct cli_option *options)
{
	const struct cli_option *const tables[] = {options, cli_options_always};
	size_t column = 0, len;
	char label[CLI_LABEL_SIZE];

	for (int table = 0; table < 2; table++) {
		for (const struct cli_option *o = tables[table]; o != NULL && o->name != NULL; o++) {
			len = option_entry(o, label) + 2;
			column = len > column && len <= COLUMN_MAX ? len : column;
		}
	}
	for (int table = 0; table < 2; table++) {
		for (const struct cli_option *o = tables[table]; o != NULL && o->name != NULL; o++) {
			len = option_entry(o, label) + 2;
			print_entry(label, len > column ? len : column, o->text);
		}
	}
}

static void print_commands(const struct cli_program *program, const char *group)
{
	size_t column = 0, skip = group != NULL ? strlen(group) + 1 : 0;

	for (int pass = 0; pass < 2; pass++) {
		for (const struct cli_command *const *at = program->commands; *at != NULL; at++) {
			char label[128];

			if (group != NULL && (strncmp((*at)->name, group, skip - 1) != 0 || (*at)->name[skip - 1] != ' '))
				continue;
			size_t len = (size_t)snprintf(label, sizeof(label), "  %s%s%s", (*at)->name + skip,
						      (*at)->arguments != NULL ? " " : "",
						      (*at)->arguments != NULL ? (*at)->arguments : "") +
				     2;
			if (pass == 1)
				print_entry(label, len > column ? len : column, (*at)->summary);
			column = len > column && len <= COLUMN_MAX ? len : column;
		}
	}
}

void cli_help(const struct cli_program *program, const struct cli_command *command, const char *group)
{
	if (command == NULL) {
		printf("Usage: %s%s%s COMMAND\n", program->name, group != NULL ? " " : "", group != NULL ? group : "");
		if (group == NULL)
			printf("\n%s\n", program->summary);
		printf("\nCommands:\n");
		print_commands(program, group);
		printf("\nOptions:\n");
		print_options(NULL);
		printf("\n`%s %s%sCOMMAND --help` describes a command.\n", program->name, group != NULL ? group : "",
		       group != NULL ? " " : "");
	} else {
		printf("Usage: %s%s%s [OPTION ...]%s%s\n\n%s\n\nOptions:\n", program->name, *command->name != '\0' ? " " : "",
		       command->name, command->arguments != NULL ? " " : "", command->arguments != NULL ? command->arguments : "",
		       command->summary);
		print_options(command->options);
	}
	const char *text = command != NULL ? command->text : program->text;
	if (text != NULL && group == NULL)
		printf("\n%s", text);
}
