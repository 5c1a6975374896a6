/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line and log set-up that the programs share, on doca_argp and doca_log. */
#ifndef REMOTE_OFFLOAD_OPTIONS_H
#define REMOTE_OFFLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_argp.h>

#define OPTION_TEXT_MAX 256
#define OPTIONS_EXIT_WRONG 2 /* exit status for a wrong command line */

struct option_spec {
	const char *short_name; /* or NULL */
	const char *long_name;
	const char *arguments;
	const char *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t callback;
	bool mandatory;
	bool multiple;
};

/* The program logs to stdout and stderr, the libraries log warnings and errors to stderr. */
doca_error_t options_start_log(void);

/* Parses the command line into config. Options are registered in the order of specs. */
doca_error_t options_parse(int argc, char **argv, const struct option_spec *specs, size_t spec_count, void *config);
/* The same, and then calls validate, which logs its errors. */
doca_error_t options_parse_validated(int argc, char **argv, const struct option_spec *specs, size_t spec_count, void *config,
				     doca_argp_validation_cb_t validate);

/* Helpers for callbacks. Each logs an invalid value of --name. */
doca_error_t option_copy_text(const char *name, const void *param, char *text /* OPTION_TEXT_MAX */);
doca_error_t option_number(const char *name, const void *param, int min, int max, uint32_t *number);

#endif
