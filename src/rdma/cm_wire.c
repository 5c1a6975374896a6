/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/cm_wire.h"

#include <stdbool.h>
#include <string.h>

#include <doca_rdma.h>

#include "base/little.h"

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

static void put_head(uint8_t *out, uint32_t magic)
{
	sf_put_le32(out + AT_MAGIC, magic);
	sf_put_le32(out + AT_VERSION, WIRE_VERSION);
}

static bool has_head(const uint8_t *in, size_t len, uint32_t magic, size_t len_min)
{
	return len >= len_min && sf_get_le32(in + AT_MAGIC) == magic && sf_get_le32(in + AT_VERSION) == WIRE_VERSION;
}

void rdma_cm_call_pack(const struct rdma_cm_call *call, uint8_t out[RDMA_CM_CALL_SIZE])
{
	put_head(out, CALL_MAGIC);
	sf_put_le16(out + AT_TRANSPORT, call->transport);
	sf_put_le16(out + AT_PERMISSIONS, call->permissions);
	sf_put_le16(out + AT_ADDR_TYPE, call->addr_type);
	sf_put_le16(out + AT_PORT, call->port);
	memcpy(out + AT_ADDR, call->addr, sizeof(call->addr));
}

doca_error_t rdma_cm_call_parse(const void *data, size_t len, struct rdma_cm_call *call)
{
	const uint8_t *in = (const uint8_t *)data;

	if (!has_head(in, len, CALL_MAGIC, RDMA_CM_CALL_SIZE) || len != RDMA_CM_CALL_SIZE ||
	    sf_get_le16(in + AT_ADDR_TYPE) > DOCA_RDMA_ADDR_TYPE_GID)
		return DOCA_ERROR_INVALID_VALUE;
	call->transport = sf_get_le16(in + AT_TRANSPORT);
	call->permissions = sf_get_le16(in + AT_PERMISSIONS);
	call->addr_type = sf_get_le16(in + AT_ADDR_TYPE);
	call->port = sf_get_le16(in + AT_PORT);
	memcpy(call->addr, in + AT_ADDR, sizeof(call->addr));
	return DOCA_SUCCESS;
}

size_t rdma_cm_answer_pack(const struct rdma_cm_answer *answer, uint8_t out[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX])
{
	put_head(out, ANSWER_MAGIC);
	sf_put_le16(out + AT_TRANSPORT, answer->transport);
	sf_put_le16(out + AT_PERMISSIONS, answer->permissions);
	sf_put_le32(out + AT_PRIVATE_LEN, answer->private_len);
	if (answer->private_len != 0)
		memcpy(out + RDMA_CM_ANSWER_SIZE, answer->private_data, answer->private_len);
	return RDMA_CM_ANSWER_SIZE + answer->private_len;
}

doca_error_t rdma_cm_answer_parse(const void *data, size_t len, struct rdma_cm_answer *answer)
{
	const uint8_t *in = (const uint8_t *)data;

	if (!has_head(in, len, ANSWER_MAGIC, RDMA_CM_ANSWER_SIZE) || len > RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX ||
	    sf_get_le32(in + AT_PRIVATE_LEN) != len - RDMA_CM_ANSWER_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	answer->transport = sf_get_le16(in + AT_TRANSPORT);
	answer->permissions = sf_get_le16(in + AT_PERMISSIONS);
	answer->private_len = sf_get_le32(in + AT_PRIVATE_LEN);
	answer->private_data = in + RDMA_CM_ANSWER_SIZE;
	return DOCA_SUCCESS;
}

void rdma_cm_refusal_pack(enum rdma_cm_reason reason, uint8_t out[RDMA_CM_REFUSAL_SIZE])
{
	put_head(out, REFUSAL_MAGIC);
	sf_put_le32(out + AT_REASON, reason);
}

doca_error_t rdma_cm_refusal_parse(const void *data, size_t len, enum rdma_cm_reason *reason)
{
	const uint8_t *in = (const uint8_t *)data;

	if (!has_head(in, len, REFUSAL_MAGIC, RDMA_CM_REFUSAL_SIZE) || len != RDMA_CM_REFUSAL_SIZE ||
	    sf_get_le32(in + AT_REASON) >= RDMA_CM_REASONS)
		return DOCA_ERROR_INVALID_VALUE;
	*reason = (enum rdma_cm_reason)sf_get_le32(in + AT_REASON);
	return DOCA_SUCCESS;
}
