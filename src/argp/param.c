/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp/param.h"
#include "argp/parser.h"
#include "base/log.h"

/* A registered flag no longer changes: lookups rely on its names. */
static bool param_is_settable(const struct doca_argp_param *param)
{
	char label[SF_ARGP_LABEL_SIZE];

	if (param == NULL) {
		SF_LOG_ERR("param is NULL");
		return false;
	}
	if (param->registered)
		SF_LOG_ERR("flag %s is registered and can no longer change", sf_argp_param_label(param, label, sizeof(label)));
	return !param->registered;
}

static void string_set(struct doca_argp_param *param, char **field, const char *text)
{
	free(*field);
	*field = NULL;
	if (text == NULL)
		return;
	*field = strdup(text);
	if (*field == NULL)
		param->copy_failed = true;
}

bool sf_argp_name_valid(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > SF_ARGP_NAME_LEN_MAX || name[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isprint((unsigned char)name[i]) || name[i] == '=') /* NVIDIA's samples have a name with a space */
			return false;
	}
	return true;
}

const char *sf_argp_param_label(const struct doca_argp_param *param, char *label, size_t label_size)
{
	if (param->short_name != NULL && param->long_name != NULL)
		snprintf(label, label_size, "-%s, --%s", param->short_name, param->long_name);
	else if (param->short_name != NULL)
		snprintf(label, label_size, "-%s", param->short_name);
	else
		snprintf(label, label_size, "--%s", param->long_name != NULL ? param->long_name : "(no name)");
	return label;
}

doca_error_t sf_argp_param_check(const struct doca_argp_param *param)
{
	char label[SF_ARGP_LABEL_SIZE];
	const char *missing = NULL;

	sf_argp_param_label(param, label, sizeof(label));
	if (param->copy_failed)
		missing = "memory for its texts";
	else if (param->short_name == NULL && param->long_name == NULL)
		missing = "a name";
	else if (param->description == NULL)
		missing = "a description";
	else if (param->callback == NULL)
		missing = "a callback";
	else if (param->type == DOCA_ARGP_TYPE_UNKNOWN)
		missing = "a type";
	if (missing != NULL) {
		SF_LOG_ERR("flag %s cannot be registered: it lacks %s", label, missing);
		return DOCA_ERROR_INITIALIZATION;
	}
	if ((unsigned int)param->type > DOCA_ARGP_TYPE_DOUBLE) {
		SF_LOG_ERR("flag %s cannot be registered: %d is not a doca_argp_type", label, (int)param->type);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((param->short_name != NULL && !sf_argp_name_valid(param->short_name)) ||
	    (param->long_name != NULL && !sf_argp_name_valid(param->long_name))) {
		SF_LOG_ERR("flag %s cannot be registered: a name has 1 to %d printable characters, no '=', and no leading dash",
			   label, SF_ARGP_NAME_LEN_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

void sf_argp_param_free(struct doca_argp_param *param)
{
	if (param == NULL)
		return;
	free(param->short_name);
	free(param->long_name);
	free(param->arguments);
	free(param->description);
	free(param);
}

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	struct doca_argp_param *created;

	if (param == NULL) {
		SF_LOG_ERR("param is NULL: no flag created");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_argp_is_initialized()) {
		SF_LOG_ERR("flag not created: call doca_argp_init first");
		return DOCA_ERROR_BAD_STATE;
	}
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("flag not created: out of memory");
		return DOCA_ERROR_NO_MEMORY;
	}
	*param = created;
	return DOCA_SUCCESS;
}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (param_is_settable(param))
		string_set(param, &param->short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (param_is_settable(param))
		string_set(param, &param->long_name, name);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
	if (param_is_settable(param))
		string_set(param, &param->arguments, arguments);
}

void doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
	if (param_is_settable(param))
		string_set(param, &param->description, description);
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (param_is_settable(param))
		param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	if (param_is_settable(param))
		param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->multiple = true;
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->singular = true;
}

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->inherited = true;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	if (param_is_settable(param))
		param->hidden = true;
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	char label[SF_ARGP_LABEL_SIZE];

	if (param == NULL) {
		SF_LOG_ERR("param is NULL: no flag to destroy");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (param->registered) {
		SF_LOG_ERR("flag %s is registered: doca_argp_destroy frees it", sf_argp_param_label(param, label, sizeof(label)));
		return DOCA_ERROR_BAD_STATE;
	}
	sf_argp_param_free(param);
	return DOCA_SUCCESS;
}
