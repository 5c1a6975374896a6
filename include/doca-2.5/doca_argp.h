/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_argp.h
 * Command lines and parameter files: today's, and gRPC programs.
 */
#ifndef DOCA_2_5_ARGP_H_
#define DOCA_2_5_ARGP_H_

#include "../doca_argp.h"
#include <doca_error.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Declares that the program uses gRPC: it gets the flag -g, --grpc-address, whose value is an address with or without a port.
 * Call it between doca_argp_init() and doca_argp_start().
 */
DOCA_EXPERIMENTAL
void doca_argp_set_grpc_program(void) DOCA_2_5_SYMBOL(doca_2_2_argp_set_grpc_program);

/**
 * The value of --grpc-address, owned by the library until the next doca_argp_set_grpc_program().
 * @retval DOCA_ERROR_INVALID_VALUE no gRPC program, or the flag was not given
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_grpc_addr(const char **address) DOCA_2_5_SYMBOL(doca_2_2_argp_get_grpc_addr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_ARGP_H_ */
