/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of command lines, for libdoca_argp and for our own programs: how a word names an option, where its value is, and what
 * an error says.
 */
#ifndef SF_BASE_COMMAND_LINE_H
#define SF_BASE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/visibility.h"

#define SF_EXIT_USAGE 2 /* exit status of our own programs for a wrong command line */
#define SF_COMMAND_LINE_TEXT_SIZE 512

/* The options that a word may name. */
struct sf_options {
	/* Returns the option whose name is the first len bytes, which have no dashes; or NULL. */
	const void *(*find)(const void *scope, const char *name, size_t len, bool is_long);
	const void *scope;
};

/* Returns true for a dash and more; one dash alone is an argument. */
SF_API bool sf_option_begins(const char *word);

/*
 * The option that a word names, or NULL: "--name" or "--name=value", whose value is returned too, and "-name" with the whole
 * short name.
 */
SF_API const void *sf_option_read(const struct sf_options *options, const char *word, const char **value);

/* Returns the next word, if there is one, as the value of the option before it; NULL if it is an option itself. */
SF_API const char *sf_option_value(const struct sf_options *options, const char *next);

/* "there is no KIND WORD", with the nearest known word unless that is NULL. For an option it is given without dashes. */
SF_API void sf_text_unknown(char text[SF_COMMAND_LINE_TEXT_SIZE], const char *kind, const char *word, const char *nearest);

/* Of an option without a value. label: its names; name: the long one, or NULL; next: the option behind it, or NULL. */
SF_API void sf_text_value_missing(char text[SF_COMMAND_LINE_TEXT_SIZE], const char *kind, const char *label, const char *name,
				  const char *next);

/* Of the two known words, the one that is closer to a mistyped one, or NULL if neither is similar. The first may be NULL. What
 * follows an '=' of the mistyped word does not count. */
SF_API const char *sf_word_nearer(const char *mistyped, const char *nearest, const char *word);

/* The last line about a wrong command line, on stderr. command: words behind the program's name, or "". */
SF_API void sf_print_help_hint(const char *program, const char *command);

/* The answer to --version. */
SF_API void sf_print_version(const char *program);

#endif
