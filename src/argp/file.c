/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argp/json.h"
#include "argp/report.h"

static doca_error_t value_add(struct sf_argp_file *file, const struct doca_argp_param *param, struct json_object *value)
{
	struct sf_argp_item item;
	doca_error_t result = sf_argp_item_from_json(&item, param, value);

	return result == DOCA_SUCCESS ? sf_argp_items_add(&file->items, &item) : result;
}

/* Adds one value, or an array of values for a flag that may be repeated. */
static doca_error_t values_add(struct sf_argp_file *file, const struct doca_argp_param *param, struct json_object *value)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!param->multiple || !json_object_is_type(value, json_type_array))
		return value_add(file, param, value);
	for (size_t i = 0; i < json_object_array_length(value) && result == DOCA_SUCCESS; i++)
		result = value_add(file, param, json_object_array_get_idx(value, i));
	return result;
}

static doca_error_t section_read(struct sf_argp_file *file, const char *origin, struct json_object *section,
				 const struct doca_argp_cmd *cmd, bool general)
{
	struct json_object_iterator at = json_object_iter_begin(section);
	struct json_object_iterator end = json_object_iter_end(section);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		const char *key = json_object_iter_peek_name(&at);
		const struct doca_argp_param *param = sf_argp_cmd_find_key(cmd, key);
		doca_error_t result;

		if ((param == NULL || param->general != general) && file->ignores_unknown)
			continue;
		if (param == NULL || param->general != general) {
			sf_argp_report("%s: there is no %s flag \"%s\"", origin, general ? "general" : "program", key);
			return DOCA_ERROR_NOT_SUPPORTED;
		}
		if (param->cli_only) {
			sf_argp_report("%s: \"%s\" is accepted on the command line only", origin, key);
			return DOCA_ERROR_NOT_SUPPORTED;
		}
		result = values_add(file, param, json_object_iter_peek_value(&at));
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static bool is_section(const char *key, const struct sf_argp_eal *eal)
{
	return strcmp(key, "doca_general_flags") == 0 || strcmp(key, "doca_program_flags") == 0 ||
	       (strcmp(key, "doca_dpdk_flags") == 0 && eal != NULL);
}

static doca_error_t entry_read(struct sf_argp_file *file, const char *origin, const char *key, struct json_object *value,
			       const struct doca_argp_cmd *cmd, struct sf_argp_eal *eal)
{
	const struct doca_argp_cmd *root = cmd;

	while (root->parent != NULL)
		root = root->parent;
	if (file->ignores_unknown && !is_section(key, eal))
		return DOCA_SUCCESS;
	if (!json_object_is_type(value, json_type_object)) {
		sf_argp_report("%s: \"%s\" is not an object with flags", origin, key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (strcmp(key, "doca_general_flags") == 0)
		return section_read(file, origin, value, root, true);
	if (strcmp(key, "doca_program_flags") == 0)
		return section_read(file, origin, value, cmd, false);
	if (strcmp(key, "doca_dpdk_flags") == 0 && eal != NULL)
		return sf_argp_eal_add_json(eal, value, origin);
	sf_argp_report("%s: unknown key \"%s\": use doca_general_flags, doca_program_flags%s", origin, key,
		       eal != NULL ? " and doca_dpdk_flags" : "");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t sf_argp_file_read_text(struct sf_argp_file *file, const char *text, size_t len, const char *origin,
				    const struct doca_argp_cmd *cmd, struct sf_argp_eal *eal)
{
	struct json_object_iterator at, end;
	doca_error_t result = DOCA_SUCCESS;

	file->document = sf_argp_json_parse(text, len, origin);
	if (file->document == NULL)
		return DOCA_ERROR_IO_FAILED;
	if (!json_object_is_type(file->document, json_type_object)) {
		sf_argp_report("%s: a parameter file holds one object", origin);
		return DOCA_ERROR_INVALID_VALUE;
	}
	at = json_object_iter_begin(file->document);
	end = json_object_iter_end(file->document);
	for (; !json_object_iter_equal(&at, &end) && result == DOCA_SUCCESS; json_object_iter_next(&at))
		result = entry_read(file, origin, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at), cmd, eal);
	return result;
}

doca_error_t sf_argp_file_read(struct sf_argp_file *file, const char *path, const struct doca_argp_cmd *cmd,
			       struct sf_argp_eal *eal)
{
	FILE *stream = fopen(path, "re");
	doca_error_t result;
	size_t len;
	char *text;

	if (stream == NULL) {
		sf_argp_report("parameter file %s cannot be opened: %s", path, strerror(errno));
		return DOCA_ERROR_IO_FAILED;
	}
	text = malloc(SF_ARGP_JSON_SIZE_MAX + 1); /* one more byte, to detect a larger file */
	if (text == NULL) {
		sf_argp_report("parameter file %s not read: out of memory", path);
		fclose(stream);
		return DOCA_ERROR_NO_MEMORY;
	}
	len = fread(text, 1, SF_ARGP_JSON_SIZE_MAX + 1, stream);
	if (ferror(stream)) {
		sf_argp_report("parameter file %s cannot be read: %s", path, strerror(errno));
		result = DOCA_ERROR_IO_FAILED;
	} else {
		result = sf_argp_file_read_text(file, text, len, path, cmd, eal);
	}
	free(text);
	fclose(stream);
	return result;
}

void sf_argp_file_fini(struct sf_argp_file *file)
{
	sf_argp_items_fini(&file->items);
	json_object_put(file->document);
	file->document = NULL;
}
