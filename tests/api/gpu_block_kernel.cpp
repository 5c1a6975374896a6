/* SPDX-License-Identifier: BSD-3-Clause */
/* The device code of warp and block scope, compiled for emulated threads. */
#include <softfield/gpu_collective_consumer.h>
#include <softfield/gpu_collective_producer.h>

#include "api/gpu_block_kernel.h"

/* One turn of an echo: receives what has arrived, sends it back, and posts the buffers again. */
template <int S> static void turn_of(echo_turn *turn)
{
	uint32_t mkey = 0, len = 0, imm_len = 0;
	uintptr_t addr = 0;
	uint8_t *imm = 0;
	uint64_t id = 0;
	doca_error_t status;
	bool pending;

	status = softfield_collective_recv_wait<S>(turn->consumer, &mkey, &addr, &len, &imm, &imm_len, false);
	pending = status == DOCA_SUCCESS;
	if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
		turn->failed = status;
	if (pending)
		turn->got++;
	if (!softfield_scope_any<S>(pending))
		return;
	do {
		status = softfield_collective_send<S>(turn->producer, addr, len, imm, imm_len, pending ? turn->consumer_id : 0, addr);
		if (pending && status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
			turn->failed = status;
		pending = pending && status == DOCA_ERROR_AGAIN;
		if (softfield_scope_any<S>(pending) && softfield_scope_rank<S>() == 0)
			turn->again(turn);
	} while (softfield_scope_any<S>(pending));
	do {
		status = softfield_collective_poll<S>(turn->producer, &id, false);
		(void)softfield_collective_post<S>(turn->consumer, mkey, status == DOCA_SUCCESS ? (uintptr_t)id : 0, turn->buf_size);
	} while (softfield_scope_any<S>(status == DOCA_SUCCESS && softfield_scope_rank<S>() == softfield_scope_size<S>() - 1));
}

template <int S> static void post_of(echo_turn *turn)
{
	uint32_t size = softfield_scope_size<S>(), rank = softfield_scope_rank<S>();

	for (uint32_t i = rank; i - rank < turn->num_bufs; i += size) {
		uintptr_t addr = i < turn->num_bufs ? (uintptr_t)(turn->bufs + (uint64_t)i * turn->stride) : 0;

		if (softfield_collective_post<S>(turn->consumer, i, addr, turn->buf_size) != DOCA_SUCCESS)
			turn->failed = DOCA_ERROR_UNKNOWN;
	}
}

void block_post(void *turn)
{
	post_of<SOFTFIELD_SCOPE_BLOCK>((echo_turn *)turn);
}
void block_turn(void *turn)
{
	turn_of<SOFTFIELD_SCOPE_BLOCK>((echo_turn *)turn);
}
void warp_post(void *turn)
{
	post_of<SOFTFIELD_SCOPE_WARP>((echo_turn *)turn);
}
void warp_turn(void *turn)
{
	turn_of<SOFTFIELD_SCOPE_WARP>((echo_turn *)turn);
}
