/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings of the timeline that kernels of a real GPU write (softfield/gpu_trace.h). Such a ring has no count: event n is at n mod
 * SF_TRACE_EVENTS, its check byte shows whether it is complete, and its time is the GPU's clock.
 */
#ifndef SF_BASE_TRACE_KERNEL_H
#define SF_BASE_TRACE_KERNEL_H

#include <stddef.h>

#include "base/trace_format.h"
#include "base/visibility.h"

#define SF_TRACE_KERNEL_SIZE (SF_TRACE_EVENTS * sizeof(struct sf_trace_event))

struct sf_trace_kernel;

/* Opens a ring. name: the track's name. stamp: the GPU's clock now. NULL if the timeline is off or has no room. */
SF_API struct sf_trace_kernel *sf_trace_kernel_open(const char *name, const struct sf_trace_stamp *stamp);
/* The page-aligned SF_TRACE_KERNEL_SIZE bytes for the kernel. */
SF_API void *sf_trace_kernel_events(struct sf_trace_kernel *kernel);
/* Called when the kernel writes no more. stamp: the GPU's clock now, or NULL if unknown. */
SF_API void sf_trace_kernel_close(struct sf_trace_kernel *kernel, const struct sf_trace_stamp *stamp);

#endif
