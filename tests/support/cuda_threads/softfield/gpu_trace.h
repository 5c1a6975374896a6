/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces softfield/gpu_trace.h: emulated threads record no events. */
#ifndef SOFTFIELD_GPU_TRACE_H_
#define SOFTFIELD_GPU_TRACE_H_

#include <softfield/device.h>

SOFTFIELD_DEVICE uint64_t softfield_trace_flow(uint64_t salt, uint32_t seq)
{
	return salt ^ seq;
}
#define softfield_trace(trace, kind, n, flow, bytes) ((void)(trace), (void)(flow))

#endif
