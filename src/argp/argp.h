/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one parser of the process: what doca_argp_init made and the other files ask about. It belongs to one thread.
 *
 * doca_argp_start reads everything first (cli.c, json.c), then checks it as a whole (check.c), and only then calls the
 * program back: log levels (general.c), values of the file, flags and commands of the command line in their order,
 * DPDK (dpdk.c), and the validation callback last.
 */
#ifndef SF_ARGP_ARGP_H
#define SF_ARGP_ARGP_H

#include <stdbool.h>

#include <doca_argp.h>

#include "argp/cmd.h"

bool sf_argp_initialized(void);
const char *sf_argp_program_name(void);
void *sf_argp_config(void);
doca_argp_logger_cb_t sf_argp_logger(void);
doca_argp_param_cb_t sf_argp_version_callback(void);
bool sf_argp_dpdk(void);

#endif
