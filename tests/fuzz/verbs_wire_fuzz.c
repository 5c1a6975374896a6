/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that a peer of the verbs provider can send, without a device: messages between agents, as a stream cut anywhere; the record
 * that begins a message on the wire; the view of a port's receives, which the peer writes into our memory; exported descriptors.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	assert(unpacked.len != 0 && unpacked.addr + unpacked.len > unpacked.addr);
	assert(strnlen(unpacked.reach, VB_REACH_SIZE) < VB_REACH_SIZE);
	sf_verbs_descriptor_pack(&unpacked, again);
	assert(size == sizeof(again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(const uint8_t *, size_t) = {stream, record, view, descriptor};

	if (size != 0)
		parsers[data[0] % 4](data + 1, size - 1);
	return 0;
}
