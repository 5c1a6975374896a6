/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading untrusted JSON so that each mistake is reported with its place: "devices[2].pci: ...". The functions return false when
 * something is wrong; the first mistake's message stays.
 */
#ifndef SF_TOPOLOGY_JSON_H
#define SF_TOPOLOGY_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#define SF_JSON_PATH_MAX 64   /* "devices[1023].vfs[1023].ibdev" and NUL */
#define SF_JSON_QUOTED_MAX 80 /* a value as messages show it */

struct sf_json {
	char *message;	/* what is wrong, or NULL; the caller's to free */
	bool no_memory; /* that is what is wrong, not the text */
};

/* Parses the text. line and column count from 1 in the message. */
struct json_object *sf_json_parse(struct sf_json *json, const char *text, size_t len);

/* Notes what is wrong at path (with .key appended unless key is NULL), and returns false. */
bool sf_json_fail(struct sf_json *json, const char *path, const char *key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same when it is memory that lacks. */
bool sf_json_no_memory(struct sf_json *json, const char *path, const char *key);

/* The text in quotes, shortened, with nothing in it that a terminal would obey. */
const char *sf_json_quoted(const char *text, char quoted[SF_JSON_QUOTED_MAX]);

/* value is an object with no other keys than these ("name, kind"). */
bool sf_json_object(struct sf_json *json, struct json_object *value, const char *path, const char *keys);

/* The members of an object. Where it is absent and not required, *out stays as it was. */
bool sf_json_string(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		    size_t len_max, const char **out);
bool sf_json_uint(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		  uint64_t min, uint64_t max, uint64_t *out);
bool sf_json_bool(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required, bool *out);
bool sf_json_array(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		   size_t len_max, struct json_object **out);

#endif
