/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A status page that another process wrote. The checksum is corrected first, so that the rest is parsed. An accepted page stays
 * within its lists, and is the same when packed and parsed again.
 */
#include <stdint.h>
#include <string.h>

#include "base/little.h"
#include "base/status_page.h"
#include "support/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sf_status_page *page)
{
	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		const struct sf_status_context *it = &page->contexts[i];

		CHECK(it->engine < page->head.num_engines && page->head.num_engines <= SF_STATUS_ENGINES_MAX);
		CHECK(sf_status_state_name(it->state)[0] != '\0');
		CHECK(strlen(it->kind) < sizeof(it->kind) && strlen(it->device) < sizeof(it->device) &&
		      strlen(it->name) < sizeof(it->name));
	}
	for (uint32_t i = 0; i < page->head.num_connections; i++)
		CHECK(page->connections[i].context < page->head.num_contexts);
	CHECK(page->head.num_contexts <= SF_STATUS_CONTEXTS_MAX && page->head.num_connections <= SF_STATUS_CONNECTIONS_MAX);
	CHECK(strlen(page->head.program) < sizeof(page->head.program) && strlen(page->head.node) < sizeof(page->head.node));
}

/* The checksum of sf_status_page_pack. */
static void checksum_put(uint8_t *bytes, size_t size)
{
	const size_t begin = offsetof(struct sf_status_head, checksum) + sizeof(uint64_t);
	const uint64_t sum = sf_checksum(SF_CHECKSUM_BEGIN, bytes + begin, size - begin);

	memcpy(bytes + offsetof(struct sf_status_head, checksum), &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[sizeof(struct sf_status_page) + 1], packed[sizeof(struct sf_status_page)];
	static struct sf_status_page page, again;
	uint32_t len = (uint32_t)size;

	if (sf_status_page_parse(data, size, &page))
		check(&page);
	if (size < sizeof(struct sf_status_head) || size > sizeof(bytes))
		return 0;
	memcpy(bytes, data, size);
	memcpy(bytes, SF_STATUS_MAGIC, 8);
	bytes[8] = SF_STATUS_VERSION;
	memset(bytes + 9, 0, 3);
	memcpy(bytes + offsetof(struct sf_status_head, size), &len, sizeof(len));
	checksum_put(bytes, size);
	if (!sf_status_page_parse(bytes, size, &page))
		return 0;
	check(&page);
	CHECK(sf_status_page_pack(&page, packed) == size);
	CHECK(sf_status_page_parse(packed, size, &again));
	page.head.checksum = again.head.checksum;
	CHECK(memcmp(&page, &again, sizeof(page)) == 0);
	return 0;
}
