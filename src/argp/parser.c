/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp/parser.h"

#include <errno.h>

struct sf_argp sf_argp;

bool sf_argp_is_initialized(void)
{
	return sf_argp.initialized;
}

const char *sf_argp_program_name(void)
{
	return sf_argp.program_name[0] != '\0' ? sf_argp.program_name : program_invocation_short_name;
}

void *sf_argp_program_config(void)
{
	return sf_argp.config;
}

doca_argp_logger_cb_t sf_argp_logger(void)
{
	return sf_argp.logger_callback;
}

doca_argp_param_cb_t sf_argp_version_callback(void)
{
	return sf_argp.version_callback;
}

bool sf_argp_has_dpdk(void)
{
	return sf_argp.dpdk_callback != NULL;
}
