/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline of a GPU queue: what the CPU and the kernel do to a message has one flow (softfield/gpu_trace.h). */
#ifndef COMCH_GPU_TRACE_H
#define COMCH_GPU_TRACE_H

#include <softfield/gpu_trace.h>

#include "base/trace.h"
#include "comch/gpu_queue.h"

/* Message seq is on its way to a kernel. object: identifies the message in the timeline, usually its task. */
static inline void gpu_queue_trace_send(const struct gpu_queue *box, const void *object, uint32_t seq, uint32_t len)
{
	SF_PROBE(send, object, 0, len);
	if (sf_trace_on())
		sf_trace_record(SF_TRACE_SEND, object, softfield_trace_flow(box->trace_salt, seq), len, "to a kernel");
}

/* Message seq came from a kernel. The caller records the end of the delivery. */
static inline void gpu_queue_trace_deliver(const struct gpu_queue *box, const void *object, uint32_t seq, uint32_t len)
{
	SF_PROBE(deliver, object, 0, len);
	if (sf_trace_on())
		sf_trace_record(SF_TRACE_DELIVER, object, softfield_trace_flow(box->trace_salt, seq), len, "from a kernel");
}

#endif
