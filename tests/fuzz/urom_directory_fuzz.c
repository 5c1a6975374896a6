/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain's directory, as a worker receives it from a host: the results of look-ups lie inside it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "urom/directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const struct urom_blob *blob, const uint8_t *data, size_t size)
{
	const uint8_t *at = (const uint8_t *)blob->data;

	assert(at >= data && at <= data + size && blob->len <= (size_t)(data + size - at));
	assert((at - data) % 8 == 0);
	volatile uint8_t sum = 0;
	for (size_t i = 0; i < blob->len; i++)
		sum = (uint8_t)(sum + at[i]);
}

static void look_up(const struct urom_directory *directory, uint64_t domain_id, uint64_t other, const uint8_t *data, size_t size)
{
	struct urom_blob address, memh, mkey;
	int segment = (int)other;

	if (urom_directory_address(directory, domain_id, other, &address) == DOCA_SUCCESS)
		check_inside(&address, data, size);
	(void)urom_directory_segment(directory, domain_id, other, &segment);
	if (urom_directory_keys(directory, domain_id, segment, &memh, &mkey) == DOCA_SUCCESS) {
		check_inside(&memh, data, size);
		check_inside(&mkey, data, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)malloc(size + 1);
	struct urom_directory *directory;
	const char *reason;

	memcpy(copy, data, size);
	if (urom_directory_open(copy, size, &directory, &reason) != DOCA_SUCCESS) {
		assert(reason != NULL);
		free(copy);
		return 0;
	}
	look_up(directory, 0, 0, copy, size);
	for (size_t i = 0; i + 16 <= size; i++) {
		uint64_t words[2];

		memcpy(words, data + i, sizeof(words));
		look_up(directory, words[0], words[1], copy, size);
		look_up(directory, words[0], 1, copy, size);
	}
	urom_directory_close(directory);
	return 0;
}
