/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a tool: a table of its commands and their options, from which the help, the errors and the parsing come.
 * --help and --version belong to every command. What is wrong with a command line is one line on stderr, and ends the program.
 */
#ifndef TOOL_CLI_H
#define TOOL_CLI_H

#include <stdbool.h>
#include <stddef.h>

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* told on stderr */
	TOOL_USAGE = 2,	 /* the command line was wrong */
	TOOL_CANNOT_RUN = 126,
	TOOL_NO_PROGRAM = 127,
};

#define CLI_END (-1)
#define CLI_ID_LONG 256 /* ids from here on have no short form */

struct cli_option {
	const char *name, *value; /* without its dashes; what the help calls its value, or NULL: it has none */
	const char *text;	  /* of the help */
	int id;			  /* what cli_next returns; a letter is the short form, too */
	bool value_optional;	  /* the value may be left out */
};

struct cli;

struct cli_command {
	const char *name;		  /* "ps"; "topology check"; "" in a program of one command */
	const char *arguments;		  /* what follows the options, for the help; NULL: nothing does */
	const char *summary, *text;	  /* one line; what the help says after the options, or NULL */
	const struct cli_option *options; /* the last one has no name; NULL: none */
	bool takes_words;		  /* the first argument ends the options: what follows it is not looked at */
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
	int argc;
	char **argv;
	char *value; /* of the option that cli_next returned last; NULL: none was given */
	bool begun;
};

/* Finds the command, runs it, and returns the exit status. */
int cli_main(const struct cli_program *program, int argc, char **argv);

/* The id of the next option, or CLI_END. */
int cli_next(struct cli *cli);

/* After CLI_END: the arguments, *num of them, at least min and at most max. */
char **cli_arguments(const struct cli *cli, int min, int max, int *num);

/* The value as a number from min to max; the option is the one that cli_next returned last. */
long cli_number(const struct cli *cli, const char *option, long min, long max);

/* One line, with the command before it, and the end of the program with status 2. */
_Noreturn void cli_wrong(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The help; command NULL: of the program, or of those of its commands that begin with group and a blank. */
void cli_help(const struct cli_program *program, const struct cli_command *command, const char *group);

#endif
