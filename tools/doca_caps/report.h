/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be shown, and showing it as tables or as JSON. */
#ifndef CAPS_REPORT_H
#define CAPS_REPORT_H

#include <stdbool.h>

#include <doca_dev.h>

struct report {
	bool devices, representors, libraries, capabilities; /* what the command line asked for */
	const char *library;				     /* capabilities of this one only, or NULL */
	struct doca_devinfo **devs;
	uint32_t num_devs;
};

/* Both return the first query's error that is neither an answer nor "not supported", and show the rest all the same. */
doca_error_t report_print(const struct report *report);
doca_error_t report_print_json(const struct report *report);

#endif
