/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sf_json_fail(struct sf_json *json, const char *path, const char *key, const char *format, ...)
{
	char *reason;
	va_list args;

	if (json->message)
		return false;
	va_start(args, format);
	int len = vasprintf(&reason, format, args);
	va_end(args);
	if (len < 0)
		return false;
	if (!*path && !key)
		json->message = reason;
	else if (asprintf(&json->message, "%s%s%s: %s", path, *path && key ? "." : "", key ? key : "", reason) < 0)
		json->message = NULL;
	if (json->message != reason)
		free(reason);
	return false;
}

bool sf_json_no_memory(struct sf_json *json, const char *path, const char *key)
{
	json->no_memory = true;
	return sf_json_fail(json, path, key, "no memory");
}

const char *sf_json_quoted(const char *text, char quoted[SF_JSON_QUOTED_MAX])
{
	size_t end = 0;

	quoted[end++] = '"';
	for (; *text && end < SF_JSON_QUOTED_MAX - 5; text++)
		quoted[end++] = *text >= ' ' && *text <= '~' ? *text : '?';
	strcpy(quoted + end, *text ? "...\"" : "\"");
	return quoted;
}

static void fail_at(struct sf_json *json, const char *text, size_t at, const char *reason)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	sf_json_fail(json, "", NULL, "line %zu, column %zu: %s", line, column, reason);
}

/* Bytes of the blank text, or the comment, that it begins with; 0 where it begins with neither. */
static size_t blank_len(const char *text, size_t len, enum sf_json_dialect dialect)
{
	const char *end;

	if (len > 0 && text[0] != '\0' && strchr(" \t\r\n", text[0]))
		return 1;
	if (dialect != SF_JSON_COMMENTED || len < 2 || text[0] != '/')
		return 0;
	if (text[1] == '/') {
		end = memchr(text, '\n', len);
		return end ? (size_t)(end - text) : len;
	}
	end = text[1] == '*' ? memmem(text + 2, len - 2, "*/", 2) : NULL;
	return end ? (size_t)(end + 2 - text) : 0;
}

static void check_rest(struct sf_json *json, enum sf_json_dialect dialect, const char *text, size_t at, size_t len)
{
	size_t step;

	while ((step = blank_len(text + at, len - at, dialect)) > 0)
		at += step;
	if (at < len)
		fail_at(json, text, at, "unexpected text after the document");
}

struct json_object *sf_json_parse(struct sf_json *json, enum sf_json_dialect dialect, const char *text, size_t len)
{
	struct json_tokener *tokener = len < INT_MAX ? json_tokener_new() : NULL;

	if (!tokener) {
		sf_json_fail(json, "", NULL, "too large, or no memory to read it");
		return NULL;
	}
	if (dialect == SF_JSON_STRICT)
		json_tokener_set_flags(tokener,
				       JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS | JSON_TOKENER_VALIDATE_UTF8);

	struct json_object *root = json_tokener_parse_ex(tokener, text, (int)len);
	enum json_tokener_error error = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);

	/* A number, word or comment at the end of the text is complete only when a line end follows. */
	if (error == json_tokener_continue) {
		root = json_tokener_parse_ex(tokener, "\n", 1);
		error = json_tokener_get_error(tokener);
		end = len;
	}
	if (error == json_tokener_continue || (error != json_tokener_success && end >= len))
		fail_at(json, text, len, "unexpected end of the text");
	else if (error != json_tokener_success)
		fail_at(json, text, end, json_tokener_error_desc(error));
	else
		check_rest(json, dialect, text, end, len);
	json_tokener_free(tokener);
	if (json->message) {
		json_object_put(root);
		return NULL;
	}
	if (!root)
		sf_json_fail(json, "", NULL, "expected an object, found null");
	return root;
}

/* Returns whether the word is in the list "a, b, c". */
static bool key_is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; len && (at = strstr(at, word)); at += len) {
		bool starts = at == list || at[-1] == ' ';

		if (starts && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

bool sf_json_object(struct sf_json *json, struct json_object *value, const char *path, const char *keys)
{
	char quoted[SF_JSON_QUOTED_MAX];

	if (!json_object_is_type(value, json_type_object))
		return sf_json_fail(json, path, NULL, "expected an object, found %s",
				    json_type_to_name(json_object_get_type(value)));
	json_object_object_foreach(value, key, member)
	{
		(void)member;
		if (strpbrk(key, ", ") || !key_is_listed(keys, key))
			return sf_json_fail(json, path, NULL, "unknown key %s; known keys here: %s", sf_json_quoted(key, quoted),
					    keys);
	}
	return true;
}

/* Sets *member (NULL when absent); false when it is missing or of another type. */
static bool member_find(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
			enum json_type type, const char *expected, struct json_object **member)
{
	*member = NULL;
	if (!json_object_object_get_ex(object, key, member))
		return !required || sf_json_fail(json, path, key, "missing; expected %s", expected);
	if (!json_object_is_type(*member, type))
		return sf_json_fail(json, path, key, "expected %s, found %s", expected,
				    json_type_to_name(json_object_get_type(*member)));
	return true;
}

bool sf_json_string(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		    size_t len_max, const char **out)
{
	struct json_object *member;

	if (!member_find(json, object, path, key, required, json_type_string, "a string", &member))
		return false;
	if (!member)
		return true;

	const char *text = json_object_get_string(member);
	size_t len = (size_t)json_object_get_string_len(member);

	if (len == 0 || len > len_max)
		return sf_json_fail(json, path, key, "expected 1 to %zu characters, found %zu", len_max, len);
	if (strlen(text) != len)
		return sf_json_fail(json, path, key, "contains a NUL character");
	*out = text;
	return true;
}

bool sf_json_uint(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		  uint64_t min, uint64_t max, uint64_t *out)
{
	struct json_object *member;

	if (!member_find(json, object, path, key, required, json_type_int, "an integer", &member))
		return false;
	if (!member)
		return true;

	int64_t value = json_object_get_int64(member);

	if (value < 0 || (uint64_t)value < min || (uint64_t)value > max)
		return sf_json_fail(json, path, key, "expected %llu to %llu, found %lld", (unsigned long long)min,
				    (unsigned long long)max, (long long)value);
	*out = (uint64_t)value;
	return true;
}

bool sf_json_bool(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required, bool *out)
{
	struct json_object *member;

	if (!member_find(json, object, path, key, required, json_type_boolean, "true or false", &member))
		return false;
	if (member)
		*out = json_object_get_boolean(member);
	return true;
}

bool sf_json_array(struct sf_json *json, struct json_object *object, const char *path, const char *key, bool required,
		   size_t len_max, struct json_object **out)
{
	struct json_object *member;

	if (!member_find(json, object, path, key, required, json_type_array, "an array", &member))
		return false;
	if (!member)
		return true;

	size_t len = json_object_array_length(member);

	if (len > len_max || (required && len == 0))
		return sf_json_fail(json, path, key, "expected %d to %zu entries, found %zu", required ? 1 : 0, len_max, len);
	*out = member;
	return true;
}
