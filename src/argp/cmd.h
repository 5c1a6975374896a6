/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command: a word of the command line with flags and further commands of its own. The program itself is the root of
 * the tree. A command owns what is registered with it.
 */
#ifndef SF_ARGP_CMD_H
#define SF_ARGP_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_argp.h>

#include "argp/param.h"

/* Most flags of one command, and most commands beside each other. */
#define SF_ARGP_PARAMS_MAX 256
#define SF_ARGP_CMDS_MAX 128
/* Most commands one below the other. */
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

/* Takes over the param, also when it fails (it is then freed). */
doca_error_t sf_argp_cmd_add_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param);

/* Takes over the command, also when it fails (it is then freed). */
doca_error_t sf_argp_cmd_add_cmd(struct doca_argp_cmd *parent, struct doca_argp_cmd *cmd);

/* The flag of one of these names that is valid after the given command: its own, then inherited ones of those above. */
const struct doca_argp_param *sf_argp_cmd_find_short(const struct doca_argp_cmd *cmd, const char *name, size_t len);
const struct doca_argp_param *sf_argp_cmd_find_long(const struct doca_argp_cmd *cmd, const char *name, size_t len);

/* The flag of a parameter file that has this name: any of the command and of those above it. */
const struct doca_argp_param *sf_argp_cmd_find_key(const struct doca_argp_cmd *cmd, const char *name);

/* The command of that name right below, or NULL. */
const struct doca_argp_cmd *sf_argp_cmd_find_cmd(const struct doca_argp_cmd *cmd, const char *name);

/* Frees what a command holds, not itself. */
void sf_argp_cmd_fini(struct doca_argp_cmd *cmd);

#endif
