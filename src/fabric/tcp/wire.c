/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/tcp/wire.h"

#include <string.h>

bool sf_tcp_head_check(const struct tcp_head *head)
{
	const uint32_t fixed = tcp_fixed_len(head);

	if (head->kind > TCP_BYE || head->header_len > SF_HEADER_MAX || head->len < fixed)
		return false;
	if (head->kind == TCP_SEND || head->kind == TCP_WRITE)
		return head->len - fixed <= SF_TRANSFER_MAX;
	if (head->header_len != 0)
		return false;
	return head->kind == TCP_DATA ? head->len <= SF_TRANSFER_MAX : head->len == fixed;
}

uint32_t sf_tcp_receives_credits(const struct tcp_receives *receives, uint32_t message, uint32_t *len)
{
	uint32_t ahead = message - receives->from;

	for (uint32_t i = 0; i < receives->num && i < TCP_RUNS_MAX; i++) {
		if (ahead < receives->runs[i].num) {
			*len = receives->runs[i].len;
			return receives->runs[i].num - ahead;
		}
		ahead -= receives->runs[i].num;
	}
	return 0;
}

int64_t sf_tcp_receives_room(const struct tcp_receives *receives, uint32_t message)
{
	uint32_t len;

	return sf_tcp_receives_credits(receives, message, &len) != 0 ? (int64_t)len : -1;
}

bool sf_tcp_side_check(const void *side)
{
	const struct tcp_side *it = side;

	return it->version == TCP_VERSION && it->num <= TCP_SIDE_RUNS_MAX;
}

void sf_tcp_side_receives(const struct tcp_side *side, struct tcp_receives *receives)
{
	*receives = (struct tcp_receives){.num = side->num, .more = side->more};
	memcpy(receives->runs, side->runs, side->num * sizeof(side->runs[0]));
}

bool sf_tcp_msg_check(const struct sf_msg *msg, size_t len, unsigned fds)
{
	if (fds != 0)
		return false;
	switch (msg->kind) {
	case TCP_MSG_ATTACH:
		return len == sizeof(struct tcp_msg_attach);
	case TCP_MSG_ATTACHED:
		return len == sizeof(struct tcp_msg_attached);
	default:
		return false;
	}
}
