/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the JSON text of a parameter file or a flag. */
#ifndef SF_ARGP_JSON_H
#define SF_ARGP_JSON_H

#include <stddef.h>

#include <json-c/json.h>

/* Largest text in bytes. */
#define SF_ARGP_JSON_SIZE_MAX (1024 * 1024)

/* Parses the text; origin names its source in messages. NULL after reporting an error. The caller owns the object. */
struct json_object *sf_argp_json_parse(const char *text, size_t len, const char *origin);

#endif
