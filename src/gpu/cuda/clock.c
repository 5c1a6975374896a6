/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the GPU's clock together with ours. A kernel of one thread answers a word of the host with its time, several times; the
 * fastest answer is the most precise.
 */
#include <string.h>

#include <softfield/device.h>
#include <softfield/gpu.h>

#include "base/clock.h"
#include "base/log.h"
#include "gpu/cuda/cuda.h"

#define ROUNDS 16
#define LIMIT_NS 200000000 /* for a kernel to begin, and for a round */
#define TURN_END UINT32_MAX

/* The driver compiles it for any GPU. */
static const char ptx[] = ".version 6.3\n"
			  ".target sm_70\n"
			  ".address_size 64\n"
			  ".visible .entry softfield_clock(.param .u64 words, .param .u32 rounds)\n"
			  "{\n"
			  "	.reg .pred differs, over;\n"
			  "	.reg .u64 at, now;\n"
			  "	.reg .u32 turn, round, last, low, high, zero;\n"
			  "	ld.param.u64 at, [words];\n"
			  "	ld.param.u32 last, [rounds];\n"
			  "	mov.u32 round, 1;\n"
			  "	mov.u32 zero, 0;\n"
			  "again:\n"
			  "	ld.volatile.global.u32 turn, [at];\n"
			  "	setp.gt.u32 over, turn, last;\n"
			  "	@over ret;\n"
			  "	setp.ne.u32 differs, turn, round;\n"
			  "	@differs bra again;\n"
			  "	mov.u64 now, %globaltimer;\n"
			  "	mov.b64 {low, high}, now;\n"
			  "	st.volatile.global.v4.u32 [at+16], {low, high, round, zero};\n"
			  "	add.u32 round, round, 1;\n"
			  "	bra again;\n"
			  "}\n";

/* The words shared by the host and the kernel. */
struct clock_words {
	uint32_t turn __attribute__((aligned(16)));
	struct softfield_slot16 answer;
};

static bool answer_await(const struct clock_words *words, uint32_t round, struct softfield_slot16 *answer)
{
	uint64_t until = sf_now_ns() + LIMIT_NS;

	do {
		*answer = softfield_load_slot16(&words->answer);
		if (answer->w[2] == round)
			return true;
	} while (sf_now_ns() < until);
	return false;
}

static bool rounds_run(struct clock_words *words, uint64_t *gpu_ns, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;
	struct softfield_slot16 answer;

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		uint64_t before = sf_now_ns(), after;

		softfield_store_word(&words->turn, round);
		if (!answer_await(words, round, &answer))
			return false;
		after = sf_now_ns();
		if (after - before >= least)
			continue;
		least = after - before;
		*gpu_ns = answer.w[0] | (uint64_t)answer.w[1] << 32;
		*ns = before + least / 2;
	}
	return true;
}

static cu_result clock_launch(struct cuda_gpu *gpu, void *words, cu_stream *stream)
{
	const struct softfield_kernel kernel = {.name = "softfield_clock", .image = ptx};
	uint32_t rounds = ROUNDS;
	void *params[] = {&words, &rounds};
	cu_function function;
	cu_result error = cuda_kernel_load(gpu, &kernel, &function);

	if (error == CU_SUCCESS)
		error = gpu->driver->stream_create(stream, CU_STREAM_NON_BLOCKING);
	if (error != CU_SUCCESS)
		return error;
	error = gpu->driver->launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, *stream, params, NULL);
	if (error != CU_SUCCESS)
		gpu->driver->stream_destroy(*stream);
	return error;
}

/* A kernel that could not begin earlier finds the last word when it begins, and ends. So its words stay until the GPU is
 * closed. */
doca_error_t cuda_clock_read(struct doca_gpu *gpu, uint64_t *gpu_ns, uint64_t *ns)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	void *for_kernel, *cpu;
	struct clock_words *words;
	doca_error_t result = cuda_mem_alloc(gpu, sizeof(*words), 0, DOCA_GPU_MEM_TYPE_CPU_GPU, &for_kernel, &cpu);
	cu_stream stream;
	cu_result error;
	bool done;

	if (result != DOCA_SUCCESS)
		return result;
	words = cpu;
	cuda_enter(cuda);
	error = clock_launch(cuda, for_kernel, &stream);
	done = error == CU_SUCCESS && rounds_run(words, gpu_ns, ns);
	softfield_store_word(&words->turn, TURN_END);
	if (done)
		error = cuda->driver->stream_synchronize(stream);
	if (done || error == CU_SUCCESS)
		cuda->driver->stream_destroy(stream);
	cuda_leave(cuda);
	if (done || error != CU_SUCCESS)
		cuda_mem_free(gpu, for_kernel);
	if (error != CU_SUCCESS) {
		SF_LOG_WARN("the clock of gpu %s cannot be read: %s", gpu->pci_addr, cuda_error_name(error));
		return cuda_error_to_doca(error);
	}
	return done ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}
