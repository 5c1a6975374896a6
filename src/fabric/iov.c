/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/iov.h"

#include <string.h>

void sf_iov_gather(void *to, const struct sf_iov *iov, uint32_t num, uint64_t at, size_t len)
{
	uint8_t *out = to;

	for (uint32_t i = 0; i < num && len != 0; i++) {
		if (at >= iov[i].len) {
			at -= iov[i].len;
			continue;
		}
		size_t part = iov[i].len - at < len ? iov[i].len - at : len;

		memmove(out, (const uint8_t *)iov[i].addr + at, part);
		out += part;
		len -= part;
		at = 0;
	}
}

void sf_iov_scatter(const struct sf_iov *iov, uint32_t num, uint64_t at, const void *from, size_t len)
{
	const uint8_t *in = from;

	for (uint32_t i = 0; i < num && len != 0; i++) {
		if (at >= iov[i].len) {
			at -= iov[i].len;
			continue;
		}
		size_t part = iov[i].len - at < len ? iov[i].len - at : len;

		memmove((uint8_t *)iov[i].addr + at, in, part);
		in += part;
		len -= part;
		at = 0;
	}
}
