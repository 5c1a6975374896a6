/* SPDX-License-Identifier: BSD-3-Clause */
/* Every message of UROM, as either end parses it. An accepted message packs to the same bytes again. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "urom/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t again[UROM_CONTROL_MAX];

static void try_small(const uint8_t *data, size_t size)
{
	struct urom_head head;
	struct urom_handshake handshake;
	struct urom_challenge challenge;
	struct urom_spawned spawned;
	char text[UROM_TEXT_MAX];

	if (urom_head_parse(data, size, &head) == DOCA_SUCCESS)
		assert(head.kind != 0 && head.kind < UROM_KINDS && head.status >= 0);
	if (urom_handshake_parse(data, size, &handshake) == DOCA_SUCCESS)
		assert(urom_handshake_pack(&handshake, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
	if (urom_challenge_parse(data, size, &challenge) == DOCA_SUCCESS)
		assert(urom_challenge_pack(&challenge, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
	if (urom_spawned_parse(data, size, &spawned) == DOCA_SUCCESS)
		assert(urom_spawned_pack(&spawned, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
	urom_text_parse(data, size, text);
	assert(memchr(text, '\0', sizeof(text)) != NULL);
}

static void try_large(const uint8_t *data, size_t size)
{
	static struct urom_welcome welcome;
	static struct urom_spawn spawn;
	static struct urom_group group;

	if (urom_welcome_parse(data, size, &welcome) == DOCA_SUCCESS && size <= sizeof(again))
		assert(urom_welcome_pack(&welcome, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
	if (urom_spawn_parse(data, size, &spawn) == DOCA_SUCCESS && size <= sizeof(again))
		assert(urom_spawn_pack(&spawn, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
	if (urom_group_parse(data, size, &group) == DOCA_SUCCESS && size <= sizeof(again))
		assert(urom_group_pack(&group, again, sizeof(again)) == size && memcmp(again, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)malloc(size + 1); /* so that a read beyond the end is detected */

	memcpy(copy, data, size);
	try_small(copy, size);
	try_large(copy, size);
	free(copy);
	return 0;
}
