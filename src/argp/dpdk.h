/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK programs: `program <EAL flags> -- <DOCA and program flags>`. The EAL's own argv is built here, from the command
 * line and from doca_dpdk_flags of a parameter file, and stays until doca_argp_destroy.
 */
#ifndef SF_ARGP_DPDK_H
#define SF_ARGP_DPDK_H

#include <json-c/json.h>

#include <doca_argp.h>

/* Maximum of words for the EAL, and of characters in one. */
#define SF_ARGP_EAL_ARGS_MAX 256
#define SF_ARGP_EAL_ARG_SIZE 512

struct sf_argp_eal {
	char *argv[SF_ARGP_EAL_ARGS_MAX + 1]; /* each allocated, NULL at the end */
	int argc;
};

doca_error_t sf_argp_eal_add(struct sf_argp_eal *eal, const char *word);

/* Adds the members of the object doca_dpdk_flags: devices, core-mask, core-list, flags. */
doca_error_t sf_argp_eal_add_json(struct sf_argp_eal *eal, struct json_object *section, const char *origin);

/*
 * Splits the words after the program name: those before `--` go to the EAL, the rest to *doca_argv. Without `--` all go to the
 * EAL, unless the first is DOCA's flag for help, version or parameter file: then all go to DOCA.
 */
doca_error_t sf_argp_eal_split(struct sf_argp_eal *eal, int argc, char **argv, int *doca_argc, char ***doca_argv);

void sf_argp_eal_fini(struct sf_argp_eal *eal);

#endif
