/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync_event/descriptor.h"

#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "mem/export_header.h"

/* The header in wire format. */
struct wire {
	struct sf_export_header start;
	uint32_t zero;
	char device[SF_EVENT_KEY_SIZE];
	uint64_t word_addr;
	uint32_t page_len;
	uint32_t word_len;
	uint64_t reserved;
	uint64_t checksum;
};

static const struct sf_export_form form = {
	.magic = {'S', 'F', 's', 'y', 'n', 'c', 'e', 'v'},
	.version = 1,
	.header_len = sizeof(struct wire),
	.wrong_magic = "is not a sync event descriptor",
};

_Static_assert(sizeof(struct wire) == SF_EVENT_DESCRIPTOR_HEADER, "the header has no gaps");

size_t sf_event_descriptor_pack(const struct sf_event_descriptor *descriptor, uint8_t bytes[SF_EVENT_DESCRIPTOR_MAX])
{
	struct wire wire = {
		.start.kind = (uint16_t)descriptor->kind,
		.word_addr = descriptor->word_addr,
		.page_len = (uint32_t)descriptor->page_len,
		.word_len = (uint32_t)descriptor->word_len,
	};
	size_t regions_len = descriptor->page_len + descriptor->word_len;

	memcpy(wire.device, descriptor->device, strnlen(descriptor->device, SF_EVENT_KEY_SIZE - 1));
	memcpy(bytes + sizeof(wire), descriptor->page, descriptor->page_len);
	if (descriptor->word_len != 0)
		memcpy(bytes + sizeof(wire) + descriptor->page_len, descriptor->word, descriptor->word_len);
	sf_export_seal(&form, &wire, bytes + sizeof(wire), regions_len);
	memcpy(bytes, &wire, sizeof(wire));
	return sizeof(wire) + regions_len;
}

/* Returns the error text, or NULL for a valid descriptor. */
static const char *wire_fault(const struct wire *wire, const uint8_t *regions, size_t len, enum sf_event_export kind)
{
	const bool lengths_agree = wire->page_len != 0 && wire->page_len <= SF_DESCRIPTOR_MAX &&
				   wire->word_len <= SF_DESCRIPTOR_MAX && (size_t)wire->page_len + wire->word_len == len;
	const char *fault = sf_export_fault(&form, wire, regions, len, lengths_agree);

	if (fault != NULL)
		return fault;
	if (wire->start.kind >= SF_EVENT_EXPORTS || wire->zero != 0 || wire->reserved != 0 ||
	    memchr(wire->device, '\0', sizeof(wire->device)) == NULL || wire->word_addr % sizeof(uint64_t) != 0)
		return "holds invalid values";
	if (wire->start.kind != kind)
		return kind == SF_EVENT_EXPORT_PCI ? "was made by doca_sync_event_export_to_remote_net"
						   : "was made by doca_sync_event_export_to_remote_pci";
	return NULL;
}

doca_error_t sf_event_descriptor_unpack(const void *bytes, size_t len, enum sf_event_export kind,
					struct sf_event_descriptor *descriptor)
{
	const uint8_t *regions = NULL;
	const char *fault = "is too short";
	struct wire wire;

	if (len >= sizeof(wire)) {
		memcpy(&wire, bytes, sizeof(wire));
		regions = (const uint8_t *)bytes + sizeof(wire);
		fault = wire_fault(&wire, regions, len - sizeof(wire), kind);
	}
	if (fault != NULL) {
		SF_LOG_ERR_LIMITED("sync event descriptor of %zu bytes %s: pass on the bytes of %s complete and unchanged", len,
				   fault,
				   kind == SF_EVENT_EXPORT_PCI ? "doca_sync_event_export_to_remote_pci"
							       : "doca_sync_event_export_to_remote_net");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*descriptor = (struct sf_event_descriptor){
		.kind = kind,
		.word_addr = wire.word_addr,
		.page = regions,
		.page_len = wire.page_len,
		.word = regions + wire.page_len,
		.word_len = wire.word_len,
	};
	memcpy(descriptor->device, wire.device, sizeof(descriptor->device));
	return DOCA_SUCCESS;
}
