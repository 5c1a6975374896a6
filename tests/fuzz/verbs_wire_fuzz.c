/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that a peer of the verbs provider can send besides messages between agents, without a device: the record that begins a
 * message on the wire; the view of an endpoint's receives, which the peer writes into our memory; exported descriptors; network
 * addresses of a process.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/control/address.h"
#include "fabric/verbs/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void record(const uint8_t *data, size_t size)
{
	struct vb_record copy = {0};

	memcpy(&copy, data, size < sizeof(copy) ? size : sizeof(copy));
	if (!sf_verbs_record_check(&copy, size > sizeof(copy) ? size - sizeof(copy) : 0))
		return;
	assert(copy.header_len <= SF_HEADER_MAX);
	assert(copy.kind != VB_RECORD_PULL || copy.len <= SF_TRANSFER_MAX);
}

static void view(const uint8_t *data, size_t size)
{
	struct vb_view from = {0}, to = {0};
	uint32_t sent;

	if (size < sizeof(sent))
		return;
	memcpy(&sent, data, sizeof(sent));
	memcpy(&from, data + sizeof(sent), size - sizeof(sent) < sizeof(from) ? size - sizeof(sent) : sizeof(from));
	if (sf_verbs_view_read(&from, &to))
		assert(to.begin == to.end);
	for (uint32_t i = 0; i < 4; i++) {
		int64_t room = sf_verbs_view_room(&from, sent + i);

		assert(room >= -1 && room <= UINT32_MAX);
	}
}

static void descriptor(const uint8_t *data, size_t size)
{
	uint8_t again[VB_DESCRIPTOR_SIZE];
	struct vb_descriptor unpacked;

	if (sf_verbs_descriptor_unpack(data, size, &unpacked) != DOCA_SUCCESS)
		return;
	assert(unpacked.base.len != 0 && unpacked.base.addr + unpacked.base.len > unpacked.base.addr);
	assert(strnlen(unpacked.address, SF_ADDRESS_MAX) < SF_ADDRESS_MAX);
	sf_verbs_descriptor_pack(&unpacked, again);
	assert(size == sizeof(again));
}

/* A parsed address is written so that it parses to the same one. */
static void address(const uint8_t *data, size_t size)
{
	char text[SF_NAME_MAX] = {0}, again[SF_ADDRESS_MAX];
	struct sf_addresses parsed, reparsed;

	memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	if (!sf_addresses_parse(text, &parsed))
		return;
	assert(parsed.num >= 1 && parsed.num <= SF_ADDRESSES_MAX);
	sf_addresses_format(&parsed, again);
	assert(sf_addresses_parse(again, &reparsed));
	parsed.num = reparsed.num; /* IPv6 addresses may be written longer than they were given */
	memset(parsed.at + parsed.num, 0, (SF_ADDRESSES_MAX - parsed.num) * sizeof(parsed.at[0]));
	assert(memcmp(&parsed, &reparsed, sizeof(parsed)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(const uint8_t *, size_t) = {record, view, descriptor, address};

	if (size != 0)
		parsers[data[0] % 4](data + 1, size - 1);
	return 0;
}
