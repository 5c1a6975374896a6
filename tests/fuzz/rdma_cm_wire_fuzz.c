/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of RDMA's connect by address: calls, answers and rejections, parsed from any bytes and packed again. */
#include <assert.h>
#include <string.h>

#include "rdma/cm_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_call(const uint8_t *data, size_t size)
{
	struct rdma_cm_call call;
	uint8_t again[RDMA_CM_CALL_SIZE];

	if (rdma_cm_call_parse(data, size, &call) != DOCA_SUCCESS)
		return;
	assert(call.addr_type <= 2);
	rdma_cm_call_pack(&call, again);
	assert(size == sizeof(again) && memcmp(again, data, size) == 0);
}

static void try_answer(const uint8_t *data, size_t size)
{
	struct rdma_cm_answer answer;
	uint8_t again[RDMA_CM_ANSWER_SIZE + RDMA_CM_PRIVATE_MAX];

	if (rdma_cm_answer_parse(data, size, &answer) != DOCA_SUCCESS)
		return;
	assert(answer.private_len <= RDMA_CM_PRIVATE_MAX && answer.private_data + answer.private_len == data + size);
	assert(rdma_cm_answer_pack(&answer, again) == size && memcmp(again, data, size) == 0);
}

static void try_refusal(const uint8_t *data, size_t size)
{
	enum rdma_cm_reason reason;
	uint8_t again[RDMA_CM_REFUSAL_SIZE];

	if (rdma_cm_refusal_parse(data, size, &reason) != DOCA_SUCCESS)
		return;
	assert(reason < RDMA_CM_REASONS);
	rdma_cm_refusal_pack(reason, again);
	assert(size == sizeof(again) && memcmp(again, data, size) == 0);
}

/* A packed message parses to the same fields; a truncated one is rejected. */
static void try_fields(const uint8_t *data, size_t size)
{
	struct rdma_cm_call call, parsed;
	uint8_t packed[RDMA_CM_CALL_SIZE];

	if (size < sizeof(call.addr) + 8)
		return;
	memset(&call, 0, sizeof(call));
	call.transport = data[0];
	call.permissions = (uint32_t)data[1] << 8 | data[2];
	call.addr_type = data[3] % 4;
	call.port = (uint16_t)(data[4] << 8 | data[5]);
	memcpy(call.addr, data + 8, sizeof(call.addr));
	rdma_cm_call_pack(&call, packed);
	assert((rdma_cm_call_parse(packed, sizeof(packed), &parsed) == DOCA_SUCCESS) == (call.addr_type < 3));
	if (call.addr_type < 3)
		assert(parsed.transport == call.transport && parsed.permissions == call.permissions && parsed.port == call.port &&
		       memcmp(parsed.addr, call.addr, sizeof(call.addr)) == 0);
	assert(rdma_cm_call_parse(packed, data[6] % sizeof(packed), &parsed) != DOCA_SUCCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_call(data, size);
	try_answer(data, size);
	try_refusal(data, size);
	try_fields(data, size);
	return 0;
}
