/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/cm_wire.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include <doca_rdma.h>

#define CALL_MAGIC UINT32_C(0x434d4653)	   /* SFMC */
#define ANSWER_MAGIC UINT32_C(0x414d4653)  /* SFMA */
#define REFUSAL_MAGIC UINT32_C(0x524d4653) /* SFMR */
#define WIRE_VERSION 1

enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_TRANSPORT = 8,
	AT_PERMISSIONS = 10,
	AT_ADDR_TYPE = 12,
	AT_PORT = 14,
	AT_ADDR = 16,
	AT_PRIVATE_LEN = 12,
	AT_REASON = 8,
};

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

static void put_head(uint8_t *out, uint32_t magic)
{
	put32(out + AT_MAGIC, magic);
	put32(out + AT_VERSION, WIRE_VERSION);
}

static bool has_head(const uint8_t *in, size_t len, uint32_t magic, size_t len_min)
{
	return len >= len_min && get32(in + AT_MAGIC) == magic && get32(in + AT_VERSION) == WIRE_VERSION;
}

void rdma_cm_call_pack(const struct rdma_cm_call *call, uint8_t out[RDMA_CM_CALL_SIZE])
{
	put_head(out, CALL_MAGIC);
	put16(out + AT_TRANSPORT, call->transport);
	put16(out + AT_PERMISSIONS, call->permissions);
	put16(out + AT_ADDR_TYPE, call->addr_type);
	put16(out + AT_PORT, call->port);
	memcpy(out + AT_ADDR, call->addr, sizeof(call->addr));
}

doca_error_t rdma_cm_call_parse(const void *data, size_t len, struct rdma_cm_call *call)
{
	const uint8_t *in = (const uint8_t *)data;
	if (!has_head(in, len, CALL_MAGIC, RDMA_CM_CALL_SIZE) || len != RDMA_CM_CALL_SIZE ||
	    get16(in + AT_ADDR_TYPE) > DOCA_RDMA_ADDR_TYPE_GID)
		return DOCA_ERROR_INVALID_VALUE;
	call->transport = get16(in + AT_TRANSPORT);
	call->permissions = get16(in + AT_PERMISSIONS);
	call->addr_type = get16(in + AT_ADDR_TYPE);
	call->port = get16(in + AT_PORT);
	memcpy(call->addr, in + AT_ADDR, sizeof(call->addr));
	return DOCA_SUCCESS;
}

size_t rdma_cm_answer_pack(const struct rdma_cm_answer *answer, uint8_t out[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX])
{
	put_head(out, ANSWER_MAGIC);
	put16(out + AT_TRANSPORT, answer->transport);
	put16(out + AT_PERMISSIONS, answer->permissions);
	put32(out + AT_PRIVATE_LEN, answer->private_len);
	if (answer->private_len != 0)
		memcpy(out + RDMA_CM_ANSWER_SIZE, answer->private_data, answer->private_len);
	return RDMA_CM_ANSWER_SIZE + answer->private_len;
}

doca_error_t rdma_cm_answer_parse(const void *data, size_t len, struct rdma_cm_answer *answer)
{
	const uint8_t *in = (const uint8_t *)data;
	if (!has_head(in, len, ANSWER_MAGIC, RDMA_CM_ANSWER_SIZE) || len > RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX ||
	    get32(in + AT_PRIVATE_LEN) != len - RDMA_CM_ANSWER_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	answer->transport = get16(in + AT_TRANSPORT);
	answer->permissions = get16(in + AT_PERMISSIONS);
	answer->private_len = get32(in + AT_PRIVATE_LEN);
	answer->private_data = in + RDMA_CM_ANSWER_SIZE;
	return DOCA_SUCCESS;
}

void rdma_cm_refusal_pack(enum rdma_cm_reason reason, uint8_t out[RDMA_CM_REFUSAL_SIZE])
{
	put_head(out, REFUSAL_MAGIC);
	put32(out + AT_REASON, reason);
}

doca_error_t rdma_cm_refusal_parse(const void *data, size_t len, enum rdma_cm_reason *reason)
{
	const uint8_t *in = (const uint8_t *)data;
	if (!has_head(in, len, REFUSAL_MAGIC, RDMA_CM_REFUSAL_SIZE) || len != RDMA_CM_REFUSAL_SIZE ||
	    get32(in + AT_REASON) >= RDMA_CM_REASONS)
		return DOCA_ERROR_INVALID_VALUE;
	*reason = (enum rdma_cm_reason)get32(in + AT_REASON);
	return DOCA_SUCCESS;
}
