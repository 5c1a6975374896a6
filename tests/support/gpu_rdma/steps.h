/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that performs the steps of a list in order, and records their results: for tests of RDMA from kernels. */
#ifndef TEST_GPU_RDMA_STEPS_H
#define TEST_GPU_RDMA_STEPS_H

#include <stdint.h>

struct doca_gpu_buf_arr;
struct doca_gpu_dev_rdma;

#define STEPS_MAX 96
#define STEP_RESULTS 64 /* receives whose results are recorded */

enum step_what {
	STEP_WRITE,
	STEP_WRITE_INLINE, /* writes the pattern of seed, all bytes inline */
	STEP_READ,
	STEP_SEND,
	STEP_SEND_INLINE,
	STEP_COMMIT,
	STEP_WAIT,
	STEP_RECV,
	STEP_RECV_COMMIT,
	STEP_RECV_WAIT,	 /* waits until all receives have completed */
	STEP_RECV_TAKE,	 /* records what was received */
	STEP_FILL,	 /* fills local memory with the pattern of seed */
	STEP_VERIFY,	 /* checks local memory for the pattern: status IO_FAILED if it differs */
	STEP_AWAIT_BYTE, /* waits until the byte of local memory there is seed, or status TIME_OUT */
	STEP_INFO,	 /* num is the position, imms[0] the mask */
	STEP_RECV_INFO,
	/* All threads write `pieces` of len bytes each, up to 28, one after the other to connection 0, or to 0 and 1 by turns if
	 * position is 1. Lanes of a warp may post apart, or with invalid arguments. */
	STEP_WRITE_MANY,     /* together, in up to `rounds` while the queue is full; thread 0 commits and waits after each */
	STEP_WRITE_WHENEVER, /* the others while thread 0 commits and waits; its warp does not post */
	/* Writes all `pieces` messages of len bytes in each of `rounds` commits: a word of 4 or 8 bytes, or several of 8, all
	 * with the value step_word of the round, from 1 on. Waits after every third round, so that some commits come while the
	 * one before is under way. */
	STEP_WRITE_ROUNDS,
	/* All threads post `pieces` receives of len bytes each, commit, and take what has arrived, in any order, until all have
	 * all; each message must be the pattern of seed. num is the number of messages, imms[0] the sum of their immediates. The
	 * queue has at most STEP_RESULTS receives. */
	STEP_RECEIVE_MANY,
};

#define STEP_REMOTES 12 /* arrays of the peer's memory */

enum step_array { STEP_NONE, STEP_GPU_MEMORY, STEP_HOST_MEMORY, STEP_REMOTE, STEP_ARRAYS = STEP_REMOTE + STEP_REMOTES };

struct step {
	uint32_t what;
	uint32_t connection;
	uint32_t local, remote; /* enum step_array; element 0 */
	uint64_t local_offset, remote_offset, len;
	uint32_t imm, has_imm;
	uint32_t seed;
	uint32_t weak;	   /* 1: the weak form */
	uint32_t position; /* remote position; for a commit, the number */
	uint32_t all;	   /* all threads perform it, each len bytes further */
	uint32_t pieces, rounds;
};

struct step_result {
	uint32_t status, num;
	uint32_t imms[STEP_RESULTS], connections[STEP_RESULTS];
};

struct step_args {
	struct doca_gpu_dev_rdma *rdma;
	struct doca_gpu_buf_arr *arrays[STEP_ARRAYS];
	const struct step *steps;
	struct step_result *results;
	uint32_t num_steps;
	uint32_t reserved;
};

#ifdef __CUDACC__
#define STEP_FUNCTION static __device__ inline
#else
#define STEP_FUNCTION static inline
#endif

/* Byte i of a pattern. */
STEP_FUNCTION uint8_t step_byte(uint32_t seed, uint64_t i)
{
	return (uint8_t)(seed * 31 + i * 7 + (i >> 11));
}

/* A value for a round below 65536, in words of 4 or 8 bytes. Its last byte differs from that of the next round, so that a word
 * that is not written as a whole shows. */
STEP_FUNCTION uint64_t step_word(uint32_t round)
{
	const uint32_t half = (round & 0xff) << 24 | (round & 0xff00) << 8 | round;

	return (uint64_t)half << 32 | half;
}

#ifndef __CUDACC__
void run_steps(const void *args);
#endif

#endif
