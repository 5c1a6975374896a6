/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the timeline's events of a kernel's handle go (softfield/gpu_trace.h): a consumer's or a producer's. */
#ifndef SF_CORE_GPU_TRACE_H
#define SF_CORE_GPU_TRACE_H

#include <stdint.h>

#include "base/visibility.h"

struct doca_gpu;
struct sf_trace_kernel;

struct sf_gpu_trace {
	struct doca_gpu *gpu;
	struct sf_trace_kernel *kernel; /* NULL: a software GPU, or no timeline from the start on */
	void *for_kernel;		/* the handle's `trace` */
};

/* what, id: how the track is called, "consumer 3" say. A kernel without a timeline gets NULL. It never fails: what keeps a
 * timeline from having the kernel's events is logged. */
SF_API void sf_gpu_trace_open(struct sf_gpu_trace *trace, struct doca_gpu *gpu, const char *what, uint32_t id);
/* No kernel may use the handle any more. */
SF_API void sf_gpu_trace_close(struct sf_gpu_trace *trace);

#endif
