/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "argp/cli.h"
#include "argp/general.h"
#include "argp/report.h"
#include "base/nearest_word.h"

/* Finds the flag that the word names after this command, and a value glued to it by '='. NULL if it is no flag. */
static const struct doca_argp_param *flag_find(const struct doca_argp_cmd *cmd, const char *word, const char **glued)
{
	const char *equals;

	*glued = NULL;
	if (word[0] != '-' || word[1] == '\0')
		return NULL;
	if (word[1] != '-')
		return sf_argp_cmd_find_short(cmd, word + 1, strlen(word + 1));
	equals = strchr(word, '=');
	if (equals == NULL)
		return sf_argp_cmd_find_long(cmd, word + 2, strlen(word + 2));
	*glued = equals + 1;
	return sf_argp_cmd_find_long(cmd, word + 2, (size_t)(equals - word - 2));
}

static doca_error_t value_missing(const struct doca_argp_param *param, const char *next)
{
	char label[SF_ARGP_LABEL_SIZE];

	sf_argp_param_label(param, label, sizeof(label));
	if (next == NULL)
		sf_argp_report("%s needs a value", label);
	else if (param->long_name != NULL)
		sf_argp_report("%s needs a value, but the flag %s follows (if that is the value, write --%s=%s)", label, next,
			       param->long_name, next);
	else
		sf_argp_report("%s needs a value, but the flag %s follows", label, next);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Reads one flag at argv[*at] and advances past its value. */
static doca_error_t flag_read(struct sf_argp_cli *cli, const struct doca_argp_param *param, const char *glued, int argc,
			      char **argv, int *at)
{
	struct sf_argp_item item = {.param = param, .value.boolean = true};
	const char *text = glued;
	const char *ignored;
	doca_error_t result;

	if (param->type != DOCA_ARGP_TYPE_BOOLEAN && text == NULL) {
		if (*at + 1 == argc)
			return value_missing(param, NULL);
		if (flag_find(cli->cmd, argv[*at + 1], &ignored) != NULL)
			return value_missing(param, argv[*at + 1]);
		text = argv[++*at];
	}
	if (text != NULL) {
		result = sf_argp_item_from_text(&item, param, text);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (sf_argp_general_is_help(param))
		cli->help = true;
	else if (sf_argp_general_is_version(param))
		cli->version = true;
	else if (sf_argp_general_is_json(param))
		cli->json_path = item.value.string;
	return sf_argp_items_add(&cli->items, &item);
}

/* ---- suggestions ---- */

/* Returns the word that is closer to the text, or NULL if neither is similar. */
static const char *word_nearer(const char *text, const char *best, const char *word)
{
	const char *const words[] = {word, best, NULL};

	return sf_nearest_word(text, words, 0);
}

static doca_error_t flag_unknown(const struct doca_argp_cmd *cmd, const char *word)
{
	const char *nearest = NULL;

	for (const struct doca_argp_cmd *level = cmd; level != NULL && strncmp(word, "--", 2) == 0; level = level->parent) {
		for (const struct doca_argp_param *param = level->params; param != NULL; param = param->next) {
			if (param->long_name != NULL && !param->hidden && (level == cmd || param->inherited))
				nearest = word_nearer(word + 2, nearest, param->long_name);
		}
	}
	if (nearest != NULL)
		sf_argp_report("there is no flag %s; did you mean --%s?", word, nearest);
	else
		sf_argp_report("there is no flag %s", word);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t cmd_unknown(const struct doca_argp_cmd *parent, const char *word)
{
	const char *nearest = NULL;

	for (const struct doca_argp_cmd *cmd = parent->cmds; cmd != NULL; cmd = cmd->next) {
		if (!cmd->hidden)
			nearest = word_nearer(word, nearest, cmd->name);
	}
	if (nearest != NULL)
		sf_argp_report("there is no command '%s'; did you mean %s?", word, nearest);
	else
		sf_argp_report("there is no command '%s'", word);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* ---- reading ---- */

static doca_error_t cmd_read(struct sf_argp_cli *cli, const char *word)
{
	const struct doca_argp_cmd *cmd = sf_argp_cmd_find_cmd(cli->cmd, word);
	struct sf_argp_item item = {.cmd = cmd};

	if (cmd == NULL && cli->cmd->cmds != NULL)
		return cmd_unknown(cli->cmd, word);
	if (cmd == NULL) {
		sf_argp_report("unexpected argument '%s': it is neither a flag nor a flag's value", word);
		return DOCA_ERROR_INVALID_VALUE;
	}
	cli->cmd = cmd;
	return sf_argp_items_add(&cli->items, &item);
}

doca_error_t sf_argp_cli_read(struct sf_argp_cli *cli, int argc, char **argv)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int at = 0; at < argc && result == DOCA_SUCCESS && !cli->help && !cli->version; at++) {
		const char *glued;
		const struct doca_argp_param *param = flag_find(cli->cmd, argv[at], &glued);

		if (param != NULL) {
			result = flag_read(cli, param, glued, argc, argv, &at);
		} else if (argv[at][0] == '-' && argv[at][1] != '\0') {
			result = flag_unknown(cli->cmd, argv[at]);
		} else {
			result = cmd_read(cli, argv[at]);
		}
	}
	return result;
}
