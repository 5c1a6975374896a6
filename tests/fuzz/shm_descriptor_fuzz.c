/* SPDX-License-Identifier: BSD-3-Clause */
/* A region's descriptor comes from the program, which got it anywhere. An accepted one packs to the same bytes again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "fabric/shm/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fuzzer does not find checksums, so the second attempt corrects it. */
static void unpack_sealed(const uint8_t *data, size_t size)
{
	uint8_t bytes[SHM_DESCRIPTOR_SIZE];
	struct sf_descriptor descriptor, again;

	if (size < sizeof(descriptor))
		return;
	memcpy(&descriptor, data, sizeof(descriptor));
	sf_descriptor_pack(&sf_shm_descriptor, &descriptor, NULL, bytes);
	if (sf_descriptor_unpack(&sf_shm_descriptor, bytes, sizeof(bytes), &again) != DOCA_SUCCESS)
		return;
	assert(again.len != 0 && again.addr + again.len > again.addr);
	assert(again.region == descriptor.region && again.rights == descriptor.rights && again.addr == descriptor.addr);
	assert(sf_key_equal(&again.token, &descriptor.token) && sf_key_equal(&again.agent, &descriptor.agent));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sf_descriptor descriptor;
	uint8_t bytes[SHM_DESCRIPTOR_SIZE];

	if (sf_descriptor_unpack(&sf_shm_descriptor, data, size, &descriptor) == DOCA_SUCCESS) {
		sf_descriptor_pack(&sf_shm_descriptor, &descriptor, NULL, bytes);
		assert(sf_descriptor_unpack(&sf_shm_descriptor, bytes, sizeof(bytes), &descriptor) == DOCA_SUCCESS);
	}
	unpack_sealed(data, size);
	return 0;
}
