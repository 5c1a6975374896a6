/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp/check.h"
#include "argp/cli.h"
#include "argp/device.h"
#include "argp/dpdk.h"
#include "argp/file.h"
#include "argp/general.h"
#include "argp/parser.h"
#include "argp/report.h"
#include "argp/usage.h"
#include "base/command_line.h"
#include "base/log.h"

/* Common start of the calls that need a live parser. */
static doca_error_t argp_require_init(const char *what)
{
	if (sf_argp.initialized)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: call doca_argp_init first", what);
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	doca_error_t result;

	if (sf_argp.initialized) {
		SF_LOG_ERR("the argument parser is already initialized: call doca_argp_destroy before a second doca_argp_init");
		return DOCA_ERROR_BAD_STATE;
	}
	if (program_name != NULL && strlen(program_name) > SF_ARGP_PROGRAM_NAME_LEN_MAX) {
		SF_LOG_ERR("the program name has %zu characters: the maximum is %d", strlen(program_name),
			   SF_ARGP_PROGRAM_NAME_LEN_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memset(&sf_argp, 0, sizeof(sf_argp));
	if (program_name != NULL)
		strcpy(sf_argp.program_name, program_name);
	sf_argp.config = program_config;
	sf_argp.root.registered = true;
	sf_argp.last = &sf_argp.root;
	sf_argp.initialized = true;
	sf_argp_general_reset();
	result = sf_argp_general_register(&sf_argp.root);
	if (result != DOCA_SUCCESS) {
		doca_argp_destroy();
		return DOCA_ERROR_NO_MEMORY; /* the DOCA flags are valid, so nothing else can fail */
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
	doca_error_t result = argp_require_init("flag not registered");

	if (result == DOCA_SUCCESS && input_param == NULL) {
		SF_LOG_ERR("flag not registered: input_param is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS) {
		if (input_param != NULL && !input_param->registered)
			sf_argp_param_free(input_param);
		return result;
	}
	return sf_argp_cmd_add_param(&sf_argp.root, input_param);
}

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd)
{
	doca_error_t result = argp_require_init("command not registered");

	if (result == DOCA_SUCCESS && input_cmd == NULL) {
		SF_LOG_ERR("command not registered: input_cmd is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (result != DOCA_SUCCESS) {
		if (input_cmd != NULL && !input_cmd->registered)
			doca_argp_cmd_destroy(input_cmd);
		return result;
	}
	return sf_argp_cmd_add_cmd(&sf_argp.root, input_cmd);
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	doca_error_t result = argp_require_init("version callback not registered");

	if (result != DOCA_SUCCESS)
		return result;
	if (callback == NULL) {
		SF_LOG_ERR("version callback not registered: it is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_argp.version_callback = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	doca_error_t result = argp_require_init("validation callback not registered");

	if (result != DOCA_SUCCESS)
		return result;
	if (callback == NULL) {
		SF_LOG_ERR("validation callback not registered: it is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_argp.validation_callback = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
	doca_error_t result = argp_require_init("logger callback not registered");

	if (result != DOCA_SUCCESS)
		return result;
	if (callback == NULL) {
		SF_LOG_ERR("logger callback not registered: it is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_argp.logger_callback != NULL) {
		SF_LOG_ERR("logger callback not registered: one is registered already: call doca_argp_disable_logger_callback "
			   "first");
		return DOCA_ERROR_ALREADY_EXIST;
	}
	sf_argp.logger_callback = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	doca_error_t result = argp_require_init("logger callback not disabled");

	if (result != DOCA_SUCCESS)
		return result;
	if (sf_argp.logger_callback == NULL) {
		SF_LOG_ERR("no logger callback to disable: none is registered");
		return DOCA_ERROR_BAD_STATE;
	}
	sf_argp.logger_callback = NULL;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	doca_error_t result = argp_require_init("callback to open devices not registered");

	if (result != DOCA_SUCCESS)
		return result;
	if (callback == NULL) {
		SF_LOG_ERR("callback to open devices not registered: it is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_argp_device_set_open(callback, usr_ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_pedantic_config_parsing(void)
{
	doca_error_t result = argp_require_init("unknown keys not ignored");

	if (result == DOCA_SUCCESS)
		sf_argp.ignores_unknown_keys = true;
	return result;
}

void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	if (argp_require_init("DPDK program not set") == DOCA_SUCCESS)
		sf_argp.dpdk_callback = callback;
}

void doca_argp_usage(void)
{
	if (argp_require_init("no usage to print") == DOCA_SUCCESS)
		sf_argp_usage_print(stdout, sf_argp.last);
}

void sf_argp_errors_shorten(void)
{
	sf_argp.errors_short = true;
}

static void usage_after_error(const struct doca_argp_cmd *cmd)
{
	if (sf_argp.errors_short)
		sf_print_help_hint(sf_argp_program_name(), "");
	else
		sf_argp_usage_print(stderr, cmd);
}

static void program_name_from(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (sf_argp.program_name[0] == '\0')
		snprintf(sf_argp.program_name, sizeof(sf_argp.program_name), "%s", slash != NULL ? slash + 1 : path);
}

/* Passes the value to the callback in the form of the flag's type. */
static doca_error_t item_apply(struct sf_argp_item *item)
{
	char label[SF_ARGP_LABEL_SIZE];
	struct sf_argp_device device = {0};
	doca_error_t result;
	void *value;

	if (item->cmd != NULL)
		return item->cmd->callback != NULL ? item->cmd->callback(sf_argp.config) : DOCA_SUCCESS;
	switch (item->param->type) {
	case DOCA_ARGP_TYPE_INT:
		value = &item->value.integer;
		break;
	case DOCA_ARGP_TYPE_BOOLEAN:
		value = &item->value.boolean;
		break;
	case DOCA_ARGP_TYPE_DOUBLE:
		value = &item->value.number;
		break;
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP:
		result = sf_argp_device_open(&device, item->param, item->value.string);
		if (result != DOCA_SUCCESS) {
			usage_after_error(sf_argp.last);
			return result;
		}
		value = item->param->type == DOCA_ARGP_TYPE_DEVICE ? (void *)&device.ctx.dev_ctx : (void *)&device.ctx;
		break;
	case DOCA_ARGP_TYPE_JSON_OBJ:
		value = item->value.json;
		break;
	default:
		value = (void *)(uintptr_t)item->value.string; /* the callback's type has no const */
		break;
	}
	result = item->param->callback(value, sf_argp.config);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	sf_argp_device_close(&device);
	if (!item->param->general && !sf_argp.errors_short) /* general flags, and our own programs, report their own errors */
		sf_argp_report("%s: invalid value (%s)", sf_argp_param_label(item->param, label, sizeof(label)),
			       doca_error_get_name(result));
	usage_after_error(sf_argp.last);
	return result;
}

/* General flags come first, so that the log levels apply while the program's callbacks run. */
static doca_error_t items_apply(struct sf_argp_items *items, const struct sf_argp_items *overriding, bool general)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < items->count && result == DOCA_SUCCESS; i++) {
		struct sf_argp_item *item = &items->list[i];
		bool is_general = item->param != NULL && item->param->general;

		if (is_general != general)
			continue;
		if (overriding != NULL && sf_argp_items_count_param(overriding, item->param) != 0)
			continue;
		result = item_apply(item);
	}
	return result;
}

static doca_error_t apply_all(struct sf_argp_cli *cli, struct sf_argp_file *file)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int general = 1; general >= 0 && result == DOCA_SUCCESS; general--) {
		result = items_apply(&file->items, &cli->items, general);
		if (result == DOCA_SUCCESS)
			result = items_apply(&cli->items, NULL, general);
	}
	if (result == DOCA_SUCCESS && sf_argp.dpdk_callback != NULL)
		result = sf_argp.dpdk_callback(sf_argp.eal.argc, sf_argp.eal.argv);
	if (result != DOCA_SUCCESS || sf_argp.validation_callback == NULL)
		return result;
	result = sf_argp.validation_callback(sf_argp.config);
	if (result != DOCA_SUCCESS && sf_argp.errors_short)
		usage_after_error(sf_argp.last);
	return result;
}

static doca_error_t read_all(struct sf_argp_cli *cli, struct sf_argp_file *file, int argc, char **argv)
{
	doca_error_t result = sf_argp_cli_read(cli, argc, argv);

	sf_argp.last = cli->cmd;
	if (result != DOCA_SUCCESS)
		return result;
	if (cli->help) {
		sf_argp_usage_print(stdout, cli->cmd);
		sf_argp_items_fini(&cli->items);
		doca_argp_destroy();
		exit(EXIT_SUCCESS);
	}
	if (cli->version) {
		sf_argp_items_fini(&cli->items);
		result = sf_argp_general_print_version();
		if (result != DOCA_SUCCESS)
			return result;
		if (sf_argp_is_initialized()) /* the program's callback may have destroyed it */
			doca_argp_destroy();
		exit(EXIT_SUCCESS);
	}
	if (cli->json_path != NULL)
		result = sf_argp_file_read(file, cli->json_path, cli->cmd, sf_argp.dpdk_callback != NULL ? &sf_argp.eal : NULL);
	return result == DOCA_SUCCESS ? sf_argp_items_check(&cli->items, &file->items, cli->cmd) : result;
}

/* DPDK's argv begins with the program's name, as every argv does. */
static doca_error_t argv_split(int *argc, char ***argv)
{
	doca_error_t result;

	program_name_from((*argv)[0]);
	(*argc)--;
	(*argv)++;
	if (sf_argp.dpdk_callback == NULL)
		return DOCA_SUCCESS;
	result = sf_argp_eal_add(&sf_argp.eal, (*argv)[-1]);
	return result == DOCA_SUCCESS ? sf_argp_eal_split(&sf_argp.eal, *argc, *argv, argc, argv) : result;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	struct sf_argp_cli cli = {.cmd = &sf_argp.root};
	struct sf_argp_file file = {.ignores_unknown = sf_argp.ignores_unknown_keys};
	doca_error_t result = argp_require_init("nothing parsed");

	if (result != DOCA_SUCCESS)
		return result;
	if (sf_argp.started) {
		SF_LOG_ERR("the command line was parsed already: call doca_argp_destroy and doca_argp_init to parse another");
		return DOCA_ERROR_BAD_STATE;
	}
	if (argc < 1 || argv == NULL || argv[0] == NULL) {
		SF_LOG_ERR("nothing parsed: argv needs at least the program's name, argc is %d", argc);
		return DOCA_ERROR_INVALID_VALUE;
	}
	sf_argp.started = true;
	result = argv_split(&argc, &argv);
	if (result == DOCA_SUCCESS)
		result = read_all(&cli, &file, argc, argv);
	if (result != DOCA_SUCCESS)
		usage_after_error(cli.cmd);
	else
		result = apply_all(&cli, &file);
	sf_argp_items_fini(&cli.items);
	sf_argp_file_fini(&file);
	return result;
}

doca_error_t doca_argp_destroy(void)
{
	doca_error_t result = argp_require_init("nothing to destroy");

	if (result != DOCA_SUCCESS)
		return result;
	sf_argp_cmd_fini(&sf_argp.root);
	sf_argp_eal_fini(&sf_argp.eal);
	sf_argp_device_set_open(NULL, NULL);
	memset(&sf_argp, 0, sizeof(sf_argp));
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
	if (log_level == NULL) {
		SF_LOG_ERR("log_level is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*log_level = sf_argp_general_log_level();
	if (*log_level == 0)
		*log_level = (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
	if (log_level == NULL) {
		SF_LOG_ERR("log_level is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*log_level = sf_argp_general_sdk_log_level();
	if (*log_level == 0)
		*log_level = (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
