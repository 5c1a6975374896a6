/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "argp/device.h"
#include "argp/items.h"
#include "argp/json.h"
#include "argp/report.h"

#define ITEMS_FIRST_CAPACITY 16

static void item_fini(struct sf_argp_item *item)
{
	if (item->param != NULL && item->param->type == DOCA_ARGP_TYPE_JSON_OBJ)
		json_object_put(item->value.json);
}

static doca_error_t items_grow(struct sf_argp_items *items)
{
	uint32_t capacity = items->capacity == 0 ? ITEMS_FIRST_CAPACITY : items->capacity * 2;
	struct sf_argp_item *list = NULL;

	if (capacity <= SF_ARGP_ITEMS_MAX)
		list = realloc(items->list, capacity * sizeof(*list));
	if (list == NULL) {
		sf_argp_report("no room for more than %u flags", items->count);
		return DOCA_ERROR_NO_MEMORY;
	}
	items->list = list;
	items->capacity = capacity;
	return DOCA_SUCCESS;
}

doca_error_t sf_argp_items_add(struct sf_argp_items *items, const struct sf_argp_item *item)
{
	if (items->count == items->capacity) {
		doca_error_t result = items_grow(items);

		if (result != DOCA_SUCCESS) {
			struct sf_argp_item dropped = *item;

			item_fini(&dropped);
			return result;
		}
	}
	assert(items->count < items->capacity);
	items->list[items->count++] = *item;
	return DOCA_SUCCESS;
}

uint32_t sf_argp_items_count_param(const struct sf_argp_items *items, const struct doca_argp_param *param)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < items->count; i++)
		count += items->list[i].param == param;
	return count;
}

void sf_argp_items_fini(struct sf_argp_items *items)
{
	for (uint32_t i = 0; i < items->count; i++)
		item_fini(&items->list[i]);
	free(items->list);
	*items = (struct sf_argp_items){0};
}

static doca_error_t integer_from_text(const struct doca_argp_param *param, const char *text, int *integer)
{
	char label[SF_ARGP_LABEL_SIZE];
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || isspace((unsigned char)text[0])) {
		sf_argp_report("%s takes a whole number, not '%s'", sf_argp_param_label(param, label, sizeof(label)), text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (errno == ERANGE || value > INT_MAX || value < INT_MIN) {
		sf_argp_report("%s takes a number from %d to %d: %s is out of range",
			       sf_argp_param_label(param, label, sizeof(label)), INT_MIN, INT_MAX, text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*integer = (int)value;
	return DOCA_SUCCESS;
}

static doca_error_t number_from_text(const struct doca_argp_param *param, const char *text, double *number)
{
	char label[SF_ARGP_LABEL_SIZE];
	char *end;

	*number = strtod(text, &end);
	if (end != text && *end == '\0' && !isspace((unsigned char)text[0]) && isfinite(*number))
		return DOCA_SUCCESS;
	sf_argp_report("%s takes a number, not '%s'", sf_argp_param_label(param, label, sizeof(label)), text);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_argp_item_from_text(struct sf_argp_item *item, const struct doca_argp_param *param, const char *text)
{
	char label[SF_ARGP_LABEL_SIZE];

	*item = (struct sf_argp_item){.param = param};
	switch (param->type) {
	case DOCA_ARGP_TYPE_STRING:
		item->value.string = text;
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_INT:
		return integer_from_text(param, text, &item->value.integer);
	case DOCA_ARGP_TYPE_DOUBLE:
		return number_from_text(param, text, &item->value.number);
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP:
		item->value.string = text;
		return sf_argp_device_check(param, text);
	case DOCA_ARGP_TYPE_JSON_OBJ:
		item->value.json = sf_argp_json_parse(text, strlen(text), sf_argp_param_label(param, label, sizeof(label)));
		return item->value.json != NULL ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
	case DOCA_ARGP_TYPE_BOOLEAN:
	default:
		sf_argp_report("%s takes no value, but got '%s'", sf_argp_param_label(param, label, sizeof(label)), text);
		return DOCA_ERROR_INVALID_VALUE;
	}
}

static doca_error_t type_mismatch(const struct doca_argp_param *param, struct json_object *json, const char *wanted)
{
	sf_argp_report("\"%s\" takes %s, not %.64s", param->long_name, wanted, json_object_to_json_string(json));
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t string_from_json(const struct doca_argp_param *param, struct json_object *json, const char **string)
{
	if (!json_object_is_type(json, json_type_string))
		return type_mismatch(param, json, "a string");
	*string = json_object_get_string(json);
	if (strlen(*string) != (size_t)json_object_get_string_len(json))
		return type_mismatch(param, json, "a string without a NUL byte");
	return DOCA_SUCCESS;
}

doca_error_t sf_argp_item_from_json(struct sf_argp_item *item, const struct doca_argp_param *param, struct json_object *json)
{
	*item = (struct sf_argp_item){.param = param};
	switch (param->type) {
	case DOCA_ARGP_TYPE_STRING:
		return string_from_json(param, json, &item->value.string);
	case DOCA_ARGP_TYPE_DEVICE:
	case DOCA_ARGP_TYPE_DEVICE_REP: {
		doca_error_t result = string_from_json(param, json, &item->value.string);

		return result == DOCA_SUCCESS ? sf_argp_device_check(param, item->value.string) : result;
	}
	case DOCA_ARGP_TYPE_DOUBLE:
		item->value.number = json_object_get_double(json);
		if ((!json_object_is_type(json, json_type_double) && !json_object_is_type(json, json_type_int)) ||
		    !isfinite(item->value.number))
			return type_mismatch(param, json, "a number");
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_INT: {
		int64_t value = json_object_get_int64(json); /* clamps values beyond 64 bits */

		if (!json_object_is_type(json, json_type_int) || value > INT_MAX || value < INT_MIN)
			return type_mismatch(param, json, "a 32-bit integer");
		item->value.integer = (int)value;
		return DOCA_SUCCESS;
	}
	case DOCA_ARGP_TYPE_BOOLEAN:
		if (!json_object_is_type(json, json_type_boolean))
			return type_mismatch(param, json, "true or false");
		item->value.boolean = json_object_get_boolean(json);
		return DOCA_SUCCESS;
	case DOCA_ARGP_TYPE_JSON_OBJ:
	default:
		if (json == NULL)
			return type_mismatch(param, json, "any value but null");
		item->value.json = json_object_get(json);
		return DOCA_SUCCESS;
	}
}
