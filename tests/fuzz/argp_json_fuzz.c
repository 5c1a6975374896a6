/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter files: the sections, every type of flag, repeated flags and DPDK's flags. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>

#include "argp/cmd.h"
#include "argp/file.h"
#include "argp/general.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct doca_argp_cmd root;

static doca_error_t ignore_value(void *value, void *config)
{
	return DOCA_SUCCESS;
}

/* Messages are not tested here, and would fill the log. */
static doca_error_t ignore_message(enum doca_log_level level, const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	return DOCA_SUCCESS;
}

static void flag_add(const char *name, enum doca_argp_type type, bool multiple)
{
	struct doca_argp_param *param;

	if (doca_argp_param_create(&param) != DOCA_SUCCESS)
		abort();
	doca_argp_param_set_long_name(param, name);
	doca_argp_param_set_description(param, name);
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, ignore_value);
	if (multiple)
		doca_argp_param_set_multiplicity(param);
	if (sf_argp_cmd_add_param(&root, param) != DOCA_SUCCESS)
		abort();
}

static void root_init(void)
{
	if (doca_argp_init("fuzz", NULL) != DOCA_SUCCESS || doca_argp_register_logger_callback(ignore_message) != DOCA_SUCCESS ||
	    sf_argp_general_register(&root) != DOCA_SUCCESS)
		abort();
	flag_add("text", DOCA_ARGP_TYPE_STRING, false);
	flag_add("number", DOCA_ARGP_TYPE_INT, true);
	flag_add("yes", DOCA_ARGP_TYPE_BOOLEAN, false);
	flag_add("object", DOCA_ARGP_TYPE_JSON_OBJ, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sf_argp_file file = {0};
	struct sf_argp_eal eal = {0};

	if (root.params == NULL)
		root_init();
	if (sf_argp_file_read_text(&file, (const char *)data, size, "input", &root, &eal) == DOCA_SUCCESS) {
		for (uint32_t i = 0; i < file.items.count; i++) {
			if (file.items.list[i].param->type == DOCA_ARGP_TYPE_STRING &&
			    strlen(file.items.list[i].value.string) > size)
				abort();
		}
	}
	sf_argp_eal_fini(&eal);
	sf_argp_file_fini(&file);
	return 0;
}
