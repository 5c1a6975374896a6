/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads untrusted JSON and reports each error with its place: "devices[2].pci: ...". The functions return false on an error; the
 * message of the first one stays.
 */
#ifndef SF_BASE_JSON_H
#define SF_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/visibility.h"

#define SF_JSON_PATH_MAX 64   /* "devices[1023].vfs[1023].ibdev" and NUL */
#define SF_JSON_QUOTED_MAX 80 /* a value as messages show it */

struct sf_json {
	char *message;	/* of the first error, or NULL; the caller frees it */
	bool no_memory; /* the error is lack of memory, not the text */
};

enum sf_json_dialect {
	SF_JSON_STRICT,	  /* RFC 8259 */
	SF_JSON_COMMENTED /* what json-c reads besides: comments, single quotes, bytes that are not UTF-8 */
};

/* Parses the text, which holds one value other than null. line and column count from 1 in the message. The caller owns the
 * object. */
SF_API struct json_object *sf_json_parse(struct sf_json *json, enum sf_json_dialect dialect, const char *text, size_t len);

/* Records an error at path (with .key appended unless key is NULL), and returns false. */
bool sf_json_fail(struct sf_json *json, const char *path, const char *key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for lack of memory. */
bool sf_json_no_memory(struct sf_json *json, const char *path, const char *key);

/* The text in quotes, shortened, without control characters. */
const char *sf_json_quoted(const char *text, char quoted[SF_JSON_QUOTED_MAX]);

/* Checks that value is an object with no keys but these ("name, kind"). */
bool sf_json_object(struct sf_json *json, struct json_object *value, const char *path, const char *keys);

/* Read a member of an object. If it is absent and not required, *out is unchanged. */
bool sf_json_string(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		    size_t len_max, const char **out);
bool sf_json_uint(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		  uint64_t min, uint64_t max, uint64_t *out);
bool sf_json_bool(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required, bool *out);
bool sf_json_array(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		   size_t len_max, struct json_object **out);

#endif
