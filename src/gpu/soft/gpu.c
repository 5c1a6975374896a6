/* SPDX-License-Identifier: BSD-3-Clause */
/* The software GPU: its memory is the process's memory, and one address serves kernels and CPU. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/allocations.h"
#include "gpu/backend.h"
#include "gpu/soft/cuda_code.h"
#include "gpu/soft/soft.h"

#define SOFT_ALIGN_MIN 256 /* alignment of CUDA's allocator, so that programs that rely on it run here too */

struct soft_gpu {
	struct doca_gpu base;
	struct allocations allocations;
};

static struct soft_gpu *soft_gpu(struct doca_gpu *gpu)
{
	return (struct soft_gpu *)gpu;
}

/* Whole pages, so that an mmap of the memory can be shared with a peer without copying its edges. */
static doca_error_t soft_mem_alloc(struct doca_gpu *gpu, size_t size, size_t alignment, enum doca_gpu_mem_type type,
				   void **gpu_addr, void **cpu_addr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), align = size >= page ? page : SOFT_ALIGN_MIN, room;
	void *base = NULL;

	if (alignment > align)
		align = alignment;
	room = (size + align - 1) & ~(align - 1);
	if (posix_memalign(&base, align, room) != 0 || base == NULL) {
		SF_LOG_ERR("no memory for %zu bytes of gpu %s", size, gpu->pci_addr);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (!allocations_add(&soft_gpu(gpu)->allocations, base, base, size, type)) {
		free(base);
		return DOCA_ERROR_NO_MEMORY;
	}
	memset(base, 0, room);
	*gpu_addr = base;
	*cpu_addr = base;
	return DOCA_SUCCESS;
}

static doca_error_t soft_mem_free(struct doca_gpu *gpu, void *gpu_addr)
{
	struct allocation *a = allocations_take(&soft_gpu(gpu)->allocations, gpu_addr);

	if (a == NULL) {
		SF_LOG_ERR("%p was not allocated on gpu %s, or was freed before", gpu_addr, gpu->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	free(a->base);
	free(a);
	return DOCA_SUCCESS;
}

static doca_error_t soft_host_map(struct doca_gpu *gpu, void *addr, size_t len, void **gpu_addr)
{
	*gpu_addr = addr;
	return DOCA_SUCCESS;
}

static void soft_host_unmap(struct doca_gpu *gpu, void *addr) {}

static bool soft_is_device_memory(struct doca_gpu *gpu, const void *addr)
{
	return false;
}

static doca_error_t soft_copy(struct doca_gpu *gpu, void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return DOCA_SUCCESS;
}

static doca_error_t soft_dmabuf_fd(struct doca_gpu *gpu, void *gpu_addr, size_t len, int *fd)
{
	SF_LOG_INFO("gpu %s is a software gpu, whose memory has no dmabuf; use its address", gpu->pci_addr);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Memory of a software GPU is the process's own, which the fabric shares. */
static doca_error_t soft_open_shared(struct doca_gpu *gpu, const void *descriptor, size_t len, void **gpu_addr)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void soft_close_shared(struct doca_gpu *gpu, const void *descriptor, void *gpu_addr) {}

static void soft_close(struct doca_gpu *gpu)
{
	struct allocation *a;

	while ((a = allocations_take_first(&soft_gpu(gpu)->allocations)) != NULL) {
		SF_LOG_WARN("%zu bytes at %p were not freed before gpu %s was destroyed", a->size, a->base, gpu->pci_addr);
		free(a->base);
		free(a);
	}
	allocations_fini(&soft_gpu(gpu)->allocations);
	free(gpu);
}

static const struct sf_gpu_ops soft_ops = {
	.name = "soft",
	.mem_alloc = soft_mem_alloc,
	.mem_free = soft_mem_free,
	.host_map = soft_host_map,
	.host_unmap = soft_host_unmap,
	.is_device_memory = soft_is_device_memory,
	.copy_to = soft_copy,
	.copy_from = soft_copy,
	.dmabuf_fd = soft_dmabuf_fd,
	.open_shared = soft_open_shared,
	.close_shared = soft_close_shared,
	.launch = soft_launch,
	.launch_query = soft_launch_query,
	.launch_free = soft_launch_free,
	.close = soft_close,
};

doca_error_t soft_gpu_open(struct doca_gpu **gpu)
{
	struct soft_gpu *soft = calloc(1, sizeof(*soft));

	if (soft == NULL)
		return DOCA_ERROR_NO_MEMORY;
	soft_warn_of_cuda_code();
	soft->base.ops = &soft_ops;
	allocations_init(&soft->allocations);
	*gpu = &soft->base;
	return DOCA_SUCCESS;
}
