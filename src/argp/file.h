/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameter files: one JSON object, C comments and trailing commas allowed, with the objects doca_general_flags,
 * doca_program_flags and, for DPDK programs, doca_dpdk_flags.
 */
#ifndef SF_ARGP_FILE_H
#define SF_ARGP_FILE_H

#include <stddef.h>

#include <json-c/json.h>

#include "argp/cmd.h"
#include "argp/dpdk.h"
#include "argp/items.h"

struct sf_argp_file {
	struct json_object *document; /* strings of the items are borrowed from it */
	struct sf_argp_items items;
	bool ignores_unknown; /* ignores unknown keys; set before the file is read */
};

/*
 * Reads the file's flags for a run that ends in this command; eal is NULL for a program without DPDK. IO_FAILED: not readable or
 * not JSON; NOT_SUPPORTED: unknown key; INVALID_VALUE: invalid value.
 */
doca_error_t sf_argp_file_read(struct sf_argp_file *file, const char *path, const struct doca_argp_cmd *cmd,
			       struct sf_argp_eal *eal);

/* The same from text. */
doca_error_t sf_argp_file_read_text(struct sf_argp_file *file, const char *text, size_t len, const char *origin,
				    const struct doca_argp_cmd *cmd, struct sf_argp_eal *eal);

void sf_argp_file_fini(struct sf_argp_file *file);

#endif
