/* SPDX-License-Identifier: BSD-3-Clause */
/* The report, as tables or as JSON. */
#ifndef CAPS_REPORT_H
#define CAPS_REPORT_H

#include <stdbool.h>

#include <doca_dev.h>

struct report {
	bool devices, representors, libraries, capabilities; /* what to print */
	const char *library;				     /* capabilities of this one only, or NULL */
	struct doca_devinfo **devs;
	uint32_t num_devs;
};

/* Both print everything and return the first error of a query other than NOT_SUPPORTED. */
doca_error_t report_print(const struct report *report);
doca_error_t report_print_json(const struct report *report);

#endif
