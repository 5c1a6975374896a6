/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP ports as a firewall's rule names them: "18600-18699", or one alone. */
#ifndef SF_BASE_PORT_RANGE_H
#define SF_BASE_PORT_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"

struct sf_port_range {
	uint16_t first, last; /* 0: any port */
};

/* False: it is none, and *range stays as it was. */
SF_API bool sf_port_range_parse(const char *text, struct sf_port_range *range);

#endif
