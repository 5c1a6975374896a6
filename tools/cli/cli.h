/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a tool: a table of its commands and their options defines help, errors and parsing. Every command has
 * --help and --version. An invalid command line ends the program with one line on stderr, and one that names the help.
 */
#ifndef TOOL_CLI_H
#define TOOL_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/command_line.h"

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* the reason is on stderr */
	TOOL_USAGE = SF_EXIT_USAGE,
	TOOL_CANNOT_RUN = 126,
	TOOL_NO_PROGRAM = 127,
};

#define CLI_END (-1)
#define CLI_ID_LONG 256 /* ids from here on have no short option */

struct cli_option {
	const char *name, *value; /* without dashes; the value's name in the help, NULL: no value */
	const char *text;	  /* for the help */
	int id;			  /* returned by cli_next; a letter is also the short option */
	bool value_optional;	  /* the value may be omitted */
};

struct cli;

struct cli_command {
	const char *name;		  /* "ps"; "topology check"; "" in a program of one command */
	const char *arguments;		  /* what follows the options, for the help; NULL: nothing */
	const char *summary, *text;	  /* one line; text of the help after the options, or NULL */
	const struct cli_option *options; /* the last one has no name; NULL: none */
	bool takes_words;		  /* the first argument ends the options; the rest is not parsed */
	int (*run)(struct cli *cli);	  /* returns the exit status */
};

struct cli_program {
	const char *name, *summary, *text;
	const struct cli_command *const *commands; /* ends with NULL */
};

/* One command line. argv[0] is the command's last word. */
struct cli {
	const struct cli_program *program;
	const struct cli_command *command;
	int argc, at; /* at: the next word */
	char **argv;
	int num_arguments; /* of those read; they are at argv[1] */
	bool only_arguments;
	char *value; /* of the option that cli_next returned last; NULL: none */
};

/* Finds the command, runs it, and returns the exit status. */
int cli_main(const struct cli_program *program, int argc, char **argv);

/* Returns the id of the next option, or CLI_END. */
int cli_next(struct cli *cli);

/* Called after CLI_END: returns the arguments and their number, from min to max. */
char **cli_arguments(const struct cli *cli, int min, int max, int *num);

/* Returns the value of the last option as a number from min to max. */
long cli_number(const struct cli *cli, const char *option, long min, long max);

/* Prints one line, with the command in front, and the one that names the help; ends the program with status 2. */
_Noreturn void cli_wrong(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a word that is no known one of its kind. nearest: the known word that it resembles, or NULL. */
_Noreturn void cli_unknown(const struct cli *cli, const char *kind, const char *word, const char *nearest);

/* ---- help.c ---- */

#define CLI_LABEL_SIZE 128

extern const struct cli_option cli_options_always[];

/* Writes the names: "-o, --output". Returns the length. */
size_t cli_option_label(const struct cli_option *option, char label[CLI_LABEL_SIZE]);

/* Prints the help; command NULL: of the program, or of its commands that begin with group and a space. */
void cli_help(const struct cli_program *program, const struct cli_command *command, const char *group);

#endif
