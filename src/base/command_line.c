/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command_line.h"

#include <stdio.h>
#include <string.h>

#include <doca_version.h>
#include <softfield/version.h>

#include "base/nearest_word.h"

#define WORD_MAX 64   /* a longer one is no mistyped name */
#define SHOWN_MAX 200 /* characters of a word in an error */

/* ---- options ---- */

bool sf_option_begins(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

const void *sf_option_read(const struct sf_options *options, const char *word, const char **value)
{
	size_t len;

	*value = NULL;
	if (!sf_option_begins(word))
		return NULL;
	if (word[1] != '-')
		return options->find(options->scope, word + 1, strlen(word + 1), false);
	len = strcspn(word + 2, "=");
	if (word[2 + len] == '=')
		*value = word + 2 + len + 1;
	return options->find(options->scope, word + 2, len, true);
}

const char *sf_option_value(const struct sf_options *options, const char *next)
{
	const char *ignored;

	return next == NULL || sf_option_read(options, next, &ignored) != NULL ? NULL : next;
}

/* ---- errors ---- */

void sf_text_unknown(char text[SF_COMMAND_LINE_TEXT_SIZE], const char *kind, const char *word, const char *nearest)
{
	bool is_option = word[0] == '-';
	const char *quote = is_option ? "" : "'";
	int len = snprintf(text, SF_COMMAND_LINE_TEXT_SIZE, "there is no %s %s%.*s%s", kind, quote, SHOWN_MAX, word, quote);

	if (nearest != NULL)
		snprintf(text + len, SF_COMMAND_LINE_TEXT_SIZE - (size_t)len, "; did you mean %s%s?", is_option ? "--" : "",
			 nearest);
}

void sf_text_value_missing(char text[SF_COMMAND_LINE_TEXT_SIZE], const char *kind, const char *label, const char *name,
			   const char *next)
{
	int len = snprintf(text, SF_COMMAND_LINE_TEXT_SIZE, "%s needs a value", label);

	if (next != NULL)
		len += snprintf(text + len, SF_COMMAND_LINE_TEXT_SIZE - (size_t)len, ", but the %s %.*s follows", kind, SHOWN_MAX,
				next);
	if (next != NULL && name != NULL)
		snprintf(text + len, SF_COMMAND_LINE_TEXT_SIZE - (size_t)len, " (if that is the value, write --%s=%.*s)", name,
			 SHOWN_MAX / 2, next);
}

const char *sf_word_nearer(const char *mistyped, const char *nearest, const char *word)
{
	const char *const words[] = {word, nearest, NULL};
	char text[WORD_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(mistyped, "="), mistyped);
	return sf_nearest_word(text, words, 0);
}

void sf_print_help_hint(const char *program, const char *command)
{
	fprintf(stderr, "See `%s%s%s --help`.\n", program, command[0] != '\0' ? " " : "", command);
}

void sf_print_version(const char *program)
{
	printf("%s %s, DOCA API %s\n", program, SOFTFIELD_VERSION, doca_version_runtime());
}
