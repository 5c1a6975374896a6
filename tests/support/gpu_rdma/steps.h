/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that does what a list says, one step after the other, and notes how each ended: for tests of RDMA from kernels. */
#ifndef TEST_GPU_RDMA_STEPS_H
#define TEST_GPU_RDMA_STEPS_H

#include <stdint.h>

struct doca_gpu_buf_arr;
struct doca_gpu_dev_rdma;

#define STEPS_MAX 96
#define STEP_RESULTS 64 /* receives whose results are noted */

enum step_what {
	STEP_WRITE,
	STEP_WRITE_INLINE, /* bytes of the pattern of seed, as all inline ones */
	STEP_READ,
	STEP_SEND,
	STEP_SEND_INLINE,
	STEP_COMMIT,
	STEP_WAIT,
	STEP_RECV,
	STEP_RECV_COMMIT,
	STEP_RECV_WAIT,	 /* until all came */
	STEP_RECV_TAKE,	 /* what came */
	STEP_FILL,	 /* local memory with the pattern of seed */
	STEP_VERIFY,	 /* that it has the pattern: status IO_FAILED if not */
	STEP_AWAIT_BYTE, /* until local memory has seed as its first byte there, or status TIME_OUT */
	STEP_INFO,	 /* num is the position, imms[0] the mask */
	STEP_RECV_INFO,
};

enum step_array { STEP_NONE, STEP_GPU_MEMORY, STEP_HOST_MEMORY, STEP_REMOTE, STEP_ARRAYS };

struct step {
	uint32_t what;
	uint32_t connection;
	uint32_t local, remote; /* enum step_array; element 0 */
	uint64_t local_offset, remote_offset, len;
	uint32_t imm, has_imm;
	uint32_t seed;
	uint32_t weak;	   /* 1: the weak form, */
	uint32_t position; /* there; of a commit, how many */
	uint32_t all;	   /* all threads do it, each len bytes further */
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

#ifndef __CUDACC__
void run_steps(const void *args);
#endif

#endif
