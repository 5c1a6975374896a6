/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/message.h"

#include <string.h>

#include "fabric/control/address.h"

static struct sf_control_provider *providers;

void sf_control_add(struct sf_control_provider *provider)
{
	provider->next = providers;
	providers = provider;
}

struct sf_control_provider *sf_control_providers(void)
{
	return providers;
}

static const struct sf_control_provider *provider_find(uint16_t kind)
{
	const struct sf_control_provider *provider = providers;

	while (provider != NULL && (kind < provider->kinds || kind - provider->kinds >= SF_MSG_KINDS))
		provider = provider->next;
	return provider;
}

size_t sf_msg_size(const void *bytes, size_t len)
{
	struct sf_msg head;

	if (len < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != SF_MSG_MAGIC || head.version != SF_MSG_VERSION || head.size < sizeof(head) ||
	    head.size > SF_MSG_SIZE_MAX)
		return UINT32_MAX;
	return head.size;
}

static bool name_check(const char name[SF_NAME_MAX])
{
	return name[0] != '\0' && memchr(name, '\0', SF_NAME_MAX) != NULL;
}

static bool address_check(const char address[SF_ADDRESS_MAX])
{
	struct sf_addresses addresses;

	return memchr(address, '\0', SF_ADDRESS_MAX) != NULL && sf_addresses_parse(address, &addresses);
}

static bool connect_check(const struct sf_msg_connect *msg, unsigned fds)
{
	const struct sf_control_provider *provider = provider_find(msg->provider);

	return provider != NULL && provider->kinds == msg->provider && fds == provider->connect_fds &&
	       provider->side_check(&msg->side) && msg->data_len <= SF_PRIVATE_MAX && name_check(msg->name);
}

static bool accept_check(const struct sf_msg_accept *msg, unsigned fds)
{
	const struct sf_control_provider *provider = provider_find(msg->provider);

	return provider != NULL && provider->kinds == msg->provider && fds == provider->accept_fds &&
	       provider->side_check(&msg->side) && msg->data_len <= SF_PRIVATE_MAX;
}

bool sf_msg_check(const struct sf_msg *msg, size_t len, unsigned fds)
{
	const struct sf_control_provider *provider;

	if (sf_msg_size(msg, len) != len || len == 0)
		return false;
	switch (msg->kind) {
	case SF_MSG_HANDSHAKE:
		return len == sizeof(struct sf_msg_handshake) && fds == 0;
	case SF_MSG_CONNECT:
		return len == sizeof(struct sf_msg_connect) && connect_check((const struct sf_msg_connect *)msg, fds);
	case SF_MSG_PENDING:
	case SF_MSG_ALIVE:
		return len == sizeof(*msg) && fds == 0;
	case SF_MSG_LOCATE:
		return len == sizeof(struct sf_msg_locate) && fds == 0 && name_check(((const struct sf_msg_locate *)msg)->name);
	case SF_MSG_ADDRESS:
		return len == sizeof(struct sf_msg_address) && fds == 0 &&
		       address_check(((const struct sf_msg_address *)msg)->address);
	case SF_MSG_ACCEPT:
		return len == sizeof(struct sf_msg_accept) && accept_check((const struct sf_msg_accept *)msg, fds);
	case SF_MSG_REFUSE:
		return len == sizeof(struct sf_msg_refuse) && fds == 0 &&
		       ((const struct sf_msg_refuse *)msg)->data_len <= SF_PRIVATE_MAX;
	default:
		provider = provider_find(msg->kind);
		return provider != NULL && provider->check(msg, len, fds);
	}
}

doca_error_t sf_msg_status(uint32_t status)
{
	switch ((doca_error_t)status) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_NOT_FOUND:
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_CONNECTION_ABORTED:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_FULL:
	case DOCA_ERROR_OPERATING_SYSTEM:
	case DOCA_ERROR_DRIVER:
	case DOCA_ERROR_TIME_OUT: /* of a machine, about one of its processes */
		return (doca_error_t)status;
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

const char *sf_msg_name(uint16_t kind)
{
	static const char *const names[SF_MSG_KINDS] = {
		[SF_MSG_HANDSHAKE] = "handshake", [SF_MSG_CONNECT] = "connect", [SF_MSG_PENDING] = "pending",
		[SF_MSG_ACCEPT] = "accept",	  [SF_MSG_REFUSE] = "refuse",	[SF_MSG_LOCATE] = "locate",
		[SF_MSG_ADDRESS] = "address",	  [SF_MSG_ALIVE] = "alive",
	};
	static const char *const others[] = {"shm message", "verbs message", "tcp message"};

	if (kind < SF_MSG_KINDS)
		return names[kind];
	kind = (uint16_t)(kind / SF_MSG_KINDS - 1);
	return kind < sizeof(others) / sizeof(others[0]) ? others[kind] : NULL;
}
