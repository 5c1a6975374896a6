/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DOCA flags, which every program has: help, version, log levels and parameter file. They are ordinary params of the
 * root command, marked general, inherited by every command.
 */
#ifndef SF_ARGP_GENERAL_H
#define SF_ARGP_GENERAL_H

#include "argp/cmd.h"
#include "argp/items.h"

/* Registers them with the root command. */
doca_error_t sf_argp_general_register(struct doca_argp_cmd *root);

bool sf_argp_general_is_help(const struct doca_argp_param *param);
bool sf_argp_general_is_version(const struct doca_argp_param *param);
bool sf_argp_general_is_json(const struct doca_argp_param *param);

/* Prints the version, by the program's callback if it has one. Returns that callback's error. */
doca_error_t sf_argp_general_print_version(void);

/* The level that the user set, or 0. */
int sf_argp_general_log_level(void);
int sf_argp_general_sdk_log_level(void);
void sf_argp_general_reset(void);

#endif
