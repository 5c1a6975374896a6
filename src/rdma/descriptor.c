/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/descriptor.h"

#include <endian.h>
#include <string.h>

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

static void put16(uint8_t *out, uint32_t value)
{
	uint16_t little = htole16((uint16_t)value);
	memcpy(out, &little, sizeof(little));
}

static void put32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *in)
{
	uint16_t value;
	memcpy(&value, in, sizeof(value));
	return le16toh(value);
}

static uint32_t get32(const uint8_t *in)
{
	uint32_t value;
	memcpy(&value, in, sizeof(value));
	return le32toh(value);
}

/* Over all bytes but the sum's own. */
static uint64_t checksum(const uint8_t *bytes)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < RDMA_DESCRIPTOR_SIZE; i++) {
		if (i < AT_SUM || i >= AT_SLOT)
			sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	}
	return sum;
}

void rdma_descriptor_pack(const struct rdma_descriptor *descriptor, uint8_t out[RDMA_DESCRIPTOR_SIZE])
{
	memset(out, 0, RDMA_DESCRIPTOR_SIZE);
	put32(out + AT_MAGIC, DESCRIPTOR_MAGIC);
	put32(out + AT_VERSION, WIRE_VERSION);
	put16(out + AT_TRANSPORT, descriptor->transport);
	put16(out + AT_PERMISSIONS, descriptor->permissions);
	memcpy(out + AT_TOKEN, descriptor->token, RDMA_TOKEN_SIZE);
	memcpy(out + AT_NAME, descriptor->name, RDMA_NAME_MAX);
	put32(out + AT_SLOT, descriptor->slot);
	uint64_t sum = htole64(checksum(out));
	memcpy(out + AT_SUM, &sum, sizeof(sum));
}

doca_error_t rdma_descriptor_parse(const void *data, size_t len, struct rdma_descriptor *descriptor)
{
	const uint8_t *in = (const uint8_t *)data;
	uint64_t sum;
	if (len < AT_TRANSPORT || get32(in + AT_MAGIC) != DESCRIPTOR_MAGIC) {
		SF_LOG_ERR("remote connection details of %zu bytes were not made by doca_rdma_export", len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (get32(in + AT_VERSION) != WIRE_VERSION) {
		SF_LOG_ERR(
			"remote connection details are of version %u, this library reads %d: use the same release on both sides",
			get32(in + AT_VERSION), WIRE_VERSION);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len != RDMA_DESCRIPTOR_SIZE) {
		SF_LOG_ERR("remote connection details have %zu bytes of %d: copy them whole", len, RDMA_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(&sum, in + AT_SUM, sizeof(sum));
	if (le64toh(sum) != checksum(in) || memchr(in + AT_NAME, '\0', RDMA_NAME_MAX) == NULL || in[AT_NAME] == '\0') {
		SF_LOG_ERR("remote connection details were altered on their way");
		return DOCA_ERROR_INVALID_VALUE;
	}
	descriptor->transport = get16(in + AT_TRANSPORT);
	descriptor->permissions = get16(in + AT_PERMISSIONS);
	memcpy(descriptor->token, in + AT_TOKEN, RDMA_TOKEN_SIZE);
	memcpy(descriptor->name, in + AT_NAME, RDMA_NAME_MAX);
	descriptor->slot = get32(in + AT_SLOT);
	return DOCA_SUCCESS;
}

void rdma_greeting_pack(const struct rdma_greeting *greeting, uint8_t out[RDMA_GREETING_SIZE])
{
	put32(out, GREETING_MAGIC);
	put32(out + 4, WIRE_VERSION);
	memcpy(out + 8, greeting->to, RDMA_TOKEN_SIZE);
	memcpy(out + 8 + RDMA_TOKEN_SIZE, greeting->from, RDMA_TOKEN_SIZE);
	put32(out + 8 + 2 * RDMA_TOKEN_SIZE, greeting->slot);
}

doca_error_t rdma_greeting_parse(const void *data, size_t len, struct rdma_greeting *greeting)
{
	const uint8_t *in = (const uint8_t *)data;
	if (len != RDMA_GREETING_SIZE || get32(in) != GREETING_MAGIC || get32(in + 4) != WIRE_VERSION)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(greeting->to, in + 8, RDMA_TOKEN_SIZE);
	memcpy(greeting->from, in + 8 + RDMA_TOKEN_SIZE, RDMA_TOKEN_SIZE);
	greeting->slot = get32(in + 8 + 2 * RDMA_TOKEN_SIZE);
	return DOCA_SUCCESS;
}
