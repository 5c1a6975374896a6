/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "argp/cli.h"
#include "argp/general.h"
#include "argp/report.h"
#include "base/command_line.h"

static const void *param_find(const void *scope, const char *name, size_t len, bool is_long)
{
	const struct doca_argp_cmd *cmd = (const struct doca_argp_cmd *)scope;

	return is_long ? sf_argp_cmd_find_long(cmd, name, len) : sf_argp_cmd_find_short(cmd, name, len);
}

static doca_error_t value_missing(const struct doca_argp_param *param, const char *next)
{
	char label[SF_ARGP_LABEL_SIZE], text[SF_COMMAND_LINE_TEXT_SIZE];

	sf_text_value_missing(text, "flag", sf_argp_param_label(param, label, sizeof(label)), param->long_name, next);
	sf_argp_report("%s", text);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Adds a flag with the value behind its '=', or else with the next word. Sets *took_next. */
static doca_error_t flag_read(struct sf_argp_cli *cli, const struct doca_argp_param *param, const char *text, const char *next,
			      bool *took_next)
{
	const struct sf_options options = {param_find, cli->cmd};
	struct sf_argp_item item = {.param = param, .value.boolean = true};
	doca_error_t result;

	*took_next = param->type != DOCA_ARGP_TYPE_BOOLEAN && text == NULL;
	if (*took_next) {
		text = sf_option_value(&options, next);
		if (text == NULL)
			return value_missing(param, next);
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

static doca_error_t flag_unknown(const struct doca_argp_cmd *cmd, const char *word)
{
	char text[SF_COMMAND_LINE_TEXT_SIZE];
	const char *nearest = NULL;

	for (const struct doca_argp_cmd *level = cmd; level != NULL && strncmp(word, "--", 2) == 0; level = level->parent) {
		for (const struct doca_argp_param *param = level->params; param != NULL; param = param->next) {
			if (param->long_name != NULL && !param->hidden && (level == cmd || param->inherited))
				nearest = sf_word_nearer(word + 2, nearest, param->long_name);
		}
	}
	sf_text_unknown(text, "flag", word, nearest);
	sf_argp_report("%s", text);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t cmd_unknown(const struct doca_argp_cmd *parent, const char *word)
{
	char text[SF_COMMAND_LINE_TEXT_SIZE];
	const char *nearest = NULL;

	for (const struct doca_argp_cmd *cmd = parent->cmds; cmd != NULL; cmd = cmd->next) {
		if (!cmd->hidden)
			nearest = sf_word_nearer(word, nearest, cmd->name);
	}
	sf_text_unknown(text, "command", word, nearest);
	sf_argp_report("%s", text);
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
		const struct sf_options options = {param_find, cli->cmd};
		const char *value;
		const struct doca_argp_param *param = sf_option_read(&options, argv[at], &value);
		bool took_next = false;

		if (param != NULL)
			result = flag_read(cli, param, value, at + 1 < argc ? argv[at + 1] : NULL, &took_next);
		else if (sf_option_begins(argv[at]))
			result = flag_unknown(cli->cmd, argv[at]);
		else
			result = cmd_read(cli, argv[at]);
		at += took_next;
	}
	return result;
}
