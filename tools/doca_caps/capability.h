/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of all capability queries of DOCA's libraries. */
#ifndef CAPS_CAPABILITY_H
#define CAPS_CAPABILITY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>

enum capability_kind {
	CAPABILITY_FLAG,   /* value is 0 or 1 */
	CAPABILITY_NUMBER, /* a limit */
};

struct capability {
	const char *library;  /* "comch_producer" */
	const char *name;     /* "max_num_tasks" */
	const char *function; /* "doca_comch_producer_cap_get_max_num_tasks" */
	enum capability_kind kind;
	int argument; /* of queries that take one: a SHA algorithm, a type of AES-GCM key */
	doca_error_t (*query)(struct doca_devinfo *devinfo, int argument, uint64_t *value);
};

extern const struct capability capabilities[];
extern const size_t num_capabilities;

/* Returns the first of the library's capabilities, which are adjacent. NULL: unknown library. */
const struct capability *capability_find_library(const char *library);

/* SUCCESS: *value is the device's answer; a flag that is not supported is 0. NOT_SUPPORTED: the limit does not apply to this
 * device. Other errors: the query failed. */
doca_error_t capability_ask(const struct capability *capability, struct doca_devinfo *devinfo, uint64_t *value);

#endif
