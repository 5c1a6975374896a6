/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>
#include <doca_version.h>

#include "argp/general.h"
#include "argp/parser.h"
#include "argp/report.h"

#define LEVELS "<10=DISABLE, 20=CRITICAL, 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE>"

static int program_level; /* 0: not given */
static int sdk_level;

static bool level_valid(int level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

static doca_error_t level_reject(const char *flag, int level)
{
	sf_argp_report("--%s takes one of " LEVELS ", not %d", flag, level);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t log_level_apply(void *value, void *config)
{
	int level = *(int *)value;

	if (!level_valid(level))
		return level_reject("log-level", level);
	program_level = level;
	return doca_log_level_set_global_lower_limit((uint32_t)level);
}

static doca_error_t sdk_log_level_apply(void *value, void *config)
{
	int level = *(int *)value;

	if (!level_valid(level))
		return level_reject("sdk-log-level", level);
	sdk_level = level;
	return doca_log_level_set_global_sdk_limit((uint32_t)level);
}

/* Help, version and parameter file take effect while the command line is read. */
static doca_error_t nothing_to_apply(void *value, void *config)
{
	return DOCA_SUCCESS;
}

struct general_flag {
	const char *short_name;
	const char *long_name;
	const char *arguments;
	const char *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
	bool cli_only;
};

static const struct general_flag general_flags[] = {
	{"h", "help", NULL, "Print a help synopsis", DOCA_ARGP_TYPE_BOOLEAN, nothing_to_apply, true},
	{"v", "version", NULL, "Print program version information", DOCA_ARGP_TYPE_BOOLEAN, nothing_to_apply, true},
	{"l", "log-level", NULL, "Set the (numeric) log level for the program " LEVELS, DOCA_ARGP_TYPE_INT, log_level_apply,
	 false},
	{NULL, "sdk-log-level", NULL, "Set the SDK (numeric) log level for the program " LEVELS, DOCA_ARGP_TYPE_INT,
	 sdk_log_level_apply, false},
	{"j", "json", "<path>", "Parse command line flags from an input json file", DOCA_ARGP_TYPE_STRING, nothing_to_apply,
	 true},
};

static doca_error_t flag_register(struct doca_argp_cmd *root, const struct general_flag *flag)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, flag->short_name);
	doca_argp_param_set_long_name(param, flag->long_name);
	doca_argp_param_set_arguments(param, flag->arguments);
	doca_argp_param_set_description(param, flag->description);
	doca_argp_param_set_type(param, flag->type);
	doca_argp_param_set_callback(param, flag->callback);
	param->cli_only = flag->cli_only;
	param->inherited = true;
	param->general = true;
	return sf_argp_cmd_add_param(root, param);
}

doca_error_t sf_argp_general_register(struct doca_argp_cmd *root)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < sizeof(general_flags) / sizeof(general_flags[0]) && result == DOCA_SUCCESS; i++)
		result = flag_register(root, &general_flags[i]);
	return result;
}

static bool is_general(const struct doca_argp_param *param, const char *long_name)
{
	return param->general && strcmp(param->long_name, long_name) == 0;
}

bool sf_argp_general_is_help(const struct doca_argp_param *param)
{
	return is_general(param, "help");
}

bool sf_argp_general_is_version(const struct doca_argp_param *param)
{
	return is_general(param, "version");
}

bool sf_argp_general_is_json(const struct doca_argp_param *param)
{
	return is_general(param, "json");
}

doca_error_t sf_argp_general_print_version(void)
{
	doca_argp_param_cb_t callback = sf_argp_version_callback();
	doca_error_t result = DOCA_SUCCESS;
	bool given = true;

	if (callback != NULL)
		result = callback(&given, sf_argp_program_config());
	else
		printf("%s: DOCA API %s\n", sf_argp_program_name(), doca_version_runtime());
	if (result == DOCA_SUCCESS)
		fflush(stdout);
	return result;
}

int sf_argp_general_log_level(void)
{
	return program_level;
}

int sf_argp_general_sdk_log_level(void)
{
	return sdk_level;
}

void sf_argp_general_reset(void)
{
	program_level = 0;
	sdk_level = 0;
}
