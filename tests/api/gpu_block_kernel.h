/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that returns messages, between gpu_block_test.c and its emulated threads. */
#ifndef GPU_BLOCK_KERNEL_H
#define GPU_BLOCK_KERNEL_H

#include <softfield/gpu_comch.h>

#ifdef __cplusplus
extern "C" {
#endif

struct echo_turn {
	struct doca_comch_gpu_consumer *consumer;
	struct doca_comch_gpu_producer *producer;
	uint32_t consumer_id, num_bufs, buf_size, stride;
	uint8_t *bufs;
	void (*again)(struct echo_turn *turn); /* the peer must receive: its credits are used up */
	uint32_t got;			       /* messages received */
	uint32_t failed;		       /* a doca_error_t, or 0 */
};

/* Each is run by all threads: posts the receives, and makes one turn. */
void block_post(void *turn);
void block_turn(void *turn);
void warp_post(void *turn);
void warp_turn(void *turn);

#ifdef __cplusplus
}
#endif

#endif
