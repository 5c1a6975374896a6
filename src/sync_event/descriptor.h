/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that a program passes from an event's owner to another node: the places of the event's page and word, with the
 * fabric's descriptors of both. Position-independent, versioned, checksummed. The reader checks every field.
 */
#ifndef SF_SYNC_EVENT_DESCRIPTOR_H
#define SF_SYNC_EVENT_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/fabric.h"

#define SF_EVENT_KEY_SIZE 96 /* a device's key, with its NUL */
#define SF_EVENT_DESCRIPTOR_HEADER 144
#define SF_EVENT_DESCRIPTOR_MAX (SF_EVENT_DESCRIPTOR_HEADER + 2 * SF_DESCRIPTOR_MAX)

enum sf_event_export { SF_EVENT_EXPORT_PCI, SF_EVENT_EXPORT_NET, SF_EVENT_EXPORTS };

struct sf_event_descriptor {
	enum sf_event_export kind;
	char device[SF_EVENT_KEY_SIZE]; /* the exporter's */
	uint64_t word_addr;		/* in the exporter; 8-aligned */
	const void *page;		/* the fabric's descriptor of the page */
	size_t page_len;
	const void *word; /* of the word, if it is not in the page */
	size_t word_len;  /* 0: it is */
};

/* Returns how many of the SF_EVENT_DESCRIPTOR_MAX bytes were written. */
size_t sf_event_descriptor_pack(const struct sf_event_descriptor *descriptor, uint8_t bytes[SF_EVENT_DESCRIPTOR_MAX]);

/* INVALID_VALUE, logged: not a descriptor of that kind, truncated, altered, or of another version. page and word point into
 * bytes. */
doca_error_t sf_event_descriptor_unpack(const void *bytes, size_t len, enum sf_event_export kind,
					struct sf_event_descriptor *descriptor);

#endif
