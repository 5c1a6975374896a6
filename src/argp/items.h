/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was found on the command line or in a parameter file, in order and with values already of the flag's type.
 * Nothing is called before everything was read and checked.
 */
#ifndef SF_ARGP_ITEMS_H
#define SF_ARGP_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "argp/cmd.h"

/* Most flags and commands of one run, from one source. */
#define SF_ARGP_ITEMS_MAX 65536

struct sf_argp_item {
	const struct doca_argp_cmd *cmd;     /* a command, or NULL */
	const struct doca_argp_param *param; /* a flag, or NULL */
	union {
		const char *string; /* borrowed from argv or the document; of a device its place */
		int integer;
		double number;
		bool boolean;
		struct json_object *json; /* one reference is ours */
	} value;
};

struct sf_argp_items {
	struct sf_argp_item *list;
	uint32_t count;
	uint32_t capacity;
};

/* Appends one item; its JSON reference, if any, is taken over, also on failure. */
doca_error_t sf_argp_items_add(struct sf_argp_items *items, const struct sf_argp_item *item);

/* How often the flag is there. */
uint32_t sf_argp_items_count_param(const struct sf_argp_items *items, const struct doca_argp_param *param);

/* The text as a value of the flag's type. Reports what is wrong with it. */
doca_error_t sf_argp_item_from_text(struct sf_argp_item *item, const struct doca_argp_param *param, const char *text);

/* The JSON value as a value of the flag's type. Reports what is wrong with it. */
doca_error_t sf_argp_item_from_json(struct sf_argp_item *item, const struct doca_argp_param *param, struct json_object *json);

/* Frees the list and the references it holds. */
void sf_argp_items_fini(struct sf_argp_items *items);

#endif
