/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/gpu_trace.h"

#include <stdio.h>

#include <softfield/gpu_trace.h>

#include "base/log.h"
#include "base/trace.h"
#include "base/trace_kernel.h"
#include "core/gpu.h"

_Static_assert(SOFTFIELD_TRACE_EVENTS == SF_TRACE_EVENTS && SOFTFIELD_TRACE_SEND == SF_TRACE_SEND &&
		       SOFTFIELD_TRACE_DELIVER == SF_TRACE_DELIVER,
	       "kernels write the file's events");

static bool stamp_take(struct doca_gpu *gpu, struct sf_trace_stamp *stamp)
{
	return gpu->ops->clock_read(gpu, &stamp->ticks, &stamp->ns) == DOCA_SUCCESS;
}

/* A real GPU's kernels write into the process's file. Returns the reason why they cannot, or NULL. */
static const char *ring_open(struct sf_gpu_trace *trace, const char *name)
{
	struct sf_trace_stamp stamp;

	if (!stamp_take(trace->gpu, &stamp))
		return "its clock cannot be read: start the context while fewer kernels run";
	trace->kernel = sf_trace_kernel_open(name, &stamp);
	if (trace->kernel == NULL)
		return "the file has no ring left, or no room: destroy contexts that are not needed";
	if (trace->gpu->ops->host_map(trace->gpu, sf_trace_kernel_events(trace->kernel), SF_TRACE_KERNEL_SIZE,
				      &trace->for_kernel) == DOCA_SUCCESS)
		return NULL;
	sf_trace_kernel_close(trace->kernel, NULL);
	trace->kernel = NULL;
	trace->for_kernel = NULL;
	return "it cannot write to the file: set SOFTFIELD_TRACE to one in /dev/shm";
}

void sf_gpu_trace_open(struct sf_gpu_trace *trace, struct doca_gpu *gpu, const char *what, uint32_t id)
{
	char name[SF_TRACE_THREAD_MAX + 1];
	const char *why;

	*trace = (struct sf_gpu_trace){.gpu = gpu};
	if (!gpu->ops->hardware) {
		trace->for_kernel = &sf_trace_is_on;
		return;
	}
	snprintf(name, sizeof(name), "%s %u", what, id % 100000);
	why = sf_trace_on() ? ring_open(trace, name) : NULL;
	if (why != NULL)
		SF_LOG_WARN("the timeline has no events of the kernel that uses %s on gpu %s: %s", name, gpu->pci_addr, why);
}

void sf_gpu_trace_close(struct sf_gpu_trace *trace)
{
	struct sf_trace_stamp stamp;

	if (trace->kernel != NULL) {
		trace->gpu->ops->host_unmap(trace->gpu, sf_trace_kernel_events(trace->kernel));
		sf_trace_kernel_close(trace->kernel, stamp_take(trace->gpu, &stamp) ? &stamp : NULL);
	}
	*trace = (struct sf_gpu_trace){.gpu = NULL};
}
