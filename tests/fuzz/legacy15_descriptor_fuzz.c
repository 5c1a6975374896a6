/* SPDX-License-Identifier: BSD-3-Clause */
/* Export descriptors of DOCA 1.5, which are JSON texts: an accepted one reads the same when written again. */
#include <stdlib.h>
#include <string.h>

#include "legacy15/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct legacy15_descriptor *a, const struct legacy15_descriptor *b)
{
	if (a->addr != b->addr || a->len != b->len || a->num_bytes != b->num_bytes ||
	    memcmp(a->bytes, b->bytes, a->num_bytes) != 0)
		abort();
}

static void round_trip(const struct legacy15_descriptor *descriptor)
{
	static struct legacy15_descriptor back;
	size_t len;
	char *text;

	if (legacy15_descriptor_pack(descriptor, &text, &len) != DOCA_SUCCESS)
		return;
	if (strlen(text) + 1 != len || legacy15_descriptor_unpack(text, len, &back) != DOCA_SUCCESS)
		abort();
	check_same(descriptor, &back);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct legacy15_descriptor descriptor;

	if (legacy15_descriptor_unpack((const char *)data, size, &descriptor) == DOCA_SUCCESS) {
		if (descriptor.num_bytes > LEGACY15_BYTES_MAX)
			abort();
		round_trip(&descriptor);
	}
	if (size == 0 || size > LEGACY15_BYTES_MAX)
		return 0;
	descriptor = (struct legacy15_descriptor){.addr = size, .len = 1, .num_bytes = size};
	memcpy(descriptor.bytes, data, size);
	round_trip(&descriptor);
	return 0;
}
