/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/descriptor.h"

#include <string.h>

#include "base/little.h"
#include "base/log.h"
#include "fabric/fabric.h"

#define MAGIC "SFSM"
#define VERSION 1

/* The bytes, little endian: magic, version, agent, token, region, addr, len, rights, checksum of all before it. */
enum offset {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_AGENT = 8,
	AT_TOKEN = 24,
	AT_REGION = 40,
	AT_ADDR = 48,
	AT_LEN = 56,
	AT_RIGHTS = 64,
	AT_CHECKSUM = 72,
	AT_END = 80,
};

_Static_assert((int)AT_END == SHM_DESCRIPTOR_SIZE && SHM_DESCRIPTOR_SIZE <= SF_DESCRIPTOR_MAX, "the descriptor fits");

void sf_shm_descriptor_pack(const struct shm_descriptor *descriptor, uint8_t bytes[SHM_DESCRIPTOR_SIZE])
{
	memset(bytes, 0, SHM_DESCRIPTOR_SIZE);
	memcpy(bytes + AT_MAGIC, MAGIC, 4);
	sf_put_little(bytes + AT_VERSION, VERSION, 4);
	memcpy(bytes + AT_AGENT, descriptor->agent.bytes, SF_KEY_SIZE);
	memcpy(bytes + AT_TOKEN, descriptor->token.bytes, SF_KEY_SIZE);
	sf_put_little(bytes + AT_REGION, descriptor->region, 8);
	sf_put_little(bytes + AT_ADDR, descriptor->addr, 8);
	sf_put_little(bytes + AT_LEN, descriptor->len, 8);
	sf_put_little(bytes + AT_RIGHTS, descriptor->rights, 4);
	sf_put_little(bytes + AT_CHECKSUM, sf_checksum(SF_CHECKSUM_BEGIN, bytes, AT_CHECKSUM), 8);
}

doca_error_t sf_shm_descriptor_unpack(const void *data, size_t len, struct shm_descriptor *descriptor)
{
	const uint8_t *bytes = data;

	if (len < AT_AGENT || memcmp(bytes + AT_MAGIC, MAGIC, 4) != 0) {
		SF_LOG_ERR("the %zu bytes are no descriptor of exported memory of this machine; pass all that the export gave",
			   len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_get_little(bytes + AT_VERSION, 4) != VERSION) {
		SF_LOG_ERR("the descriptor has version %u, this library reads version %d; use one release on both sides",
			   (unsigned)sf_get_little(bytes + AT_VERSION, 4), VERSION);
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	}
	if (len != SHM_DESCRIPTOR_SIZE || sf_get_little(bytes + AT_CHECKSUM, 8) != sf_checksum(SF_CHECKSUM_BEGIN, bytes, AT_CHECKSUM)) {
		SF_LOG_ERR("the descriptor of %zu bytes is truncated or altered; pass all %d bytes that the export gave", len,
			   SHM_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(descriptor->agent.bytes, bytes + AT_AGENT, SF_KEY_SIZE);
	memcpy(descriptor->token.bytes, bytes + AT_TOKEN, SF_KEY_SIZE);
	descriptor->region = sf_get_little(bytes + AT_REGION, 8);
	descriptor->addr = sf_get_little(bytes + AT_ADDR, 8);
	descriptor->len = sf_get_little(bytes + AT_LEN, 8);
	descriptor->rights = (uint32_t)sf_get_little(bytes + AT_RIGHTS, 4);
	if (descriptor->len != 0 && descriptor->len <= UINT64_MAX - descriptor->addr)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the descriptor tells of an empty range or one past the end of memory");
	return DOCA_ERROR_INVALID_VALUE;
}
