/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of a kernel's handle in the timeline (softfield/gpu_trace.h), for a consumer or a producer. */
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

/* what and id name the track, such as "consumer 3". The kernel gets NULL without a timeline. Never fails; logs why a timeline
 * cannot have the kernel's events. */
SF_API void sf_gpu_trace_open(struct sf_gpu_trace *trace, struct doca_gpu *gpu, const char *what, uint32_t id);
/* No kernel may use the handle any more. */
SF_API void sf_gpu_trace_close(struct sf_gpu_trace *trace);

#endif
