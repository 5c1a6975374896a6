/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as JSON: adds members to json-c's objects, and prints them to a stream. */
#ifndef TOOL_JSON_WRITER_H
#define TOOL_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

void json_add_text(struct json_object *object, const char *key, const char *text);

/* The same, omitted if the text is NULL or empty. */
void json_add_text_if_any(struct json_object *object, const char *key, const char *text);

/* More than INT64_MAX counts as INT64_MAX, which every reader knows. */
void json_add_number(struct json_object *object, const char *key, uint64_t number);

void json_add_real(struct json_object *object, const char *key, double number);
void json_add_bool(struct json_object *object, const char *key, bool value);

/* Adds an object to the end of the array. */
struct json_object *json_add_object(struct json_object *array);

/* Prints the object on one line, or indented if pretty, and frees it. */
void json_print(struct json_object *root, bool pretty, FILE *file);

#endif
