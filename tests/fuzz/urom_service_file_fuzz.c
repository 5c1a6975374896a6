/* SPDX-License-Identifier: BSD-3-Clause */
/* The file in which services are looked up. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "urom/service_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool anywhere(const char *hostname)
{
	return hostname[0] != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct urom_service_entry entry;
	char *text = (char *)malloc(size + 1);

	memcpy(text, data, size);
	if (urom_service_file_find(text, size, "fuzzed", "0000:d8:00.0", anywhere, &entry) == DOCA_SUCCESS) {
		assert(memchr(entry.host, '\0', sizeof(entry.host)) != NULL && entry.host[0] != '\0');
		assert(memchr(entry.net_devices, '\0', sizeof(entry.net_devices)) != NULL && entry.port != 0);
	}
	free(text);
	return 0;
}
