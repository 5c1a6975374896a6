/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the agent come from any process of the user, and from the network. In an accepted message every length must be in
 * bounds. The target uses each as the agent does.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/control/address.h"
#include "fabric/control/message.h"
#include "fabric/shm/layout.h"
#include "fabric/shm/message.h"
#include "fabric/tcp/wire.h"
#include "fabric/verbs/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink ^= ((const uint8_t *)bytes)[i];
}

static void use_ep(const struct shm_msg_ep *ep)
{
	assert(ep->entries != 0 && shm_ep_segment_size(ep->entries) <= shm_ep_segment_size(SHM_RECV_MAX));
	assert(shm_state_conn(shm_state(SHM_TAKEN, ep->conn, ep->ticket)) == ep->conn);
	assert(shm_state_ticket(shm_state(SHM_TAKEN, ep->conn, ep->ticket)) == ep->ticket);
}

static void use_attached(const struct shm_msg_attached *msg, unsigned fds)
{
	uint64_t end = msg->addr;

	for (uint32_t i = 0; i < msg->run_num; i++) {
		const struct shm_msg_run *run = &msg->run[i];

		assert(run->fd < fds && run->len != 0 && run->addr >= end);
		assert(run->addr + run->len - msg->addr <= msg->len);
		assert((int64_t)(run->offset + run->len) >= 0);
		end = run->addr + run->len;
	}
}

static void use_shm(const struct sf_msg *msg, unsigned fds)
{
	const struct shm_msg_operate *operate = (const struct shm_msg_operate *)msg;
	const struct shm_msg_operated *operated = (const struct shm_msg_operated *)msg;

	switch (msg->kind) {
	case SHM_MSG_ATTACHED:
		use_attached((const struct shm_msg_attached *)msg, fds);
		break;
	case SHM_MSG_OPERATE:
		assert(operate->kind != SF_OP_SEND && operate->kind <= SF_OP_FAA && operate->len <= SHM_MSG_OPERATE_MAX);
		if (operate->kind == SF_OP_WRITE)
			touch(operate->data, operate->len);
		break;
	case SHM_MSG_OPERATED:
		touch(operated->data, operated->len);
		break;
	default:
		break;
	}
}

static void use_verbs(const struct sf_msg *msg, unsigned fds)
{
	const struct vb_msg_attached *attached = (const struct vb_msg_attached *)msg;

	assert(fds == 0);
	if (msg->kind == VB_MSG_ATTACHED && msg->value == DOCA_SUCCESS)
		assert(attached->addr + attached->len > attached->addr && attached->end.mtu >= 1 && attached->end.mtu <= 5);
}

static void use_tcp(const struct sf_msg *msg, unsigned fds)
{
	const struct tcp_msg_attach *attach = (const struct tcp_msg_attach *)msg;

	assert(fds == 0 && (msg->kind == TCP_MSG_ATTACH || msg->kind == TCP_MSG_ATTACHED));
	if (msg->kind == TCP_MSG_ATTACH)
		touch(attach, sizeof(*attach));
	else
		(void)sf_msg_status(msg->value);
}

static void use_tcp_side(const struct tcp_side *side)
{
	struct tcp_receives receives;
	uint32_t len = 0;

	sf_tcp_side_receives(side, &receives);
	assert(receives.num <= TCP_SIDE_RUNS_MAX);
	for (uint32_t message = 0; message < 2 * TCP_SIDE_RUNS_MAX; message++) {
		if (sf_tcp_receives_credits(&receives, message, &len) != 0)
			assert(sf_tcp_receives_room(&receives, message) == (int64_t)len);
	}
}

static void use_side(uint16_t provider, const struct sf_msg_side *side, unsigned fds, unsigned fds_of_shm)
{
	const struct vb_msg_end *end = (const struct vb_msg_end *)side;

	assert(fds == (provider == SF_MSG_OF_SHM ? fds_of_shm : 0));
	if (provider == SF_MSG_OF_SHM)
		use_ep((const struct shm_msg_ep *)side);
	else if (provider == SF_MSG_OF_TCP)
		use_tcp_side((const struct tcp_side *)side);
	else
		assert(end->mtu >= 1 && end->mtu <= 5);
}

static void use(const struct sf_msg *msg, unsigned fds)
{
	const struct sf_msg_connect *connect = (const struct sf_msg_connect *)msg;
	const struct sf_msg_accept *accept = (const struct sf_msg_accept *)msg;
	const struct sf_msg_refuse *refuse = (const struct sf_msg_refuse *)msg;
	struct sf_addresses addresses;

	switch (msg->kind) {
	case SF_MSG_CONNECT:
		use_side(connect->provider, &connect->side, fds, SHM_MSG_EP_FDS + 1);
		assert(connect->name[0] != '\0' && strnlen(connect->name, SF_NAME_MAX) < SF_NAME_MAX);
		touch(connect->data, connect->data_len);
		break;
	case SF_MSG_ACCEPT:
		use_side(accept->provider, &accept->side, fds, SHM_MSG_EP_FDS);
		touch(accept->data, accept->data_len);
		break;
	case SF_MSG_REFUSE:
		(void)sf_msg_status(msg->value);
		touch(refuse->data, refuse->data_len);
		break;
	case SF_MSG_HANDSHAKE:
	case SF_MSG_PENDING:
	case SF_MSG_ALIVE:
		assert(fds == 0);
		break;
	case SF_MSG_LOCATE:
		assert(fds == 0 && strnlen(((const struct sf_msg_locate *)msg)->name, SF_NAME_MAX) < SF_NAME_MAX);
		break;
	case SF_MSG_ADDRESS:
		assert(fds == 0 && sf_addresses_parse(((const struct sf_msg_address *)msg)->address, &addresses));
		break;
	default:
		if (msg->kind < SF_MSG_OF_VERBS)
			use_shm(msg, fds);
		else if (msg->kind < SF_MSG_OF_TCP)
			use_verbs(msg, fds);
		else
			use_tcp(msg, fds);
		break;
	}
}

static struct sf_control_provider shm = {.kinds = SF_MSG_OF_SHM,
					 .connect_fds = SHM_MSG_EP_FDS + 1,
					 .accept_fds = SHM_MSG_EP_FDS,
					 .side_check = sf_shm_side_check,
					 .check = sf_shm_msg_check};
static struct sf_control_provider verbs = {
	.kinds = SF_MSG_OF_VERBS, .side_check = sf_verbs_end_check, .check = sf_verbs_msg_check};
static struct sf_control_provider tcp = {.kinds = SF_MSG_OF_TCP, .side_check = sf_tcp_side_check, .check = sf_tcp_msg_check};

/* The first byte is the number of descriptors. The rest is a packet, or a stream of messages. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned fds;

	if (sf_control_providers() == NULL) {
		sf_control_add(&shm);
		sf_control_add(&verbs);
		sf_control_add(&tcp);
	}
	if (size == 0)
		return 0;
	fds = *data++ % (SF_MSG_FDS_MAX + 1);
	size--;
	for (size_t len = sf_msg_size(data, size); len != 0 && len <= size; len = sf_msg_size(data, size)) {
		struct sf_msg *msg = malloc(len); /* of exactly that size, so that a read beyond the end is detected */

		if (msg == NULL)
			return 0;
		memcpy(msg, data, len);
		if (sf_msg_check(msg, len, fds))
			use(msg, fds);
		free(msg);
		data += len;
		size -= len;
	}
	return 0;
}
