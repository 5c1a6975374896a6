/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "argp/cmd.h"
#include "argp/parser.h"
#include "base/log.h"

static const char *cmd_name(const struct doca_argp_cmd *cmd)
{
	return cmd->name != NULL ? cmd->name : "(no name)";
}

static bool name_is(const char *candidate, const char *name, size_t len)
{
	return candidate != NULL && strlen(candidate) == len && memcmp(candidate, name, len) == 0;
}

static const struct doca_argp_param *own_short(const struct doca_argp_cmd *cmd, const char *name, size_t len, bool inherited)
{
	for (const struct doca_argp_param *param = cmd->params; param != NULL; param = param->next) {
		if ((!inherited || param->inherited) && name_is(param->short_name, name, len))
			return param;
	}
	return NULL;
}

static const struct doca_argp_param *own_long(const struct doca_argp_cmd *cmd, const char *name, size_t len, bool inherited)
{
	for (const struct doca_argp_param *param = cmd->params; param != NULL; param = param->next) {
		if ((!inherited || param->inherited) && name_is(param->long_name, name, len))
			return param;
	}
	return NULL;
}

const struct doca_argp_param *sf_argp_cmd_find_short(const struct doca_argp_cmd *cmd, const char *name, size_t len)
{
	const struct doca_argp_param *param = own_short(cmd, name, len, false);

	for (cmd = cmd->parent; param == NULL && cmd != NULL; cmd = cmd->parent)
		param = own_short(cmd, name, len, true);
	return param;
}

const struct doca_argp_param *sf_argp_cmd_find_long(const struct doca_argp_cmd *cmd, const char *name, size_t len)
{
	const struct doca_argp_param *param = own_long(cmd, name, len, false);

	for (cmd = cmd->parent; param == NULL && cmd != NULL; cmd = cmd->parent)
		param = own_long(cmd, name, len, true);
	return param;
}

const struct doca_argp_param *sf_argp_cmd_find_key(const struct doca_argp_cmd *cmd, const char *name)
{
	const struct doca_argp_param *param = NULL;

	for (; param == NULL && cmd != NULL; cmd = cmd->parent)
		param = own_long(cmd, name, strlen(name), false);
	return param;
}

const struct doca_argp_cmd *sf_argp_cmd_find_cmd(const struct doca_argp_cmd *cmd, const char *name)
{
	for (cmd = cmd->cmds; cmd != NULL; cmd = cmd->next) {
		if (strcmp(cmd->name, name) == 0)
			return cmd;
	}
	return NULL;
}

/* Returns whether the command already has such a name, or it is a name of help. */
static bool name_taken(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	if (param->short_name != NULL && (own_short(cmd, param->short_name, strlen(param->short_name), false) != NULL ||
					  (strcmp(param->short_name, "h") == 0 && !param->general)))
		return true;
	return param->long_name != NULL && (own_long(cmd, param->long_name, strlen(param->long_name), false) != NULL ||
					    (strcmp(param->long_name, "help") == 0 && !param->general));
}

static doca_error_t param_admit(const struct doca_argp_cmd *cmd, const struct doca_argp_param *param)
{
	char label[SF_ARGP_LABEL_SIZE];
	doca_error_t result = sf_argp_param_check(param);

	if (result != DOCA_SUCCESS)
		return result;
	if (name_taken(cmd, param)) {
		SF_LOG_ERR("flag %s cannot be registered: a DOCA flag or an earlier flag has the same name",
			   sf_argp_param_label(param, label, sizeof(label)));
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (cmd->num_params == SF_ARGP_PARAMS_MAX) {
		SF_LOG_ERR("flag %s cannot be registered: there are %d flags, which is the maximum",
			   sf_argp_param_label(param, label, sizeof(label)), SF_ARGP_PARAMS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

doca_error_t sf_argp_cmd_add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	struct doca_argp_param **tail = &cmd->params;
	char label[SF_ARGP_LABEL_SIZE];
	doca_error_t result;

	if (param->registered) { /* a command owns it already, so it is not freed here */
		SF_LOG_ERR("flag %s is registered already", sf_argp_param_label(param, label, sizeof(label)));
		return DOCA_ERROR_BAD_STATE;
	}
	result = param_admit(cmd, param);
	if (result != DOCA_SUCCESS) {
		sf_argp_param_free(param);
		return result;
	}
	if (param->long_name == NULL) /* a parameter file has only long names */
		param->cli_only = true;
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = param;
	cmd->num_params++;
	param->registered = true;
	return DOCA_SUCCESS;
}

static uint32_t cmd_height(const struct doca_argp_cmd *cmd)
{
	uint32_t height = 0;

	for (const struct doca_argp_cmd *child = cmd->cmds; child != NULL; child = child->next) {
		uint32_t below = cmd_height(child);

		height = below > height ? below : height;
	}
	return height + 1;
}

static uint32_t cmd_depth(const struct doca_argp_cmd *cmd)
{
	uint32_t depth = 0;

	for (; cmd != NULL; cmd = cmd->parent)
		depth++;
	return depth;
}

static doca_error_t cmd_admit(const struct doca_argp_cmd *parent, const struct doca_argp_cmd *cmd)
{
	if (cmd->copy_failed || cmd->name == NULL || cmd->description == NULL) {
		SF_LOG_ERR("command %s cannot be registered: it lacks %s", cmd_name(cmd),
			   cmd->copy_failed ? "memory for its texts" : (cmd->name == NULL ? "a name" : "a description"));
		return DOCA_ERROR_INITIALIZATION;
	}
	if (!sf_argp_name_valid(cmd->name)) {
		SF_LOG_ERR("command %s cannot be registered: a name has 1 to %d printable characters, no '=', and no leading "
			   "dash",
			   cmd->name, SF_ARGP_NAME_LEN_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_argp_cmd_find_cmd(parent, cmd->name) != NULL) {
		SF_LOG_ERR("command %s cannot be registered: an earlier command has this name", cmd->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (parent->num_cmds == SF_ARGP_CMDS_MAX || cmd_depth(parent) + cmd_height(cmd) > SF_ARGP_DEPTH_MAX) {
		SF_LOG_ERR("command %s cannot be registered: at most %d commands per level and %d levels are possible", cmd->name,
			   SF_ARGP_CMDS_MAX, SF_ARGP_DEPTH_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static void cmd_free(struct doca_argp_cmd *cmd)
{
	sf_argp_cmd_fini(cmd);
	free(cmd);
}

doca_error_t sf_argp_cmd_add_cmd(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd)
{
	struct doca_argp_cmd **tail = &parent->cmds;
	doca_error_t result;

	if (cmd->registered) {
		SF_LOG_ERR("command %s is registered already", cmd_name(cmd));
		return DOCA_ERROR_BAD_STATE;
	}
	for (const struct doca_argp_cmd *above = parent; above != NULL; above = above->parent) {
		if (above == cmd) {
			SF_LOG_ERR("command %s cannot be registered below itself", cmd_name(cmd));
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	result = cmd_admit(parent, cmd);
	if (result != DOCA_SUCCESS) {
		cmd_free(cmd);
		return result;
	}
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = cmd;
	parent->num_cmds++;
	cmd->parent = parent;
	cmd->registered = true;
	return DOCA_SUCCESS;
}

void sf_argp_cmd_fini(struct doca_argp_cmd *cmd)
{
	while (cmd->cmds != NULL) {
		struct doca_argp_cmd *child = cmd->cmds;

		cmd->cmds = child->next;
		cmd_free(child);
	}
	while (cmd->params != NULL) {
		struct doca_argp_param *param = cmd->params;

		cmd->params = param->next;
		sf_argp_param_free(param);
	}
	cmd->num_cmds = 0;
	cmd->num_params = 0;
	free(cmd->name);
	free(cmd->description);
	cmd->name = NULL;
	cmd->description = NULL;
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	struct doca_argp_cmd *created;

	if (cmd == NULL) {
		SF_LOG_ERR("cmd is NULL: no command created");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_argp_is_initialized()) {
		SF_LOG_ERR("command not created: call doca_argp_init first");
		return DOCA_ERROR_BAD_STATE;
	}
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("command not created: out of memory");
		return DOCA_ERROR_NO_MEMORY;
	}
	*cmd = created;
	return DOCA_SUCCESS;
}

/* A registered command no longer changes: lookups rely on its name. */
static bool cmd_is_settable(const struct doca_argp_cmd *cmd)
{
	if (cmd == NULL) {
		SF_LOG_ERR("cmd is NULL");
		return false;
	}
	if (cmd->registered)
		SF_LOG_ERR("command %s is registered and can no longer change", cmd_name(cmd));
	return !cmd->registered;
}

static void string_set(struct doca_argp_cmd *cmd, char **field, const char *text)
{
	free(*field);
	*field = NULL;
	if (text == NULL)
		return;
	*field = strdup(text);
	if (*field == NULL)
		cmd->copy_failed = true;
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
	if (cmd_is_settable(cmd))
		string_set(cmd, &cmd->name, name);
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
	if (cmd_is_settable(cmd))
		string_set(cmd, &cmd->description, description);
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
	if (cmd_is_settable(cmd))
		cmd->callback = callback;
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
	if (cmd_is_settable(cmd))
		cmd->hidden = true;
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param)
{
	if (cmd == NULL || input_param == NULL) {
		SF_LOG_ERR("flag not registered: %s is NULL", cmd == NULL ? "cmd" : "input_param");
		if (input_param != NULL && !input_param->registered)
			sf_argp_param_free(input_param);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (cmd->registered) {
		SF_LOG_ERR("flag not registered: command %s is registered already and can no longer change", cmd_name(cmd));
		if (!input_param->registered)
			sf_argp_param_free(input_param);
		return DOCA_ERROR_BAD_STATE;
	}
	return sf_argp_cmd_add_param(cmd, input_param);
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd)
{
	if (cmd == NULL || input_cmd == NULL || cmd == input_cmd) {
		SF_LOG_ERR("command not registered: %s",
			   cmd == NULL ? "cmd is NULL" : (input_cmd == NULL ? "input_cmd is NULL" : "it cannot be below itself"));
		if (input_cmd != NULL && input_cmd != cmd && !input_cmd->registered)
			cmd_free(input_cmd);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (cmd->registered) {
		SF_LOG_ERR("command not registered: %s is registered already and can no longer change", cmd_name(cmd));
		if (!input_cmd->registered)
			cmd_free(input_cmd);
		return DOCA_ERROR_BAD_STATE;
	}
	return sf_argp_cmd_add_cmd(cmd, input_cmd);
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	if (cmd == NULL) {
		SF_LOG_ERR("cmd is NULL: no command to destroy");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (cmd->registered) {
		SF_LOG_ERR("command %s is registered: doca_argp_destroy frees it", cmd_name(cmd));
		return DOCA_ERROR_BAD_STATE;
	}
	cmd_free(cmd);
	return DOCA_SUCCESS;
}
