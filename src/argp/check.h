/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds between flags: mandatory ones, repeated ones, and those that stand alone. */
#ifndef SF_ARGP_CHECK_H
#define SF_ARGP_CHECK_H

#include "argp/cmd.h"
#include "argp/items.h"

/* A flag given on the command line replaces what the file says about it. cmd is the last command named. */
doca_error_t sf_argp_items_check(const struct sf_argp_items *cli, const struct sf_argp_items *file,
				 const struct doca_argp_cmd *cmd);

#endif
