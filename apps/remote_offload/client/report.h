/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress bar and the statistics at the end. */
#ifndef CLIENT_REPORT_H
#define CLIENT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "latency.h"
#include "messages.h"

struct report {
	double run_s;
	uint64_t operations;
	struct latency latency;
	bool interrupted;
};

/* Draws the bar on standard error, if that is a terminal. */
void report_progress(uint64_t done, uint64_t total, double elapsed_s);
/* Erases the bar. */
void report_progress_end(void);

void report_print(const struct report *report, const struct client_config *config, const struct messages *messages);

#endif
