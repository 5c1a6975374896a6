/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message to the agent comes from any process of the user. What the check lets in must have every length inside its bounds:
 * here each is used the way the agent does.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/shm/fds.h"
#include "fabric/shm/layout.h"
#include "fabric/shm/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void touch(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink ^= ((const uint8_t *)bytes)[i];
}

static void use_port(const struct shm_msg_port *port)
{
	assert(port->entries != 0 && shm_port_segment_size(port->entries) <= shm_port_segment_size(SHM_RECV_MAX));
	assert(shm_state_link(shm_state(SHM_TAKEN, port->link, port->ticket)) == port->link);
	assert(shm_state_ticket(shm_state(SHM_TAKEN, port->link, port->ticket)) == port->ticket);
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

static void use(const void *bytes, unsigned fds)
{
	const struct shm_msg *head = bytes;

	switch (head->kind) {
	case SHM_MSG_CONNECT: {
		const struct shm_msg_connect *msg = bytes;

		use_port(&msg->port);
		assert(strlen(msg->name) < SF_NAME_MAX);
		touch(msg->data, msg->data_len);
		break;
	}
	case SHM_MSG_ACCEPT: {
		const struct shm_msg_accept *msg = bytes;

		use_port(&msg->port);
		touch(msg->data, msg->data_len);
		break;
	}
	case SHM_MSG_REFUSE: {
		const struct shm_msg_refuse *msg = bytes;

		assert(sf_shm_msg_status(msg->status) <= DOCA_ERROR_SKIPPED);
		touch(msg->data, msg->data_len);
		break;
	}
	case SHM_MSG_ATTACHED:
		use_attached(bytes, fds);
		break;
	case SHM_MSG_OPERATE: {
		const struct shm_msg_operate *msg = bytes;

		assert(msg->kind != SF_OP_SEND && msg->kind <= SF_OP_FAA && msg->len <= SHM_MSG_OPERATE_MAX);
		if (msg->kind == SF_OP_WRITE)
			touch(msg->data, msg->len);
		break;
	}
	case SHM_MSG_OPERATED: {
		const struct shm_msg_operated *msg = bytes;

		touch(msg->data, msg->len);
		break;
	}
	default:
		break;
	}
}

/* The first byte is how many descriptors came along. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > SHM_MSG_SIZE_MAX)
		return 0;

	unsigned fds = data[0] % (SHM_FDS_MAX + 1);
	uint8_t *message = malloc(size - 1 + !(size - 1)); /* of that size exactly, so that reading on is seen */

	if (message == NULL)
		return 0;
	memcpy(message, data + 1, size - 1);
	if (sf_shm_msg_check(message, size - 1, fds))
		use(message, fds);
	free(message);
	return 0;
}
