/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_caps: devices, representors and the capabilities of each library on them. */
#include <stdio.h>

#include <doca_log.h>

#include "capability.h"
#include "cli/cli.h"
#include "report.h"

struct options {
	struct report report;
	const char *pci_addr;
	bool json;
};

static int failure_print(const char *what, doca_error_t result)
{
	fprintf(stderr, "doca_caps: %s: %s\n", what, doca_error_get_descr(result));
	return TOOL_FAILED;
}

enum { LIST_DEVS = CLI_ID_LONG, LIST_REP_DEVS, LIST_LIBS, JSON };

static void library_check(const struct cli *cli, const char *library)
{
	const char *nearest = NULL;

	if (capability_find_library(library) != NULL)
		return;
	for (size_t i = 0; i < num_capabilities; i++)
		nearest = sf_word_nearer(library, nearest, capabilities[i].library);
	cli_unknown(cli, "library", library, nearest);
}

static void options_parse(struct cli *cli, struct options *options)
{
	int option, num;

	while ((option = cli_next(cli)) != CLI_END) {
		if (option == LIST_DEVS)
			options->report.devices = true;
		else if (option == LIST_REP_DEVS)
			options->report.representors = true;
		else if (option == LIST_LIBS)
			options->report.libraries = true;
		else if (option == JSON)
			options->json = true;
		else if (option == 'p')
			options->pci_addr = cli->value;
		else
			options->report.library = cli->value;
	}
	(void)cli_arguments(cli, 0, 0, &num);
	if (options->report.library != NULL)
		library_check(cli, options->report.library);
}

/* Sets defaults: everything, or with --lib its capabilities. */
static void options_complete(struct report *report)
{
	bool any = report->devices || report->representors || report->libraries;

	report->capabilities = !any || report->library != NULL;
	if (!any && report->library == NULL)
		report->devices = report->representors = true;
}

/* Keeps only the device with that address: moves it to the front of the list. */
static int device_choose(const struct cli *cli, struct report *report, const char *pci_addr)
{
	uint8_t is_equal = 0;

	for (uint32_t i = 0; i < report->num_devs; i++) {
		if (doca_devinfo_is_equal_pci_addr(report->devs[i], pci_addr, &is_equal) != DOCA_SUCCESS)
			cli_wrong(cli, "not a PCI address such as 03:00.0 or 0000:03:00.0: %s", pci_addr);
		if (!is_equal)
			continue;
		report->devs[0] = report->devs[i];
		report->num_devs = 1;
		return TOOL_OK;
	}
	fprintf(stderr, "doca_caps: no device has the PCI address %s; see doca_caps --list-devs\n", pci_addr);
	return TOOL_FAILED;
}

static int device_show(const struct cli *cli, struct options *options)
{
	int code = options->pci_addr != NULL ? device_choose(cli, &options->report, options->pci_addr) : TOOL_OK;

	if (code != TOOL_OK)
		return code;
	doca_error_t result = options->json ? report_print_json(&options->report) : report_print(&options->report);
	if (result != DOCA_SUCCESS)
		return failure_print("a query failed", result);
	return TOOL_OK;
}

/* The SDK's log has the reason of a failed query. */
static void log_to_stderr(void)
{
	struct doca_log_backend *backend;

	if (doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS)
		doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING);
}

static int caps_run(struct cli *cli)
{
	struct options options = {0};

	options_parse(cli, &options);
	log_to_stderr();
	options_complete(&options.report);
	/* The list of libraries needs no device. */
	if (options.report.libraries && !options.report.devices && !options.report.representors && !options.report.capabilities)
		return device_show(cli, &(struct options){.report = options.report, .json = options.json});
	struct doca_devinfo **list;
	doca_error_t result = doca_devinfo_create_list(&list, &options.report.num_devs);
	if (result != DOCA_SUCCESS)
		return failure_print("no devices", result);
	options.report.devs = list;
	int code = device_show(cli, &options);
	doca_devinfo_destroy_list(list);
	return code;
}

int main(int argc, char **argv)
{
	static const struct cli_option options[] = {
		{.name = "list-devs", .text = "devices and their attributes only", .id = LIST_DEVS},
		{.name = "list-rep-devs", .text = "devices and their representors only", .id = LIST_REP_DEVS},
		{.name = "list-libs", .text = "libraries that have capabilities", .id = LIST_LIBS},
		{.name = "pci-addr", .value = "ADDR", .text = "this device only (03:00.0 or 0000:03:00.0)", .id = 'p'},
		{.name = "lib", .value = "LIBRARY", .text = "the capabilities of this library only", .id = 'b'},
		{.name = "json", .text = "one JSON object", .id = JSON},
		{0},
	};
	static const struct cli_command caps = {
		.name = "",
		.summary = "Print the devices that a DOCA program sees here, their representors, and the capabilities of each "
			   "library.",
		.text = "SOFTFIELD_TOPOLOGY and SOFTFIELD_NODE select the visible devices; see `softfield --help`.\n",
		.options = options,
		.run = caps_run,
	};
	static const struct cli_command *const commands[] = {&caps, NULL};

	return cli_main(&(struct cli_program){.name = "doca_caps", .commands = commands}, argc, argv);
}
