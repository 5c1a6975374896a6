/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp/json.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "argp/report.h"

/* Is there only space and comments from here on? */
static bool only_blank(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		if (isspace((unsigned char)text[at])) {
			at++;
		} else if (len - at >= 2 && text[at] == '/' && text[at + 1] == '/') {
			const char *end = memchr(text + at, '\n', len - at);

			at = end != NULL ? (size_t)(end - text) : len;
		} else if (len - at >= 4 && text[at] == '/' && text[at + 1] == '*') {
			const char *end = memmem(text + at + 2, len - at - 2, "*/", 2);

			if (end == NULL)
				return false;
			at = (size_t)(end - text) + 2;
		} else {
			return false;
		}
	}
	return true;
}

static unsigned int line_of(const char *text, size_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text[i] == '\n';
	return line;
}

struct json_object *sf_argp_json_parse(const char *text, size_t len, const char *origin)
{
	struct json_tokener *tokener = NULL;
	struct json_object *object = NULL;
	const char *problem = NULL;
	size_t end = 0;

	if (len > SF_ARGP_JSON_SIZE_MAX) {
		sf_argp_report("%s: more than %d bytes of JSON", origin, SF_ARGP_JSON_SIZE_MAX);
		return NULL;
	}
	tokener = json_tokener_new_ex(SF_ARGP_JSON_DEPTH_MAX);
	if (tokener == NULL) {
		sf_argp_report("%s: out of memory", origin);
		return NULL;
	}
	object = json_tokener_parse_ex(tokener, text, (int)len);
	end = json_tokener_get_parse_end(tokener);
	if (json_tokener_get_error(tokener) == json_tokener_continue) { /* a comment or number may end with the text */
		object = json_tokener_parse_ex(tokener, "\n", 1);
		end = len;
	}
	if (json_tokener_get_error(tokener) == json_tokener_continue)
		problem = "the text ends too early";
	else if (json_tokener_get_error(tokener) != json_tokener_success)
		problem = json_tokener_error_desc(json_tokener_get_error(tokener));
	else if (object == NULL || !only_blank(text + end, len - end))
		problem = object == NULL ? "there is no value" : "something follows the value";
	json_tokener_free(tokener);
	if (problem == NULL)
		return object;
	sf_argp_report("%s: no valid JSON in line %u: %s", origin, line_of(text, end < len ? end : len), problem);
	json_object_put(object);
	return NULL;
}
