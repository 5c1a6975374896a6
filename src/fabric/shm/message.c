/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/message.h"

#include <string.h>

#include "fabric/shm/layout.h"

bool sf_shm_side_check(const void *bytes)
{
	const struct shm_msg_ep *ep = (const struct shm_msg_ep *)bytes;

	return ep->entries != 0 && ep->entries <= SHM_RECV_MAX && (ep->entries & (ep->entries - 1)) == 0 &&
	       ep->conn <= SHM_CONN_ID_MAX && ep->ticket <= SHM_TICKET_MASK;
}

/* Runs lie inside the region, in order and without overlap, so that a mapping of all of them has no more bytes than the
 * region. */
static bool attached_check(const struct shm_msg_attached *msg, unsigned num)
{
	uint64_t end = msg->addr;

	if (msg->run_num > SHM_MSG_RUNS_MAX || msg->len > UINT64_MAX - msg->addr)
		return false;
	for (uint32_t i = 0; i < msg->run_num; i++) {
		const struct shm_msg_run *run = &msg->run[i];

		if (run->len == 0 || run->addr < end || !sf_range_inside(run->addr, run->len, msg->addr, msg->len))
			return false;
		if (run->addr % SHM_PAGE != 0 || run->len % SHM_PAGE != 0 || run->offset % SHM_PAGE != 0)
			return false;
		if (run->fd >= num || run->len > INT64_MAX || run->offset > INT64_MAX - run->len)
			return false;
		end = run->addr + run->len;
	}
	return true;
}

static bool operate_check(const struct shm_msg_operate *msg, size_t len)
{
	size_t data = len - sizeof(*msg);

	if (msg->kind < SF_OP_WRITE || msg->kind > SF_OP_FAA || msg->len > SHM_MSG_OPERATE_MAX)
		return false;
	if (msg->kind == SF_OP_CAS || msg->kind == SF_OP_FAA)
		return msg->len == sizeof(uint64_t) && data == 0;
	return data == (msg->kind == SF_OP_WRITE ? msg->len : 0);
}

static bool operated_check(const struct shm_msg_operated *msg, size_t len)
{
	return msg->len <= SHM_MSG_OPERATE_MAX && len - sizeof(*msg) == msg->len;
}

bool sf_shm_msg_check(const struct sf_msg *msg, size_t len, unsigned num)
{
	switch (msg->kind) {
	case SHM_MSG_HANDSHAKE:
		return len == sizeof(*msg) && num == 0;
	case SHM_MSG_WELCOME:
		return len == sizeof(struct shm_msg_welcome) && num == 1;
	case SHM_MSG_ATTACH:
		return len == sizeof(struct shm_msg_attach) && num == 0;
	case SHM_MSG_ATTACHED:
		return len == sizeof(struct shm_msg_attached) && attached_check((const struct shm_msg_attached *)msg, num);
	case SHM_MSG_OPERATE:
		return len >= sizeof(struct shm_msg_operate) && num == 0 &&
		       operate_check((const struct shm_msg_operate *)msg, len);
	case SHM_MSG_OPERATED:
		return len >= sizeof(struct shm_msg_operated) && num == 0 &&
		       operated_check((const struct shm_msg_operated *)msg, len);
	case SHM_MSG_GONE:
		return len == sizeof(struct shm_msg_gone) && num == 0;
	default:
		return false;
	}
}
