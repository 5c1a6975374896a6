/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag for the address of gRPC programs. */
#include <doca_argp.h>

#include <stdio.h>

#include "legacy/legacy.h"

#define GRPC_ADDR_MAX 256

static char grpc_addr[GRPC_ADDR_MAX];

static doca_error_t set_addr(void *value, void *config)
{
	int len = snprintf(grpc_addr, sizeof(grpc_addr), "%s", (const char *)value);

	(void)config;
	if (len > 0 && len < (int)sizeof(grpc_addr))
		return DOCA_SUCCESS;
	SF_LOG_ERR("the gRPC address has %d characters: give 1 to %d", len, GRPC_ADDR_MAX - 1);
	grpc_addr[0] = '\0';
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY_API void doca_2_2_argp_set_grpc_program(void)
{
	struct doca_argp_param *param;

	grpc_addr[0] = '\0';
	if (doca_argp_param_create(&param) != DOCA_SUCCESS)
		return;
	doca_argp_param_set_short_name(param, "g");
	doca_argp_param_set_long_name(param, "grpc-address");
	doca_argp_param_set_arguments(param, "<ip-address[:port]>");
	doca_argp_param_set_description(param, "Address of the gRPC server");
	doca_argp_param_set_callback(param, set_addr);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_register_param(param); /* logs errors; this function cannot return them */
}

LEGACY_API doca_error_t doca_2_2_argp_get_grpc_addr(const char **address)
{
	doca_error_t result = legacy_check("doca_argp_get_grpc_addr", address, address);

	if (result == DOCA_SUCCESS && grpc_addr[0] == '\0') {
		SF_LOG_ERR("no gRPC address was given: use the flag -g or --grpc-address");
		result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		*address = grpc_addr;
	return result;
}
