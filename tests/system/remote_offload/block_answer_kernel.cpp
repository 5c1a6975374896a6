/* SPDX-License-Identifier: BSD-3-Clause */
/* The orchestrator's CUDA code by which a block answers its messages, compiled for emulated threads. */
#include "remote_offload/orchestrator/block_answer.h"

#include "system/remote_offload/block_answer_kernel.h"

void block_answer(void *call_)
{
	const struct block_call *call = (const struct block_call *)call_;

	for (uint32_t i = 0; i < call->num_rounds; i++) {
		struct block_round *round = call->rounds + i;
		const uint32_t rank = threadIdx.x;

		round->answer_lens[rank] =
			kernel_block_answer(&call->args, round->addrs[rank], round->lens[rank], &round->frames[rank]);
	}
}
