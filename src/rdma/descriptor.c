/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/descriptor.h"

#include <string.h>

#include "base/little.h"
#include "base/log.h"

#define DESCRIPTOR_MAGIC UINT32_C(0x44524653) /* SFRD */
#define GREETING_MAGIC UINT32_C(0x47524653)   /* SFRG */
#define WIRE_VERSION 1

enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_TRANSPORT = 8,
	AT_PERMISSIONS = 10,
	AT_TOKEN = 12,
	AT_NAME = AT_TOKEN + RDMA_TOKEN_SIZE,
	AT_SUM = AT_NAME + RDMA_NAME_MAX,
	AT_SLOT = AT_SUM + 8,
	AT_END = AT_SLOT + 4,
};

_Static_assert(AT_END == RDMA_DESCRIPTOR_SIZE, "a descriptor is as long as its fields");

/* Over all bytes but the sum's own. */
static uint64_t checksum(const uint8_t *bytes)
{
	return sf_checksum(sf_checksum(SF_CHECKSUM_BEGIN, bytes, AT_SUM), bytes + AT_SLOT, RDMA_DESCRIPTOR_SIZE - AT_SLOT);
}

void rdma_descriptor_pack(const struct rdma_descriptor *descriptor, uint8_t out[RDMA_DESCRIPTOR_SIZE])
{
	memset(out, 0, RDMA_DESCRIPTOR_SIZE);
	sf_put_le32(out + AT_MAGIC, DESCRIPTOR_MAGIC);
	sf_put_le32(out + AT_VERSION, WIRE_VERSION);
	sf_put_le16(out + AT_TRANSPORT, descriptor->transport);
	sf_put_le16(out + AT_PERMISSIONS, descriptor->permissions);
	memcpy(out + AT_TOKEN, descriptor->token, RDMA_TOKEN_SIZE);
	memcpy(out + AT_NAME, descriptor->name, RDMA_NAME_MAX);
	sf_put_le32(out + AT_SLOT, descriptor->slot);
	sf_put_little(out + AT_SUM, checksum(out), 8);
}

doca_error_t rdma_descriptor_parse(const void *data, size_t len, struct rdma_descriptor *descriptor)
{
	const uint8_t *in = (const uint8_t *)data;
	if (len < AT_TRANSPORT || sf_get_le32(in + AT_MAGIC) != DESCRIPTOR_MAGIC) {
		SF_LOG_ERR("remote connection details of %zu bytes were not made by doca_rdma_export", len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_get_le32(in + AT_VERSION) != WIRE_VERSION) {
		SF_LOG_ERR(
			"remote connection details are of version %u, this library reads %d: use the same release on both sides",
			sf_get_le32(in + AT_VERSION), WIRE_VERSION);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len != RDMA_DESCRIPTOR_SIZE) {
		SF_LOG_ERR("remote connection details have %zu bytes of %d: copy them whole", len, RDMA_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_get_little(in + AT_SUM, 8) != checksum(in) || memchr(in + AT_NAME, '\0', RDMA_NAME_MAX) == NULL || in[AT_NAME] == '\0') {
		SF_LOG_ERR("remote connection details were altered on their way");
		return DOCA_ERROR_INVALID_VALUE;
	}
	descriptor->transport = sf_get_le16(in + AT_TRANSPORT);
	descriptor->permissions = sf_get_le16(in + AT_PERMISSIONS);
	memcpy(descriptor->token, in + AT_TOKEN, RDMA_TOKEN_SIZE);
	memcpy(descriptor->name, in + AT_NAME, RDMA_NAME_MAX);
	descriptor->slot = sf_get_le32(in + AT_SLOT);
	return DOCA_SUCCESS;
}

void rdma_greeting_pack(const struct rdma_greeting *greeting, uint8_t out[RDMA_GREETING_SIZE])
{
	sf_put_le32(out, GREETING_MAGIC);
	sf_put_le32(out + 4, WIRE_VERSION);
	memcpy(out + 8, greeting->to, RDMA_TOKEN_SIZE);
	memcpy(out + 8 + RDMA_TOKEN_SIZE, greeting->from, RDMA_TOKEN_SIZE);
	sf_put_le32(out + 8 + 2 * RDMA_TOKEN_SIZE, greeting->slot);
}

doca_error_t rdma_greeting_parse(const void *data, size_t len, struct rdma_greeting *greeting)
{
	const uint8_t *in = (const uint8_t *)data;
	if (len != RDMA_GREETING_SIZE || sf_get_le32(in) != GREETING_MAGIC || sf_get_le32(in + 4) != WIRE_VERSION)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(greeting->to, in + 8, RDMA_TOKEN_SIZE);
	memcpy(greeting->from, in + 8 + RDMA_TOKEN_SIZE, RDMA_TOKEN_SIZE);
	greeting->slot = sf_get_le32(in + 8 + 2 * RDMA_TOKEN_SIZE);
	return DOCA_SUCCESS;
}
