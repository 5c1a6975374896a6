/* SPDX-License-Identifier: BSD-3-Clause */
/* The help text: DOCA flags, the flags of the program or command, and the commands below. */
#ifndef SF_ARGP_USAGE_H
#define SF_ARGP_USAGE_H

#include <stdio.h>

#include "argp/cmd.h"

void sf_argp_usage_print(FILE *stream, const struct doca_argp_cmd *cmd);

#endif
