/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/port_range.h"

#include <stdlib.h>
#include <string.h>

/* Parses a number from 1 to 65535 without sign or leading zeros, followed by `end`. Returns 0 if the text is invalid. */
static uint16_t port_parse(const char *text, char end)
{
	const size_t len = strspn(text, "0123456789");
	unsigned long port;

	if (len == 0 || len > 5 || text[len] != end || text[0] == '0')
		return 0;
	port = strtoul(text, NULL, 10);
	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

bool sf_port_range_parse(const char *text, struct sf_port_range *range)
{
	const char *dash = strchr(text, '-');
	struct sf_port_range ports = {.first = port_parse(text, dash != NULL ? '-' : '\0')};

	ports.last = dash != NULL ? port_parse(dash + 1, '\0') : ports.first;
	if (ports.first == 0 || ports.last < ports.first)
		return false;
	*range = ports;
	return true;
}
