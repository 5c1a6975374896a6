/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(REMOTE_OFFLOAD::OPTIONS);

/* Of Softfield's library alone: an error prints a line that names --help instead of the usage. */
void sf_argp_errors_shorten(void) __attribute__((weak));

doca_error_t options_start_log(void)
{
	struct doca_log_backend *sdk;
	doca_error_t result = doca_log_backend_create_standard();

	if (result == DOCA_SUCCESS)
		result = doca_log_backend_create_with_file_sdk(stderr, &sdk);
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING);
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "log set-up failed: %s\n", doca_error_get_descr(result));
	return result;
}

static doca_error_t register_option(const struct option_spec *spec)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	if (spec->short_name)
		doca_argp_param_set_short_name(param, spec->short_name);
	doca_argp_param_set_long_name(param, spec->long_name);
	doca_argp_param_set_arguments(param, spec->arguments);
	doca_argp_param_set_description(param, spec->description);
	doca_argp_param_set_type(param, spec->type);
	doca_argp_param_set_callback(param, spec->callback);
	if (spec->mandatory)
		doca_argp_param_set_mandatory(param);
	if (spec->multiple)
		doca_argp_param_set_multiplicity(param);
	return doca_argp_register_param(param);
}

static doca_error_t print_version(void *param, void *config)
{
	(void)param;
	(void)config;
	printf("%s %s, DOCA API %s\n", program_invocation_short_name, PROGRAM_VERSION, doca_version_runtime());
	return DOCA_SUCCESS;
}

doca_error_t options_parse(int argc, char **argv, const struct option_spec *specs, size_t spec_count, void *config)
{
	return options_parse_validated(argc, argv, specs, spec_count, config, NULL);
}

doca_error_t options_parse_validated(int argc, char **argv, const struct option_spec *specs, size_t spec_count, void *config,
				     doca_argp_validation_cb_t validate)
{
	doca_error_t result = doca_argp_init(NULL, config);

	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("command line parser did not start: %s", doca_error_get_descr(result));
		return result;
	}
	if (sf_argp_errors_shorten != NULL)
		sf_argp_errors_shorten();
	result = doca_argp_register_version_callback(print_version);
	if (result == DOCA_SUCCESS && validate != NULL)
		result = doca_argp_register_validation_callback(validate);
	for (size_t i = 0; i < spec_count && result == DOCA_SUCCESS; i++) {
		result = register_option(&specs[i]);
		if (result != DOCA_SUCCESS)
			DOCA_LOG_ERR("option --%s not registered: %s", specs[i].long_name, doca_error_get_descr(result));
	}
	if (result == DOCA_SUCCESS)
		result = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return result;
}

doca_error_t option_copy_text(const char *name, const void *param, char *text)
{
	size_t len = strnlen(param, OPTION_TEXT_MAX);

	if (len == 0 || len == OPTION_TEXT_MAX) {
		DOCA_LOG_ERR("--%s must have 1 to %d characters", name, OPTION_TEXT_MAX - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(text, param, len + 1);
	return DOCA_SUCCESS;
}

doca_error_t option_number(const char *name, const void *param, int min, int max, uint32_t *number)
{
	int value = *(const int *)param;

	if (value < min || value > max) {
		DOCA_LOG_ERR("--%s %d is out of range: it can be %d to %d", name, value, min, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*number = (uint32_t)value;
	return DOCA_SUCCESS;
}
