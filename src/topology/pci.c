/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI addresses in both spellings. */
#include <ctype.h>
#include <string.h>

#include "topology/topology.h"

doca_error_t sf_pci_addr_normalise(const char *text, char addr[SF_PCI_ADDR_SIZE])
{
	static const char shape[] = "hhhh:hh:hh.o"; /* h: a hexadecimal digit, o: a function, 0 to 7 */
	char result[SF_PCI_ADDR_SIZE];
	size_t len = strnlen(text, SF_PCI_ADDR_SIZE);

	if (len == sizeof(shape) - 1)
		memcpy(result, text, len + 1);
	else if (len == sizeof(shape) - 1 - 5)
		memcpy(mempcpy(result, "0000:", 5), text, len + 1);
	else
		return DOCA_ERROR_INVALID_VALUE;

	for (size_t i = 0; shape[i]; i++) {
		unsigned char c = (unsigned char)result[i];
		bool fits = shape[i] == 'h' ? isxdigit(c) : shape[i] == 'o' ? c >= '0' && c <= '7' : c == (unsigned char)shape[i];

		if (!fits)
			return DOCA_ERROR_INVALID_VALUE;
		result[i] = (char)tolower(c);
	}
	memcpy(addr, result, sizeof(result));
	return DOCA_SUCCESS;
}
