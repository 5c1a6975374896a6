/* SPDX-License-Identifier: BSD-3-Clause */
#include "json_writer.h"

void json_add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

void json_add_text_if_any(struct json_object *object, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_add_text(object, key, text);
}

void json_add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number < INT64_MAX ? (int64_t)number : INT64_MAX));
}

void json_add_real(struct json_object *object, const char *key, double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", number); /* without the digits that appear only in the binary form */
	json_object_object_add(object, key, json_object_new_double_s(number, text));
}

void json_add_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

struct json_object *json_add_object(struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	json_object_array_add(array, object);
	return object;
}

void json_print(struct json_object *root, bool pretty, FILE *file)
{
	const int layout = pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN;

	fprintf(file, "%s\n", json_object_to_json_string_ext(root, layout | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
}
