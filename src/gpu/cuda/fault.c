/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection, to test a program's error handling: SOFTFIELD_GPU_FAULT is the time in milliseconds after a launch
 * at which a second kernel writes to an invalid address. CUDA then ends every kernel of the process.
 */
#include <stdlib.h>
#include <string.h>

#include <softfield/gpu.h>

#include "base/log.h"
#include "gpu/cuda/cuda.h"

#define DELAY_MS_MAX 3600000

/* The driver compiles it for any GPU. */
static const char ptx[] = ".version 6.3\n"
			  ".target sm_70\n"
			  ".address_size 64\n"
			  ".visible .entry softfield_fault(.param .u64 delay_ns)\n"
			  "{\n"
			  "	.reg .pred early;\n"
			  "	.reg .u64 until, now, nowhere;\n"
			  "	ld.param.u64 until, [delay_ns];\n"
			  "	mov.u64 now, %globaltimer;\n"
			  "	add.u64 until, until, now;\n"
			  "again:\n"
			  "	nanosleep.u32 1000;\n"
			  "	mov.u64 now, %globaltimer;\n"
			  "	setp.lt.u64 early, now, until;\n"
			  "	@early bra again;\n"
			  "	mov.u64 nowhere, 16;\n"
			  "	st.global.u64 [nowhere], now;\n"
			  "	ret;\n"
			  "}\n";

/* Sets the delay; returns false if no fault is configured. */
static bool fault_wanted(uint64_t *delay_ns)
{
	const char *text = secure_getenv("SOFTFIELD_GPU_FAULT");
	unsigned long delay_ms;
	char *end;

	if (text == NULL || text[0] == '\0')
		return false;
	delay_ms = strtoul(text, &end, 10);
	if (*end != '\0' || delay_ms > DELAY_MS_MAX) {
		SF_LOG_WARN("SOFTFIELD_GPU_FAULT is '%s': give milliseconds up to %d; no fault is injected", text, DELAY_MS_MAX);
		return false;
	}
	*delay_ns = (uint64_t)delay_ms * 1000000;
	return true;
}

void cuda_fault_prepare(struct cuda_gpu *gpu, struct cuda_fault *fault)
{
	const struct softfield_kernel kernel = {.name = "softfield_fault", .image = ptx};
	cu_result error;

	memset(fault, 0, sizeof(*fault));
	if (!fault_wanted(&fault->delay_ns))
		return;
	error = cuda_kernel_load(gpu, &kernel, &fault->function);
	if (error == CU_SUCCESS)
		error = gpu->driver->stream_create(&fault->stream, CU_STREAM_NON_BLOCKING);
	if (error != CU_SUCCESS) {
		SF_LOG_WARN("cannot prepare the fault of SOFTFIELD_GPU_FAULT: %s", cuda_error_name(error));
		fault->function = NULL;
	}
}

void cuda_fault_start(struct cuda_gpu *gpu, struct cuda_fault *fault)
{
	void *params[] = {&fault->delay_ns};
	cu_result error;

	if (fault->function == NULL)
		return;
	error = gpu->driver->launch_kernel(fault->function, 1, 1, 1, 1, 1, 1, 0, fault->stream, params, NULL);
	if (error != CU_SUCCESS)
		SF_LOG_WARN("cannot start the fault of SOFTFIELD_GPU_FAULT: %s", cuda_error_name(error));
	else
		SF_LOG_WARN("a kernel will fault in %llu ms (SOFTFIELD_GPU_FAULT)",
			    (unsigned long long)fault->delay_ns / 1000000);
}
