/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/descriptor.h"

#include <stdbool.h>
#include <string.h>

#include "base/little.h"
#include "base/log.h"
#include "base/log_rate.h"

#define DESCRIPTOR_MAGIC UINT32_C(0x44524653) /* SFRD */
#define HANDSHAKE_MAGIC UINT32_C(0x47524653)  /* SFRG */
#define WIRE_VERSION 2
#define DESCRIPTOR_VERSION 4

enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_TRANSPORT = 8,
	AT_PERMISSIONS = 10,
	AT_TOKEN = 12,
	AT_SLOT = AT_TOKEN + RDMA_TOKEN_SIZE,
	AT_NAME_LEN = AT_SLOT + 4,
	AT_ADDRESS_LEN = AT_NAME_LEN + 4,
	AT_SUM = AT_ADDRESS_LEN + 4,
	AT_NAME = AT_SUM + 8,
};

_Static_assert(AT_NAME == RDMA_DESCRIPTOR_HEAD, "a descriptor's head is as long as its fields");

/* Over all bytes except the checksum. */
static uint64_t descriptor_checksum(const uint8_t *bytes, size_t len)
{
	return sf_checksum(sf_checksum(SF_CHECKSUM_BEGIN, bytes, AT_SUM), bytes + AT_NAME, len - AT_NAME);
}

size_t rdma_descriptor_pack(const struct rdma_descriptor *descriptor, uint8_t out[RDMA_DESCRIPTOR_MAX])
{
	const size_t name_len = strlen(descriptor->name), address_len = strlen(descriptor->address);
	const size_t len = AT_NAME + name_len + address_len;

	sf_put_le32(out + AT_MAGIC, DESCRIPTOR_MAGIC);
	sf_put_le32(out + AT_VERSION, DESCRIPTOR_VERSION);
	sf_put_le16(out + AT_TRANSPORT, descriptor->transport);
	sf_put_le16(out + AT_PERMISSIONS, descriptor->permissions);
	memcpy(out + AT_TOKEN, descriptor->token, RDMA_TOKEN_SIZE);
	sf_put_le32(out + AT_SLOT, descriptor->slot);
	sf_put_le32(out + AT_NAME_LEN, (uint32_t)name_len);
	sf_put_le32(out + AT_ADDRESS_LEN, (uint32_t)address_len);
	memcpy(out + AT_NAME, descriptor->name, name_len);
	memcpy(out + AT_NAME + name_len, descriptor->address, address_len);
	sf_put_le64(out + AT_SUM, descriptor_checksum(out, len));
	return len;
}

doca_error_t rdma_descriptor_parse(const void *data, size_t len, struct rdma_descriptor *descriptor)
{
	const uint8_t *in = (const uint8_t *)data;

	if (len < AT_TRANSPORT || sf_get_le32(in + AT_MAGIC) != DESCRIPTOR_MAGIC) {
		SF_LOG_ERR_LIMITED("remote connection details of %zu bytes do not come from doca_rdma_export", len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_get_le32(in + AT_VERSION) != DESCRIPTOR_VERSION) {
		SF_LOG_ERR_LIMITED(
			"remote connection details have version %u, this library reads %d: use the same release on both sides",
			sf_get_le32(in + AT_VERSION), DESCRIPTOR_VERSION);
		return DOCA_ERROR_INVALID_VALUE;
	}
	const uint32_t name_len = len >= AT_NAME ? sf_get_le32(in + AT_NAME_LEN) : 0;
	const uint32_t address_len = len >= AT_NAME ? sf_get_le32(in + AT_ADDRESS_LEN) : 0;
	const bool has_lengths = name_len < SF_NAME_MAX && address_len < SF_ADDRESS_MAX;
	if (len < AT_NAME || (has_lengths && len != AT_NAME + name_len + address_len)) {
		SF_LOG_ERR_LIMITED("remote connection details are truncated to %zu of %zu bytes: copy all of them", len,
				   (size_t)AT_NAME + name_len + address_len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!has_lengths || name_len == 0 || sf_get_le64(in + AT_SUM) != descriptor_checksum(in, len) ||
	    memchr(in + AT_NAME, '\0', name_len + address_len) != NULL) {
		SF_LOG_ERR_LIMITED("remote connection details are corrupt: their checksum is wrong");
		return DOCA_ERROR_INVALID_VALUE;
	}
	memset(descriptor, 0, sizeof(*descriptor));
	descriptor->transport = sf_get_le16(in + AT_TRANSPORT);
	descriptor->permissions = sf_get_le16(in + AT_PERMISSIONS);
	memcpy(descriptor->token, in + AT_TOKEN, RDMA_TOKEN_SIZE);
	descriptor->slot = sf_get_le32(in + AT_SLOT);
	memcpy(descriptor->name, in + AT_NAME, name_len);
	memcpy(descriptor->address, in + AT_NAME + name_len, address_len);
	return DOCA_SUCCESS;
}

void rdma_handshake_pack(const struct rdma_handshake *handshake, uint8_t out[RDMA_HANDSHAKE_SIZE])
{
	sf_put_le32(out, HANDSHAKE_MAGIC);
	sf_put_le32(out + 4, WIRE_VERSION);
	memcpy(out + 8, handshake->to, RDMA_TOKEN_SIZE);
	memcpy(out + 8 + RDMA_TOKEN_SIZE, handshake->from, RDMA_TOKEN_SIZE);
	sf_put_le32(out + 8 + 2 * RDMA_TOKEN_SIZE, handshake->slot);
}

doca_error_t rdma_handshake_parse(const void *data, size_t len, struct rdma_handshake *handshake)
{
	const uint8_t *in = (const uint8_t *)data;

	if (len != RDMA_HANDSHAKE_SIZE || sf_get_le32(in) != HANDSHAKE_MAGIC || sf_get_le32(in + 4) != WIRE_VERSION)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(handshake->to, in + 8, RDMA_TOKEN_SIZE);
	memcpy(handshake->from, in + 8 + RDMA_TOKEN_SIZE, RDMA_TOKEN_SIZE);
	handshake->slot = sf_get_le32(in + 8 + 2 * RDMA_TOKEN_SIZE);
	return DOCA_SUCCESS;
}
