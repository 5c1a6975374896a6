/* SPDX-License-Identifier: BSD-3-Clause */
/* A range of TCP ports as in a firewall rule: "18600-18699", or a single port. */
#ifndef SF_BASE_PORT_RANGE_H
#define SF_BASE_PORT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"

struct sf_port_range {
	uint16_t first, last; /* 0: any port */
};

/* Returns false if the text is not a range; *range is then unchanged. */
SF_API bool sf_port_range_parse(const char *text, struct sf_port_range *range);

#endif
