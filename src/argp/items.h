/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flags and commands read from the command line or a parameter file, in order, with values of the flag's type. No callback
 * runs before everything was read and checked.
 */
#ifndef SF_ARGP_ITEMS_H
#define SF_ARGP_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "argp/cmd.h"

/* Maximum of flags and commands from one source. */
#define SF_ARGP_ITEMS_MAX 65536

struct sf_argp_item {
	const struct doca_argp_cmd *cmd;     /* a command, or NULL */
	const struct doca_argp_param *param; /* a flag, or NULL */
	union {
		const char *string; /* borrowed from argv or the document; for a device, its place */
		int integer;
		double number;
		bool boolean;
		struct json_object *json; /* the item owns one reference */
	} value;
};

struct sf_argp_items {
	struct sf_argp_item *list;
	uint32_t count;
	uint32_t capacity;
};

/* Appends one item. Takes ownership of its JSON reference, if any, even on failure. */
doca_error_t sf_argp_items_add(struct sf_argp_items *items, const struct sf_argp_item *item);

/* How often the flag occurs. */
uint32_t sf_argp_items_count_param(const struct sf_argp_items *items, const struct doca_argp_param *param);

/* Converts the text to the flag's type. Reports errors. */
doca_error_t sf_argp_item_from_text(struct sf_argp_item *item, const struct doca_argp_param *param, const char *text);

/* Converts the JSON value to the flag's type. Reports errors. */
doca_error_t sf_argp_item_from_json(struct sf_argp_item *item, const struct doca_argp_param *param, struct json_object *json);

/* Frees the list and the references it holds. */
void sf_argp_items_fini(struct sf_argp_items *items);

#endif
