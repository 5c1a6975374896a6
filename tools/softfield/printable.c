/* SPDX-License-Identifier: BSD-3-Clause */
#include "printable.h"

#include <string.h>

#include "base/utf8.h"

void make_printable(char *text)
{
	for (size_t step, len = strlen(text); len > 0; text += step, len -= step) {
		step = sf_utf8_len(text, len);
		if (step != 0 && (unsigned char)*text >= 0x20 && *text != 0x7f)
			continue;
		*text = '?';
		step = 1;
	}
}
