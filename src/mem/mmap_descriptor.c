/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/mmap_descriptor.h"

#include <string.h>

#include <doca_types.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "mem/export_header.h"
#include "validation/validation.h"

/* The header in wire format. */
struct wire {
	struct sf_export_header start;
	uint32_t permissions;
	uint64_t addr, len;
	uint32_t region_len;
	uint32_t is_gpu_memory;
	char device[SF_MMAP_DEVICE_MAX];
	uint64_t checksum;
};

static const struct sf_export_form form = {
	.magic = {'S', 'F', 'm', 'e', 'm', 'o', 'r', 'y'},
	.version = 2,
	.header_len = sizeof(struct wire),
	.wrong_magic = "is not one of a memory map",
};

_Static_assert(sizeof(struct wire) == SF_MMAP_DESCRIPTOR_HEADER, "the header has no gaps");

uint32_t sf_mmap_export_flags(enum sf_mmap_export kind)
{
	if (kind == SF_MMAP_EXPORT_PCI)
		return DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE;
	return DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
}

size_t sf_mmap_descriptor_pack(const struct sf_mmap_descriptor *descriptor, uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX])
{
	struct wire wire = {
		.start.kind = (uint16_t)descriptor->kind,
		.permissions = descriptor->permissions,
		.addr = descriptor->addr,
		.len = descriptor->len,
		.region_len = (uint32_t)descriptor->region_len,
		.is_gpu_memory = descriptor->is_gpu_memory,
	};

	memcpy(wire.device, descriptor->device, strnlen(descriptor->device, sizeof(wire.device) - 1));
	sf_export_seal(&form, &wire, descriptor->region, descriptor->region_len);
	memcpy(bytes, &wire, sizeof(wire));
	memcpy(bytes + sizeof(wire), descriptor->region, descriptor->region_len);
	return sizeof(wire) + descriptor->region_len;
}

/* Returns true if the name ends with a NUL that only NULs follow. */
static bool is_device_name(const char name[SF_MMAP_DEVICE_MAX])
{
	size_t len = strnlen(name, SF_MMAP_DEVICE_MAX);

	for (size_t i = len; i < SF_MMAP_DEVICE_MAX; i++) {
		if (name[i] != '\0')
			return false;
	}
	return len < SF_MMAP_DEVICE_MAX;
}

/* Returns the error text for an invalid header, or NULL. */
static const char *wire_fault(const struct wire *wire, const uint8_t *region, size_t len)
{
	const char *fault = sf_export_fault(&form, wire, region, len, len <= SF_DESCRIPTOR_MAX && wire->region_len == len);

	if (fault != NULL)
		return fault;
	if (wire->start.kind >= SF_MMAP_EXPORTS || wire->is_gpu_memory > 1 ||
	    (wire->permissions & ~(sf_mmap_export_flags(wire->start.kind) | DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)) != 0)
		return "holds invalid values";
	if (!is_device_name(wire->device))
		return "holds an invalid device name";
	if (wire->len == 0 || wire->addr + wire->len < wire->addr)
		return "holds an impossible range";
	return NULL;
}

doca_error_t sf_mmap_descriptor_unpack(const void *bytes, size_t len, struct sf_mmap_descriptor *descriptor)
{
	struct wire wire;
	const uint8_t *region = NULL;
	const char *fault = "is too short";

	if (len >= sizeof(wire)) {
		memcpy(&wire, bytes, sizeof(wire));
		region = (const uint8_t *)bytes + sizeof(wire);
		fault = wire_fault(&wire, region, len - sizeof(wire));
	}
	if (fault != NULL) {
		SF_LOG_ERR_LIMITED(
			"export descriptor of %zu bytes %s: pass on what the export call gave, all of it and unchanged", len,
			fault);
		if (len >= sizeof(wire) && sf_export_is_of_other_version(&form, &wire))
			SF_BROKEN(PEER_001, NULL, "doca_mmap_create_from_export",
				  "the export descriptor of %zu bytes is of version %u, and %u is understood", len,
				  wire.start.version, form.version);
		else
			SF_BROKEN(MMAP_008, NULL, "doca_mmap_create_from_export", "the descriptor of %zu bytes %s", len, fault);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*descriptor = (struct sf_mmap_descriptor){
		.kind = wire.start.kind,
		.permissions = wire.permissions,
		.is_gpu_memory = wire.is_gpu_memory != 0,
		.addr = wire.addr,
		.len = wire.len,
		.region = region,
		.region_len = wire.region_len,
	};
	memcpy(descriptor->device, wire.device, sizeof(wire.device));
	return DOCA_SUCCESS;
}
