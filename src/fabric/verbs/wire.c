/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/wire.h"

#include <string.h>

#include "base/little.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/address.h"

/* ---- messages between agents ---- */

/* MTUs are IBV_MTU_256 to IBV_MTU_4096. */
bool sf_verbs_end_check(const void *bytes)
{
	const struct vb_msg_end *end = (const struct vb_msg_end *)bytes;

	return end->mtu >= 1 && end->mtu <= 5 && end->qpn <= 0xffffff && end->psn <= 0xffffff;
}

static bool attached_check(const struct vb_msg_attached *msg)
{
	return msg->head.value != DOCA_SUCCESS ||
	       (sf_verbs_end_check(&msg->end) && msg->len != 0 && msg->len <= UINT64_MAX - msg->addr);
}

bool sf_verbs_msg_check(const struct sf_msg *msg, size_t len, unsigned fds)
{
	if (fds != 0)
		return false;
	switch (msg->kind) {
	case VB_MSG_READY:
	case VB_MSG_BYE:
	case VB_MSG_RING:
	case VB_MSG_ARM:
	case VB_MSG_PULLED:
	case VB_MSG_GONE:
	case VB_MSG_GONE_SEEN:
		return len == sizeof(*msg);
	case VB_MSG_ATTACH:
		return len == sizeof(struct vb_msg_attach) && sf_verbs_end_check(&((const struct vb_msg_attach *)msg)->end);
	case VB_MSG_ATTACHED:
		return len == sizeof(struct vb_msg_attached) && attached_check((const struct vb_msg_attached *)msg);
	default:
		return false;
	}
}

/* ---- records and views ---- */

bool sf_verbs_record_check(const struct vb_record *record, uint64_t bytes)
{
	if (record->header_len > SF_HEADER_MAX)
		return false;
	switch (record->kind) {
	case VB_RECORD_SEND:
		return record->len == bytes;
	case VB_RECORD_WRITE:
		return record->len == 0 && bytes == 0;
	case VB_RECORD_PULL:
		return record->len != 0 && record->len <= SF_TRANSFER_MAX && bytes == 0 &&
		       record->len <= UINT64_MAX - record->pull_addr;
	default:
		return false;
	}
}

uint32_t sf_verbs_view_credits(const struct vb_view *view, uint32_t sent, uint32_t *len)
{
	uint32_t ahead = sent - view->heard; /* receives of ours that are not counted off yet */

	for (uint32_t i = 0; i < view->runs_num && i < VB_RUNS_MAX; i++) {
		if (ahead < view->runs[i].num) {
			*len = view->runs[i].len;
			return view->runs[i].num - ahead;
		}
		ahead -= view->runs[i].num;
	}
	return 0;
}

int64_t sf_verbs_view_room(const struct vb_view *view, uint32_t sent)
{
	uint32_t len;

	return sf_verbs_view_credits(view, sent, &len) != 0 ? (int64_t)len : -1;
}

bool sf_verbs_view_read(const struct vb_view *from, struct vb_view *to)
{
	struct vb_view copy;

	/* The device writes upwards: a reader that finds the same number at the end, then reads the rest, then finds it
	 * at the beginning, has a consistent view. */
	copy.end = __atomic_load_n(&from->end, __ATOMIC_ACQUIRE);
	for (size_t i = 0; i < sizeof(copy) / sizeof(uint32_t) - 1; i++)
		((uint32_t *)&copy)[i] = __atomic_load_n((const uint32_t *)from + i, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	copy.begin = __atomic_load_n(&from->begin, __ATOMIC_RELAXED);
	if (copy.begin != copy.end)
		return false;
	*to = copy;
	return true;
}

/* ---- descriptors ---- */

static const struct sf_descriptor_form form = {.magic = "SFVB", .version = 2, .more = SF_ADDRESS_MAX, .what = "an RDMA device"};

_Static_assert(VB_DESCRIPTOR_SIZE <= SF_DESCRIPTOR_MAX, "the descriptor fits");

void sf_verbs_descriptor_pack(const struct vb_descriptor *descriptor, uint8_t bytes[VB_DESCRIPTOR_SIZE])
{
	sf_descriptor_pack(&form, &descriptor->base, descriptor->address, bytes);
}

doca_error_t sf_verbs_descriptor_unpack(const void *bytes, size_t len, struct vb_descriptor *descriptor)
{
	struct sf_addresses addresses;
	doca_error_t error = sf_descriptor_unpack(&form, bytes, len, &descriptor->base);

	if (error != DOCA_SUCCESS)
		return error;
	memcpy(descriptor->address, (const uint8_t *)bytes + SF_DESCRIPTOR_MORE, SF_ADDRESS_MAX);
	if (descriptor->address[0] == '\0' || (sf_addresses_parse(descriptor->address, &addresses) && addresses.has_token))
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the descriptor has no address of the memory's owner");
	return DOCA_ERROR_INVALID_VALUE;
}
