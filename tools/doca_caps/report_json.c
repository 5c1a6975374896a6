/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../softfield/json_writer.h"
#include "capability.h"
#include "device.h"
#include "report.h"

static struct json_object *json_attribute(const char *value, enum attribute_kind kind)
{
	switch (kind) {
	case ATTRIBUTE_NUMBER:
		return json_object_new_uint64(strtoull(value, NULL, 10));
	case ATTRIBUTE_FLAG:
		return json_object_new_boolean(strcmp(value, "yes") == 0);
	default:
		return json_object_new_string(value);
	}
}

static struct json_object *json_attributes(const struct attributes *attributes)
{
	struct json_object *object = json_object_new_object();

	for (unsigned i = 0; i < attributes->num; i++)
		json_object_object_add(object, attributes->list[i].name,
				       json_attribute(attributes->list[i].value, attributes->list[i].kind));
	return object;
}

static doca_error_t add_representors(struct json_object *device, struct doca_devinfo *devinfo)
{
	struct json_object *array = json_object_new_array();
	struct doca_devinfo_rep **reps;
	struct attributes attributes;
	uint32_t num;
	doca_error_t result = device_representors(devinfo, &reps, &num);

	for (uint32_t i = 0; i < num; i++) {
		representor_attributes(reps[i], &attributes);
		json_object_array_add(array, json_attributes(&attributes));
	}
	json_object_object_add(device, "representors", array);
	if (reps != NULL)
		doca_devinfo_rep_destroy_list(reps);
	return result;
}

/* The query's answer; null if the device has none. */
static struct json_object *json_value(const struct capability *capability, doca_error_t result, uint64_t value)
{
	if (result != DOCA_SUCCESS)
		return NULL;
	return capability->kind == CAPABILITY_FLAG ? json_object_new_boolean(value != 0) : json_object_new_uint64(value);
}

static doca_error_t add_capabilities(const struct report *report, struct json_object *device, struct doca_devinfo *devinfo)
{
	struct json_object *array = json_object_new_array();
	doca_error_t first = DOCA_SUCCESS;

	for (size_t i = 0; i < num_capabilities; i++) {
		const struct capability *c = &capabilities[i];
		uint64_t value;

		if (report->library != NULL && strcmp(c->library, report->library) != 0)
			continue;
		doca_error_t result = capability_ask(c, devinfo, &value);
		struct json_object *object = json_add_object(array);

		if (first == DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED)
			first = result;
		json_add_text(object, "library", c->library);
		json_add_text(object, "name", c->name);
		json_add_text(object, "function", c->function);
		json_object_object_add(object, "value", json_value(c, result, value));
		if (result != DOCA_SUCCESS)
			json_add_text(object, "error", doca_error_get_name(result));
	}
	json_object_object_add(device, "capabilities", array);
	return first;
}

static struct json_object *json_libraries(void)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < num_capabilities; i++) {
		if (i == 0 || strcmp(capabilities[i].library, capabilities[i - 1].library) != 0)
			json_object_array_add(array, json_object_new_string(capabilities[i].library));
	}
	return array;
}

doca_error_t report_print_json(const struct report *report)
{
	struct json_object *root = json_object_new_object(), *devices = json_object_new_array();
	doca_error_t first = DOCA_SUCCESS;

	if (report->libraries)
		json_object_object_add(root, "libraries", json_libraries());
	for (uint32_t i = 0; i < report->num_devs; i++) {
		doca_error_t result = DOCA_SUCCESS, more = DOCA_SUCCESS;
		struct attributes attributes;

		device_attributes(report->devs[i], &attributes);
		struct json_object *device = json_attributes(&attributes);

		if (report->representors)
			result = add_representors(device, report->devs[i]);
		if (report->capabilities)
			more = add_capabilities(report, device, report->devs[i]);
		json_object_array_add(devices, device);
		if (first == DOCA_SUCCESS)
			first = result != DOCA_SUCCESS ? result : more;
	}
	if (report->num_devs > 0)
		json_object_object_add(root, "devices", devices);
	else
		json_object_put(devices);
	json_print(root, true, stdout);
	return first;
}
