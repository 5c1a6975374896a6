/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a command line: flags by either name, their values, and commands. */
#ifndef SF_ARGP_CLI_H
#define SF_ARGP_CLI_H

#include "argp/cmd.h"
#include "argp/items.h"

struct sf_argp_cli {
	struct sf_argp_items items;
	const struct doca_argp_cmd *cmd; /* the last command named, or the root */
	const char *json_path;		 /* NULL without -j */
	bool help;			 /* help for cmd was requested; reading ended there */
	bool version;
};

/* cli->cmd is the root on entry. argv holds no program name. Strings are borrowed from argv. */
doca_error_t sf_argp_cli_read(struct sf_argp_cli *cli, int argc, char **argv);

#endif
