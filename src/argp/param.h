/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One flag. The program owns a param until it is registered; then its command does (the root command for flags of the program
 * itself).
 */
#ifndef SF_ARGP_PARAM_H
#define SF_ARGP_PARAM_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_argp.h>

/* Maximum length of a flag's or command's name, without its NUL. */
#define SF_ARGP_NAME_LEN_MAX 63

struct doca_argp_param {
	struct doca_argp_param *next; /* within its command */
	char *short_name;
	char *long_name;
	char *arguments;
	char *description;
	doca_argp_param_cb_t callback;
	enum doca_argp_type type;
	bool mandatory;
	bool cli_only;
	bool multiple;
	bool singular;
	bool inherited;
	bool hidden;
	bool general;	  /* one of the DOCA flags */
	bool copy_failed; /* a setter ran out of memory: registration fails with that */
	bool registered;
};

/* Checks that the param is complete and well named. Logs what is missing. */
doca_error_t sf_argp_param_check(const struct doca_argp_param *param);

/* The names for messages: `-d, --device-id`, or the only one. */
const char *sf_argp_param_label(const struct doca_argp_param *param, char *label, size_t label_size);

/* Returns whether this is a valid name of a flag or command. */
bool sf_argp_name_valid(const char *name);

/* Frees a param in any state. */
void sf_argp_param_free(struct doca_argp_param *param);

/* Buffer size of a label. */
#define SF_ARGP_LABEL_SIZE (2 * SF_ARGP_NAME_LEN_MAX + 8)

#endif
