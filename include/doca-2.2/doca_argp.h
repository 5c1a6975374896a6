/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_argp.h
 * Command lines and parameter files: today's, with the names of the callbacks' types and gRPC programs.
 */
#ifndef DOCA_2_2_ARGP_H_
#define DOCA_2_2_ARGP_H_

#include "../doca_argp.h"
#include <doca_error.h>
#include <doca_log.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called with a parameter's value and the program's configuration. */
typedef doca_error_t (*callback_func)(void *, void *);

/** Called with the words for DPDK. */
typedef doca_error_t (*dpdk_callback)(int argc, char **argv);

/** Called with the program's configuration after all parameters. */
typedef doca_error_t (*validation_callback)(void *);

/**
 * Declares that the program uses gRPC: it gets the flag -g, --grpc-address, whose value is an address with or without a port.
 * Call it between doca_argp_init() and doca_argp_start().
 */
DOCA_EXPERIMENTAL
void doca_argp_set_grpc_program(void) DOCA_2_2_SYMBOL(doca_2_2_argp_set_grpc_program);

/**
 * The value of --grpc-address, owned by the library until the next doca_argp_set_grpc_program().
 * @retval DOCA_ERROR_INVALID_VALUE no gRPC program, or the flag was not given
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_grpc_addr(const char **address) DOCA_2_2_SYMBOL(doca_2_2_argp_get_grpc_addr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_ARGP_H_ */
