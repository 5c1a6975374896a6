/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/descriptor.h"

#include <string.h>

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

static void put(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/* Against accidents of transport; against guessing there is the token. */
static uint64_t checksum(const uint8_t *bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < AT_CHECKSUM; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void sf_shm_descriptor_pack(const struct shm_descriptor *descriptor, uint8_t bytes[SHM_DESCRIPTOR_SIZE])
{
	memset(bytes, 0, SHM_DESCRIPTOR_SIZE);
	memcpy(bytes + AT_MAGIC, MAGIC, 4);
	put(bytes + AT_VERSION, VERSION, 4);
	memcpy(bytes + AT_AGENT, descriptor->agent.bytes, SHM_KEY_SIZE);
	memcpy(bytes + AT_TOKEN, descriptor->token.bytes, SHM_KEY_SIZE);
	put(bytes + AT_REGION, descriptor->region, 8);
	put(bytes + AT_ADDR, descriptor->addr, 8);
	put(bytes + AT_LEN, descriptor->len, 8);
	put(bytes + AT_RIGHTS, descriptor->rights, 4);
	put(bytes + AT_CHECKSUM, checksum(bytes), 8);
}

doca_error_t sf_shm_descriptor_unpack(const void *data, size_t len, struct shm_descriptor *descriptor)
{
	const uint8_t *bytes = data;

	if (len < AT_AGENT || memcmp(bytes + AT_MAGIC, MAGIC, 4) != 0) {
		SF_LOG_ERR("the %zu bytes are no descriptor of exported memory of this machine; pass all that the export gave",
			   len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (get(bytes + AT_VERSION, 4) != VERSION) {
		SF_LOG_ERR("the descriptor has version %u, this library reads version %d; use one release on both sides",
			   (unsigned)get(bytes + AT_VERSION, 4), VERSION);
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	}
	if (len != SHM_DESCRIPTOR_SIZE || get(bytes + AT_CHECKSUM, 8) != checksum(bytes)) {
		SF_LOG_ERR("the descriptor of %zu bytes is truncated or altered; pass all %d bytes that the export gave", len,
			   SHM_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(descriptor->agent.bytes, bytes + AT_AGENT, SHM_KEY_SIZE);
	memcpy(descriptor->token.bytes, bytes + AT_TOKEN, SHM_KEY_SIZE);
	descriptor->region = get(bytes + AT_REGION, 8);
	descriptor->addr = get(bytes + AT_ADDR, 8);
	descriptor->len = get(bytes + AT_LEN, 8);
	descriptor->rights = (uint32_t)get(bytes + AT_RIGHTS, 4);
	if (descriptor->len != 0 && descriptor->len <= UINT64_MAX - descriptor->addr)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the descriptor tells of an empty range or one past the end of memory");
	return DOCA_ERROR_INVALID_VALUE;
}
