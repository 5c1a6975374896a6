/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks across flags: mandatory, repeated, and singular ones. */
#ifndef SF_ARGP_CHECK_H
#define SF_ARGP_CHECK_H

#include "argp/cmd.h"
#include "argp/items.h"

/* A flag on the command line replaces its values from the file. cmd is the last command named. */
doca_error_t sf_argp_items_check(const struct sf_argp_items *cli, const struct sf_argp_items *file,
				 const struct doca_argp_cmd *cmd);

#endif
