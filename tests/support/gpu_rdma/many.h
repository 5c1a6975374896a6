/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of several warps post to the same queues. For one test program to include, after cmocka. */
#ifndef TEST_GPU_RDMA_MANY_H
#define TEST_GPU_RDMA_MANY_H

#include "pair.h"

#define MANY_ROUNDS(queue_size) ((MANY_THREADS + (queue_size)-1) / (queue_size))
#define MANY_LEN 20
#define MANY_AT 4096
#define MANY_SEED 33

/* Byte by byte, so that a wrong place shows: the threads of a block write, and bytes before and behind stay as they were. */
static inline void verify_many(struct pair *pair, uint32_t len, uint32_t pieces, uint32_t idle_threads)
{
	const uint64_t round = MANY_THREADS * len;

	verify_peer(pair, 0, MANY_AT, 5);
	assert_true(ask(pair, (struct command){.order = VERIFY,
					       .offset = MANY_AT + pieces * round,
					       .len = MANY_AT,
					       .pattern = MANY_AT + pieces * round,
					       .seed = 5})
			    .ok);
	for (uint32_t i = 0; i < pieces; i++)
		assert_true(ask(pair, (struct command){.order = VERIFY,
						       .offset = MANY_AT + i * round + idle_threads * len,
						       .len = round - idle_threads * len,
						       .pattern = i * round + idle_threads * len,
						       .seed = MANY_SEED})
				    .ok);
}

/* Threads of several warps post to one queue or two; the first one commits. */
static inline void check_many(const struct peer_kind *kind, uint32_t queue_size, enum step_what what, uint32_t len,
			      uint32_t pieces, uint32_t rounds)
{
	struct pair pair;
	const struct step steps[] = {
		{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = pieces * MANY_THREADS * len, .seed = MANY_SEED},
		{.what = what,
		 .local = STEP_GPU_MEMORY,
		 .remote = STEP_REMOTE,
		 .remote_offset = MANY_AT,
		 .len = len,
		 .seed = MANY_SEED,
		 .position = kind->twice,
		 .all = 1,
		 .pieces = pieces,
		 .rounds = rounds}};

	gpu_rig_prepare(&pair.rig, SIZE, READ_WRITE);
	CHECK_OK(doca_rdma_set_max_num_connections(pair.rig.rdma, kind->twice ? 2 : 1));
	CHECK_OK(doca_rdma_set_send_queue_size(pair.rig.rdma, queue_size));
	finish_opening(&pair, kind);
	if (len == 8) /* a word */
		leave_writes_to_the_thread(&pair);
	ask(&pair, (struct command){.order = FILL, .len = SIZE, .seed = 5});
	gpu_rig_launch(&pair.rig, steps, 2, MANY_THREADS);
	const struct step_result *results = gpu_rig_wait(&pair.rig);
	assert_int_equal(results[0].status, DOCA_SUCCESS);
	assert_int_equal(results[1].status, DOCA_SUCCESS);
	verify_many(&pair, len, pieces, what == STEP_WRITE_WHENEVER ? 32 : 0);
	close_pair(&pair);
}

#endif
