/* SPDX-License-Identifier: BSD-3-Clause */
/* Every capability that DOCA's libraries can be asked for, in one table. */
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

/* The library's capabilities are next to each other. NULL when there is no library of that name. */
const struct capability *capability_find_library(const char *library);

/* SUCCESS and *value: what the device answers; "not supported" is the value 0 of a flag. Else the query failed: with
 * NOT_SUPPORTED when a limit has no meaning on this device. */
doca_error_t capability_ask(const struct capability *capability, struct doca_devinfo *devinfo, uint64_t *value);

#endif
