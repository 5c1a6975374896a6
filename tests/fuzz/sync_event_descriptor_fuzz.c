/* SPDX-License-Identifier: BSD-3-Clause */
/* A sync event's descriptor: unpack either rejects the bytes, or returns parts inside of them that pack to the same bytes
 * again. */
#include <stdlib.h>
#include <string.h>

#include "sync_event/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The checksum would stop nearly every change, so it is corrected. */
static size_t mend(uint8_t *bytes, const uint8_t *data, size_t size)
{
	struct sf_event_descriptor descriptor = {.kind = data[0] % SF_EVENT_EXPORTS};
	uint8_t parts[SF_EVENT_DESCRIPTOR_MAX];

	memcpy(parts, data, size);
	descriptor.page = parts;
	descriptor.page_len = size > SF_DESCRIPTOR_MAX ? SF_DESCRIPTOR_MAX : size;
	descriptor.word = parts + descriptor.page_len;
	descriptor.word_len = size - descriptor.page_len;
	if (descriptor.word_len > SF_DESCRIPTOR_MAX)
		descriptor.word_len = SF_DESCRIPTOR_MAX;
	memcpy(descriptor.device, parts, size < sizeof(descriptor.device) ? size : sizeof(descriptor.device));
	memcpy(&descriptor.word_addr, parts, size < sizeof(uint64_t) ? size : sizeof(uint64_t));
	return sf_event_descriptor_pack(&descriptor, bytes);
}

static void unpack(const uint8_t *bytes, size_t size, enum sf_event_export kind)
{
	struct sf_event_descriptor descriptor;
	uint8_t again[SF_EVENT_DESCRIPTOR_MAX];
	const uint8_t *page, *word;

	if (sf_event_descriptor_unpack(bytes, size, kind, &descriptor) != DOCA_SUCCESS)
		return;
	page = descriptor.page;
	word = descriptor.word;
	if (page < bytes || page + descriptor.page_len != word || word + descriptor.word_len != bytes + size ||
	    memchr(descriptor.device, '\0', sizeof(descriptor.device)) == NULL || descriptor.word_addr % 8 != 0)
		abort();
	if (sf_event_descriptor_pack(&descriptor, again) != size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mended[SF_EVENT_DESCRIPTOR_MAX];
	uint8_t *copy = malloc(size + 1); /* so that a read beyond the end is detected */

	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	unpack(copy, size, SF_EVENT_EXPORT_PCI);
	unpack(copy, size, SF_EVENT_EXPORT_NET);
	free(copy);
	if (size != 0 && size <= SF_EVENT_DESCRIPTOR_MAX) {
		size_t len = mend(mended, data, size);

		unpack(mended, len, SF_EVENT_EXPORT_PCI);
		unpack(mended, len, SF_EVENT_EXPORT_NET);
		for (size_t cut = 0; cut < 3 && cut < len; cut++)
			unpack(mended, len - cut - 1, SF_EVENT_EXPORT_PCI);
	}
	return 0;
}
