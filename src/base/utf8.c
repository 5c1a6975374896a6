/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8.h"

#include <stdint.h>

size_t sf_utf8_len(const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t wanted = bytes[0] < 0x80 ? 1 : bytes[0] >> 5 == 6 ? 2 : bytes[0] >> 4 == 14 ? 3 : bytes[0] >> 3 == 30 ? 4 : 0;
	uint32_t code;

	if (wanted <= 1 || wanted > len)
		return wanted <= len ? wanted : 0;
	code = bytes[0] & (0x7fu >> wanted);
	for (size_t i = 1; i < wanted; i++) {
		if (bytes[i] >> 6 != 2)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	return code >= least[wanted] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? wanted : 0;
}
