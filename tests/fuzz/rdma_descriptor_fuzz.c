/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that RDMA reads from a peer: connection details, and the handshake of a connection. */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "rdma/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_details(const uint8_t *data, size_t size)
{
	struct rdma_descriptor descriptor;

	if (rdma_descriptor_parse(data, size, &descriptor) == DOCA_SUCCESS)
		assert(descriptor.name[0] != '\0' && memchr(descriptor.name, '\0', SF_NAME_MAX) != NULL);
}

static void try_handshake(const uint8_t *data, size_t size)
{
	struct rdma_handshake handshake;
	uint8_t again[RDMA_HANDSHAKE_SIZE];

	if (rdma_handshake_parse(data, size, &handshake) != DOCA_SUCCESS)
		return;
	rdma_handshake_pack(&handshake, again);
	assert(size == sizeof(again) && memcmp(again, data, size) == 0);
}

/* Packed details parse to the same fields; with one bit changed, or truncated, they are rejected. */
static void try_fields(const uint8_t *data, size_t size)
{
	struct rdma_descriptor descriptor, parsed;
	uint8_t packed[RDMA_DESCRIPTOR_MAX];
	size_t len, at = 5 + sizeof(descriptor.token);

	memset(&descriptor, 0, sizeof(descriptor));
	if (size < at)
		return;
	descriptor.transport = data[0];
	descriptor.permissions = (uint32_t)data[1] << 8 | data[2];
	memcpy(descriptor.token, data + 5, sizeof(descriptor.token));
	len = size - at < SF_NAME_MAX - 1 ? size - at : SF_NAME_MAX - 1;
	memcpy(descriptor.name, data + at, len);
	len = rdma_descriptor_pack(&descriptor, packed);
	assert((rdma_descriptor_parse(packed, len, &parsed) == DOCA_SUCCESS) == (descriptor.name[0] != '\0'));
	if (descriptor.name[0] != '\0') {
		memset(descriptor.name + strlen(descriptor.name), 0, sizeof(descriptor.name) - strlen(descriptor.name));
		assert(memcmp(&parsed, &descriptor, sizeof(parsed)) == 0);
	}
	assert(rdma_descriptor_parse(packed, len - 1, &parsed) != DOCA_SUCCESS);
	packed[data[3] % len] ^= (uint8_t)(1u << (data[4] % 8));
	assert(rdma_descriptor_parse(packed, len, &parsed) != DOCA_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_details(data, size);
	try_handshake(data, size);
	try_fields(data, size);
	return 0;
}
