/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_caps: devices, representors and what each library can do on them. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>
#include <doca_version.h>
#include <softfield/version.h>

#include "capability.h"
#include "report.h"

enum exit_code { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
	"Usage: doca_caps [options]\n"
	"\n"
	"Prints the devices that a DOCA program started here sees, their representors, and what each library can do on them.\n"
	"\n"
	"  --list-devs            devices and their attributes only\n"
	"  --list-rep-devs        devices and their representors only\n"
	"  --list-libs            libraries that have capabilities\n"
	"  -p, --pci-addr ADDR    this device only (03:00.0 or 0000:03:00.0)\n"
	"  -b, --lib LIBRARY      the capabilities of this library only\n"
	"  --json                 as JSON\n"
	"  -h, --help, -v, --version\n"
	"\n"
	"SOFTFIELD_TOPOLOGY and SOFTFIELD_NODE choose what is seen; see softfield --help.\n";

struct options {
	struct report report;
	const char *pci_addr;
	bool json;
};

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "doca_caps: %s%s%s\n\n%s", what, value != NULL ? " " : "", value != NULL ? value : "", usage);
	return EXIT_USAGE;
}

static int fail(const char *what, doca_error_t result)
{
	fprintf(stderr, "doca_caps: %s: %s\n", what, doca_error_get_descr(result));
	return EXIT_FAILED;
}

/* Returns -1 to go on, or the exit status. */
static int parse(int argc, char **argv, struct options *options)
{
	enum { LIST_DEVS = 256, LIST_REP_DEVS, LIST_LIBS, JSON };
	static const struct option known[] = {{"list-devs", no_argument, NULL, LIST_DEVS},
					      {"list-rep-devs", no_argument, NULL, LIST_REP_DEVS},
					      {"list-libs", no_argument, NULL, LIST_LIBS},
					      {"pci-addr", required_argument, NULL, 'p'},
					      {"lib", required_argument, NULL, 'b'},
					      {"json", no_argument, NULL, JSON},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'v'},
					      {0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":p:b:hv", known, NULL)) != -1) {
		switch (option) {
		case LIST_DEVS:
			options->report.devices = true;
			break;
		case LIST_REP_DEVS:
			options->report.representors = true;
			break;
		case LIST_LIBS:
			options->report.libraries = true;
			break;
		case JSON:
			options->json = true;
			break;
		case 'p':
			options->pci_addr = optarg;
			break;
		case 'b':
			options->report.library = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		case 'v':
			printf("doca_caps %s, DOCA API %s\n", SOFTFIELD_VERSION, doca_version_runtime());
			return EXIT_OK;
		default:
			return usage_error(option == ':' ? "a value is missing after" : "unknown option", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return usage_error("unknown argument", argv[optind]);
	if (options->report.library != NULL && capability_find_library(options->report.library) == NULL)
		return usage_error("no library (see --list-libs) is called", options->report.library);
	return -1;
}

/* What the flags leave open: everything, or with --lib its capabilities. */
static void complete(struct report *report)
{
	bool any = report->devices || report->representors || report->libraries;

	report->capabilities = !any || report->library != NULL;
	if (!any && report->library == NULL)
		report->devices = report->representors = true;
}

/* Leaves only the device of that address in the list: moves it to the front. */
static int choose(struct report *report, const char *pci_addr)
{
	uint8_t is_equal = 0;

	for (uint32_t i = 0; i < report->num_devs; i++) {
		if (doca_devinfo_is_equal_pci_addr(report->devs[i], pci_addr, &is_equal) != DOCA_SUCCESS)
			return usage_error("not a PCI address such as 03:00.0 or 0000:03:00.0:", pci_addr);
		if (!is_equal)
			continue;
		report->devs[0] = report->devs[i];
		report->num_devs = 1;
		return EXIT_OK;
	}
	fprintf(stderr, "doca_caps: no device has the PCI address %s; doca_caps --list-devs shows those there are\n", pci_addr);
	return EXIT_FAILED;
}

static int show(struct options *options)
{
	int code = options->pci_addr != NULL ? choose(&options->report, options->pci_addr) : EXIT_OK;

	if (code != EXIT_OK)
		return code;
	doca_error_t result = options->json ? report_print_json(&options->report) : report_print(&options->report);
	if (result != DOCA_SUCCESS)
		return fail("a query failed", result);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "doca_caps: cannot write the output\n");
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* Why a query failed is in the SDK's log. */
static void log_to_stderr(void)
{
	struct doca_log_backend *backend;

	if (doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS)
		doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_WARNING);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	int code = parse(argc, argv, &options);

	if (code >= 0)
		return code;
	log_to_stderr();
	complete(&options.report);
	/* The libraries are the same whatever devices there are. */
	if (options.report.libraries && !options.report.devices && !options.report.representors && !options.report.capabilities)
		return show(&(struct options){.report = options.report, .json = options.json});
	struct doca_devinfo **list;
	doca_error_t result = doca_devinfo_create_list(&list, &options.report.num_devs);
	if (result != DOCA_SUCCESS)
		return fail("no devices", result);
	options.report.devs = list;
	code = show(&options);
	doca_devinfo_destroy_list(list);
	return code;
}
