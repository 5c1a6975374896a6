/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command: a word of the command line with its own flags and subcommands. The program itself is the root of the tree. A command
 * owns what is registered with it.
 */
#ifndef SF_ARGP_CMD_H
#define SF_ARGP_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_argp.h>

#include "argp/param.h"

/* Maximum of flags of one command, and of commands in one level. */
#define SF_ARGP_PARAMS_MAX 256
#define SF_ARGP_CMDS_MAX 128
/* Maximum depth of nested commands. */
#define SF_ARGP_DEPTH_MAX 16

struct doca_argp_cmd {
	struct doca_argp_cmd *next; /* within its parent */
	struct doca_argp_cmd *parent;
	struct doca_argp_cmd *cmds;
	struct doca_argp_param *params; /* both lists in the order of registration */
	uint32_t num_cmds;
	uint32_t num_params;
	char *name;
	char *description;
	doca_argp_cmd_cb_t callback;
	bool hidden;
	bool copy_failed;
	bool registered;
};

/* Takes ownership of the param, even on failure (which frees it). */
doca_error_t sf_argp_cmd_add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param);

/* Takes ownership of the command, even on failure (which frees it). */
doca_error_t sf_argp_cmd_add_cmd(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd);

/* Finds a flag of this name that is valid after cmd: its own flags first, then inherited ones of the commands above. */
const struct doca_argp_param *sf_argp_cmd_find_short(const struct doca_argp_cmd *cmd, const char *name, size_t len);
const struct doca_argp_param *sf_argp_cmd_find_long(const struct doca_argp_cmd *cmd, const char *name, size_t len);

/* Finds a parameter file's flag of this name: any of the command and of the commands above it. */
const struct doca_argp_param *sf_argp_cmd_find_key(const struct doca_argp_cmd *cmd, const char *name);

/* The direct subcommand of that name, or NULL. */
const struct doca_argp_cmd *sf_argp_cmd_find_cmd(const struct doca_argp_cmd *cmd, const char *name);

/* Frees the contents of a command, not the command itself. */
void sf_argp_cmd_fini(struct doca_argp_cmd *cmd);

#endif
