/* SPDX-License-Identifier: BSD-3-Clause */
/* Export descriptors of memory maps: an accepted one packs to the same bytes again. */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "mem/mmap_descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const uint8_t *data, size_t size)
{
	struct sf_mmap_descriptor descriptor;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];

	if (sf_mmap_descriptor_unpack(data, size, &descriptor) != DOCA_SUCCESS)
		return;
	if (sf_mmap_descriptor_pack(&descriptor, bytes) != size || memcmp(bytes, data, size) != 0)
		abort();
}

/* The checksum keeps random bytes out, so the input is also read as the fields of a descriptor that we pack ourselves. */
static void from_fields(const uint8_t *data, size_t size)
{
	struct sf_mmap_descriptor descriptor, back;
	uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX];
	uint64_t fields[4];

	if (size < sizeof(fields))
		return;
	memcpy(fields, data, sizeof(fields));
	descriptor = (struct sf_mmap_descriptor){
		.kind = fields[0] % 4,
		.permissions = (uint32_t)fields[1],
		.addr = fields[2],
		.len = fields[3],
		.region = data + sizeof(fields),
		.region_len = size - sizeof(fields) < SF_DESCRIPTOR_MAX ? size - sizeof(fields) : SF_DESCRIPTOR_MAX,
	};
	memcpy(descriptor.device, descriptor.region,
	       descriptor.region_len < SF_MMAP_DEVICE_MAX ? descriptor.region_len : SF_MMAP_DEVICE_MAX);
	size_t len = sf_mmap_descriptor_pack(&descriptor, bytes);
	if (sf_mmap_descriptor_unpack(bytes, len, &back) != DOCA_SUCCESS)
		return;
	if (back.addr != descriptor.addr || back.len != descriptor.len || back.region_len != descriptor.region_len ||
	    memcmp(back.region, descriptor.region, back.region_len) != 0 ||
	    strncmp(back.device, descriptor.device, SF_MMAP_DEVICE_MAX - 1) != 0 || back.len == 0 ||
	    back.addr + back.len < back.addr)
		abort();
	bytes[size % len] ^= 1;
	if (sf_mmap_descriptor_unpack(bytes, len, &back) == DOCA_SUCCESS)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	round_trip(data, size);
	from_fields(data, size);
	return 0;
}
