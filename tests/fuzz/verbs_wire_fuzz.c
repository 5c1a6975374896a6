/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that a peer of the verbs provider can send, without a device: messages between agents, as a stream cut anywhere; the record
 * that begins a message on the wire; the view of a port's receives, which the peer writes into our memory; exported descriptors;
 * where a process is found on a network.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/reach.h"
#include "fabric/verbs/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the agent does with a message relies on this. */
static void use_message(const uint8_t *bytes, size_t len)
{
	union vb_msg_any msg;

	memset(&msg, 0, sizeof(msg));
	memcpy(&msg, bytes, len);
	switch (msg.head.kind) {
	case VB_MSG_CONNECT:
		assert(strnlen(msg.connect.name, SF_NAME_MAX) < SF_NAME_MAX && msg.connect.name[0] != '\0');
		assert(msg.connect.data_len <= SF_PRIVATE_MAX && msg.connect.end.mtu >= 1 && msg.connect.end.mtu <= 5);
		break;
	case VB_MSG_ACCEPT:
		assert(msg.accept.data_len <= SF_PRIVATE_MAX);
		break;
	case VB_MSG_REFUSE:
		assert(msg.refuse.data_len <= SF_PRIVATE_MAX);
		(void)sf_verbs_msg_status(msg.head.count);
		break;
	case VB_MSG_ATTACHED:
		assert(msg.head.count != DOCA_SUCCESS || msg.attached.addr + msg.attached.len > msg.attached.addr);
		break;
	default:
		break;
	}
}

static void stream(const uint8_t *data, size_t size)
{
	while (size != 0) {
		size_t len = sf_verbs_msg_size(data, size);

		if (len == 0 || len > size || len > VB_MSG_SIZE_MAX)
			return;
		if (!sf_verbs_msg_check(data, len))
			return;
		use_message(data, len);
		data += len;
		size -= len;
	}
}

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
	assert(strnlen(unpacked.reach, SF_REACH_MAX) < SF_REACH_MAX);
	sf_verbs_descriptor_pack(&unpacked, again);
	assert(size == sizeof(again));
}

/* What is parsed is written so that it is parsed the same. */
static void reach(const uint8_t *data, size_t size)
{
	char text[SF_NAME_MAX] = {0}, plain[SF_NAME_MAX], place[SF_REACH_MAX], again[SF_REACH_MAX];
	struct vb_reach parsed, reparsed;

	memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	sf_verbs_name_split(text, plain, place);
	assert(plain[0] != '\0' || text[0] == '\0');
	assert(place[0] == '\0' || sf_verbs_reach_parse(place, &parsed));
	(void)sf_verbs_name_port(text);
	if (!sf_verbs_reach_parse(text, &parsed))
		return;
	assert(parsed.num >= 1 && parsed.num <= VB_ADDRS_MAX);
	sf_verbs_reach_format(&parsed, again);
	assert(sf_verbs_reach_parse(again, &reparsed));
	parsed.num = reparsed.num; /* IPv6 addresses may be written longer than they came */
	memset(parsed.at + parsed.num, 0, (VB_ADDRS_MAX - parsed.num) * sizeof(parsed.at[0]));
	assert(memcmp(&parsed, &reparsed, sizeof(parsed)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(const uint8_t *, size_t) = {stream, record, view, descriptor, reach};

	if (size != 0)
		parsers[data[0] % 5](data + 1, size - 1);
	return 0;
}
