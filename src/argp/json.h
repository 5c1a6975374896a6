/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON text as an object: that of a parameter file, or of a flag. */
#ifndef SF_ARGP_JSON_H
#define SF_ARGP_JSON_H

#include <stddef.h>

#include <json-c/json.h>

/* Largest text in bytes. */
#define SF_ARGP_JSON_SIZE_MAX (1024 * 1024)
/* Deepest nesting in it. */
#define SF_ARGP_JSON_DEPTH_MAX 32

/* Parses text that came from where `origin` names. NULL after reporting what is wrong; the caller owns the object. */
struct json_object *sf_argp_json_parse(const char *text, size_t len, const char *origin);

#endif
