/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield explain: explains an error code, a rule or a log line. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/explain.h"
#include "explain_codes.h"
#include "validation/rules.h"
#include "printable.h"
#include "tool.h"

#define HEAD_FIELDS 6 /* [time][thread][DOCA][level][file:line][function] */

/* A parsed log line; missing fields are empty. */
struct log_line {
	char file[64], function[64], message[1024];
	int line;
};

static void field_copy(char *out, size_t size, const char *text, size_t len)
{
	snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), text);
}

/* Parses the fields in brackets at the beginning. Returns the rest, or NULL: it is no log line. */
static const char *read_head(const char *text, struct log_line *line)
{
	const char *fields[HEAD_FIELDS], *colon;
	size_t lens[HEAD_FIELDS];

	for (int i = 0; i < HEAD_FIELDS; i++) {
		fields[i] = text + 1;
		lens[i] = strcspn(fields[i], "]");
		if (*text != '[' || fields[i][lens[i]] != ']')
			return NULL;
		text = fields[i] + lens[i] + 1;
	}
	colon = memchr(fields[4], ':', lens[4]);
	if (!colon)
		return NULL;
	field_copy(line->file, sizeof(line->file), fields[4], (size_t)(colon - fields[4]));
	line->line = atoi(colon + 1);
	field_copy(line->function, sizeof(line->function), fields[5], lens[5]);
	return text + strspn(text, " ");
}

static void copy_member(struct json_object *object, const char *name, char *out, size_t size)
{
	struct json_object *value;

	if (json_object_object_get_ex(object, name, &value) && json_object_is_type(value, json_type_string))
		field_copy(out, size, json_object_get_string(value), strlen(json_object_get_string(value)));
}

/* Returns false if it is no line of JSON. */
static bool read_json(const char *text, struct log_line *line)
{
	struct json_object *object = *text == '{' ? json_tokener_parse(text) : NULL, *number;

	if (!object)
		return false;
	copy_member(object, "file", line->file, sizeof(line->file));
	copy_member(object, "function", line->function, sizeof(line->function));
	copy_member(object, "message", line->message, sizeof(line->message));
	if (json_object_object_get_ex(object, "line", &number))
		line->line = json_object_get_int(number);
	json_object_put(object);
	return true;
}

static void read_line(const char *text, struct log_line *line)
{
	const char *message;

	*line = (struct log_line){0};
	if (read_json(text, line))
		return;
	message = read_head(text, line);
	field_copy(line->message, sizeof(line->message), message ? message : text, strcspn(message ? message : text, "\n"));
}

static void print_field(const char *name, const char *text)
{
	if (*text)
		printf("%-9s %s\n", name, text);
}

static void print_code(doca_error_t code)
{
	const struct explained_code *explained = explain_code(code);

	printf("%-9s %s (%d): %s\n", "code", doca_error_get_name(code), (int)code, doca_error_get_descr(code));
	print_field("causes", explained->causes);
	print_field("fix", explained->fix);
}

static void print_rule(const struct sf_rule_text *rule)
{
	print_field("rule", rule->id);
	print_field("object", rule->object);
	print_field("means", rule->rule);
	print_field("why", rule->why);
	print_field("fix", rule->fix);
}

/* Returns the rule at the beginning of a validation report, or NULL. */
static const struct sf_rule_text *rule_of(const char *message)
{
	char id[SF_RULE_ID_MAX];
	size_t len = strcspn(message, ":");

	if (len >= sizeof(id))
		return NULL;
	field_copy(id, sizeof(id), message, len);
	return sf_rule_find(id);
}

static int explain_line(char *text)
{
	struct softfield_error error;
	struct log_line line;
	doca_error_t code;

	read_line(text, &line);
	/* The line may contain a peer's text, and goes to a terminal. */
	make_printable(line.file);
	make_printable(line.function);
	make_printable(line.message);
	if (rule_of(line.message) != NULL) {
		print_rule(rule_of(line.message));
		return TOOL_OK;
	}
	sf_explain(line.file, line.line, line.function, line.message, &error);
	print_field("object", error.object);
	print_field("call", error.call);
	print_field("argument", error.argument);
	print_field("rule", error.rule);
	print_field("cause", error.cause);
	print_field("fix", error.fix);
	if (*error.file)
		printf("%-9s %s, line %d of %s\n", "logged by", error.function, error.line, error.file);
	if (explain_find_code_in(line.message, &code))
		print_code(code);
	return TOOL_OK;
}

/* Joins the words of a line that the shell has split. */
static char *words_join(int argc, char **argv)
{
	size_t size = 1;
	char *text;

	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	for (int i = 0; text && i < argc; i++) {
		if (i != 0)
			strcat(text, " ");
		strcat(text, argv[i]);
	}
	return text;
}

static int explain_word(const char *word)
{
	const char *nearest = explain_nearest_code(word);
	doca_error_t code;

	if (explain_find_code(word, &code))
		print_code(code);
	else if (sf_rule_find(word) != NULL)
		print_rule(sf_rule_find(word));
	else if (nearest != NULL)
		return tool_fail("%s is not a DOCA error code; did you mean %s?", word, nearest);
	else
		return tool_fail("%s is not a DOCA error code; give a name such as DOCA_ERROR_DRIVER, a number, a rule such as "
				 "SF-MMAP-003, or a whole log line",
				 word);
	return TOOL_OK;
}

static int explain_run(struct cli *cli)
{
	char **words, *text;
	int num, result;

	(void)cli_next(cli);
	words = cli_arguments(cli, 1, INT_MAX, &num);
	if (num == 1 && words[0][0] == '\0')
		cli_wrong(cli, "needs %s", cli->command->arguments);
	if (num == 1 && words[0][strcspn(words[0], " ")] == '\0')
		return explain_word(words[0]);
	text = words_join(num, words);
	if (!text)
		return tool_fail("no memory");
	result = explain_line(text);
	free(text);
	return result;
}

const struct cli_command tool_explain = {
	.name = "explain",
	.arguments = "CODE|RULE|LINE",
	.summary = "Explain an error code, a rule or a log line, with advice.",
	.text = "CODE is a name such as DOCA_ERROR_DRIVER or a number, RULE one of validation such as SF-MMAP-003, LINE a line "
		"that the\n"
		"libraries logged, quoted or not.\n",
	.takes_words = true,
	.run = explain_run,
};
