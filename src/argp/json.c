/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp/json.h"

#include <stdlib.h>

#include "argp/report.h"
#include "base/json.h"

struct json_object *sf_argp_json_parse(const char *text, size_t len, const char *origin)
{
	struct sf_json json = {0};
	struct json_object *object;

	if (len > SF_ARGP_JSON_SIZE_MAX) {
		sf_argp_report("%s: more than %d bytes of JSON", origin, SF_ARGP_JSON_SIZE_MAX);
		return NULL;
	}
	object = sf_json_parse(&json, SF_JSON_COMMENTED, text, len);
	if (object == NULL)
		sf_argp_report("%s: invalid JSON: %s", origin, json.message != NULL ? json.message : "out of memory");
	free(json.message);
	return object;
}
