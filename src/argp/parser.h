/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process's only parser, created by doca_argp_init. Not thread-safe.
 *
 * doca_argp_start reads everything first (cli.c, file.c), then checks it as a whole (check.c), and only then calls the
 * program back: log levels (general.c), values of the file, flags and commands of the command line in their order,
 * DPDK (dpdk.c), and the validation callback last.
 */
#ifndef SF_ARGP_PARSER_H
#define SF_ARGP_PARSER_H

#include <stdbool.h>

#include <doca_argp.h>

#include "argp/cmd.h"
#include "argp/dpdk.h"
#include "base/visibility.h"

/* Maximum length of a program's name, without its NUL. */
#define SF_ARGP_PROGRAM_NAME_LEN_MAX 255

struct sf_argp {
	bool initialized;
	bool started;
	char program_name[SF_ARGP_PROGRAM_NAME_LEN_MAX + 1];
	void *config;
	struct doca_argp_cmd root;	  /* the program's own flags and commands */
	const struct doca_argp_cmd *last; /* the command that usage describes */
	doca_argp_param_cb_t version_callback;
	doca_argp_validation_cb_t validation_callback;
	doca_argp_logger_cb_t logger_callback;
	doca_argp_dpdk_cb_t dpdk_callback;
	bool ignores_unknown_keys; /* of a parameter file */
	bool errors_short;	   /* an error names the help instead of printing it */
	struct sf_argp_eal eal;
};

/* For our own programs, after doca_argp_init: an error prints one line, and one that names --help, as those of tools/cli do.
 * apps/remote_offload declares it itself, because NVIDIA's library lacks it. */
SF_API void sf_argp_errors_shorten(void);

extern struct sf_argp sf_argp; /* written by argp.c only; other files use these functions */

bool sf_argp_is_initialized(void);
const char *sf_argp_program_name(void);
void *sf_argp_program_config(void);
doca_argp_logger_cb_t sf_argp_logger(void);
doca_argp_param_cb_t sf_argp_version_callback(void);
bool sf_argp_has_dpdk(void);

#endif
