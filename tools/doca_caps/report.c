/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../softfield/table.h"
#include "capability.h"
#include "device.h"

static void print_attributes(const char *indent, const struct attributes *attributes)
{
	printf("%sPCI: %s\n", indent, attributes->num > 0 ? attributes->list[0].value : "?");
	for (unsigned i = 1; i < attributes->num; i++)
		printf("%s  %-14s %s\n", indent, attributes->list[i].name, attributes->list[i].value);
}

static doca_error_t print_representors(struct doca_devinfo *devinfo)
{
	struct table *table = table_create((const char *[]){"PCI", "TYPE", "INTERFACE", "VUID", "VHCA", "HOTPLUG", NULL});
	struct doca_devinfo_rep **reps;
	struct attributes a;
	uint32_t num;
	doca_error_t result = device_representors(devinfo, &reps, &num);

	for (uint32_t i = 0; i < num; i++) {
		representor_attributes(reps[i], &a);
		table_row(table, attribute_find(&a, "pci_addr"), attribute_find(&a, "pci_func_type"),
			  attribute_find(&a, "iface_name"), attribute_find(&a, "vuid"), attribute_find(&a, "vhca_id"),
			  attribute_find(&a, "hotplug"));
	}
	table_print(table, "  Representors");
	if (reps != NULL)
		doca_devinfo_rep_destroy_list(reps);
	return result;
}

static void value_text(const struct capability *capability, doca_error_t result, uint64_t value, char *text, size_t size)
{
	if (result != DOCA_SUCCESS)
		snprintf(text, size, "%s", result == DOCA_ERROR_NOT_SUPPORTED ? "-" : doca_error_get_name(result));
	else if (capability->kind == CAPABILITY_FLAG)
		snprintf(text, size, "%s", value ? "supported" : "unsupported");
	else
		snprintf(text, size, "%" PRIu64, value);
}

static doca_error_t print_capabilities(const struct report *report, struct doca_devinfo *devinfo)
{
	struct table *table = table_create((const char *[]){"LIBRARY", "CAPABILITY", "VALUE", NULL});
	doca_error_t first = DOCA_SUCCESS;

	for (size_t i = 0; i < num_capabilities; i++) {
		const struct capability *c = &capabilities[i];
		char text[64];
		uint64_t value;

		if (report->library != NULL && strcmp(c->library, report->library) != 0)
			continue;
		doca_error_t result = capability_ask(c, devinfo, &value);

		if (first == DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED)
			first = result;
		value_text(c, result, value, text, sizeof(text));
		table_row(table, c->library, c->name, text);
	}
	table_print(table, "  Capabilities");
	return first;
}

static doca_error_t print_device(const struct report *report, struct doca_devinfo *devinfo)
{
	struct attributes attributes;
	doca_error_t result = DOCA_SUCCESS, more = DOCA_SUCCESS;

	device_attributes(devinfo, &attributes);
	if (!report->devices && attributes.num > 1)
		attributes.num = 1;
	print_attributes("", &attributes);
	if (report->representors)
		result = print_representors(devinfo);
	if (report->capabilities)
		more = print_capabilities(report, devinfo);
	putchar('\n');
	return result != DOCA_SUCCESS ? result : more;
}

static void print_libraries(void)
{
	struct table *table = table_create((const char *[]){"LIBRARY", "CAPABILITIES", NULL});

	for (size_t i = 0; i < num_capabilities;) {
		const char *library = capabilities[i].library;
		char text[24];
		size_t from = i;

		while (i < num_capabilities && strcmp(capabilities[i].library, library) == 0)
			i++;
		snprintf(text, sizeof(text), "%zu", i - from);
		table_row(table, library, text);
	}
	table_print(table, "Libraries");
}

doca_error_t report_print(const struct report *report)
{
	doca_error_t first = DOCA_SUCCESS;

	if (report->libraries)
		print_libraries();
	for (uint32_t i = 0; i < report->num_devs; i++) {
		doca_error_t result = print_device(report, report->devs[i]);

		if (first == DOCA_SUCCESS)
			first = result;
	}
	return first;
}
