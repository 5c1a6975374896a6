/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/status_page.h"

#include <string.h>

#include "base/little.h"

#define SUMMED_FROM (offsetof(struct sf_status_head, checksum) + sizeof(uint64_t))

_Static_assert(sizeof(struct sf_status_head) % 8 == 0 && sizeof(struct sf_status_engine) % 8 == 0 &&
		       sizeof(struct sf_status_context) % 8 == 0 && sizeof(struct sf_status_connection) % 8 == 0,
	       "no padding between the lists");

const char *sf_status_state_name(uint32_t state)
{
	static const char *const names[SF_STATUS_STATES] = {"IDLE", "STARTING", "RUNNING", "STOPPING"};

	return names[state];
}

/* Detects pages that are half written, not forged ones. */
static uint64_t page_checksum(const uint8_t *bytes, size_t len)
{
	return sf_checksum(SF_CHECKSUM_BEGIN, bytes + SUMMED_FROM, len - SUMMED_FROM);
}

static size_t list_put(uint8_t *bytes, size_t at, const void *list, size_t len)
{
	memcpy(bytes + at, list, len);
	return at + len;
}

size_t sf_status_page_pack(const struct sf_status_page *page, void *bytes)
{
	struct sf_status_head head = page->head;
	size_t len = sizeof(head);

	len = list_put(bytes, len, page->engines, head.num_engines * sizeof(page->engines[0]));
	len = list_put(bytes, len, page->contexts, head.num_contexts * sizeof(page->contexts[0]));
	len = list_put(bytes, len, page->connections, head.num_connections * sizeof(page->connections[0]));
	memcpy(head.magic, SF_STATUS_MAGIC, sizeof(head.magic));
	head.version = SF_STATUS_VERSION;
	head.size = (uint32_t)len;
	memcpy(bytes, &head, sizeof(head));
	head.checksum = page_checksum(bytes, len);
	memcpy(bytes, &head, sizeof(head));
	return len;
}

/* ---- parsing, of untrusted pages ---- */

static bool head_check(const struct sf_status_head *head, const void *bytes, size_t len)
{
	if (memcmp(head->magic, SF_STATUS_MAGIC, sizeof(head->magic)) != 0 || head->version != SF_STATUS_VERSION ||
	    head->size != len)
		return false;
	if (head->num_engines > SF_STATUS_ENGINES_MAX || head->num_contexts > SF_STATUS_CONTEXTS_MAX ||
	    head->num_connections > SF_STATUS_CONNECTIONS_MAX)
		return false;
	return len == sizeof(*head) + head->num_engines * sizeof(struct sf_status_engine) +
			       head->num_contexts * sizeof(struct sf_status_context) +
			       head->num_connections * sizeof(struct sf_status_connection) &&
	       head->checksum == page_checksum(bytes, len);
}

static bool contexts_check(struct sf_status_page *page)
{
	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		struct sf_status_context *context = &page->contexts[i];

		if (context->engine >= page->head.num_engines || context->state >= SF_STATUS_STATES)
			return false;
		context->kind[sizeof(context->kind) - 1] = '\0';
		context->device[sizeof(context->device) - 1] = '\0';
		context->name[sizeof(context->name) - 1] = '\0';
	}
	return true;
}

static bool connections_check(const struct sf_status_page *page)
{
	for (uint32_t i = 0; i < page->head.num_connections; i++) {
		if (page->connections[i].context >= page->head.num_contexts || page->connections[i].pid > INT32_MAX)
			return false;
	}
	return true;
}

static const uint8_t *list_get(void *list, const uint8_t *from, size_t len)
{
	memcpy(list, from, len);
	return from + len;
}

bool sf_status_page_parse(const void *bytes, size_t len, struct sf_status_page *page)
{
	const uint8_t *from = bytes;

	memset(page, 0, sizeof(*page));
	if (len < sizeof(page->head))
		return false;
	from = list_get(&page->head, from, sizeof(page->head));
	if (!head_check(&page->head, bytes, len))
		return false;
	page->head.program[sizeof(page->head.program) - 1] = '\0';
	page->head.node[sizeof(page->head.node) - 1] = '\0';
	from = list_get(page->engines, from, page->head.num_engines * sizeof(page->engines[0]));
	from = list_get(page->contexts, from, page->head.num_contexts * sizeof(page->contexts[0]));
	(void)list_get(page->connections, from, page->head.num_connections * sizeof(page->connections[0]));
	return contexts_check(page) && connections_check(page);
}
