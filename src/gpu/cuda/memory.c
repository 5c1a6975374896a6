/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a CUDA device.
 *
 * GPU memory that the CPU maps (DOCA_GPU_MEM_TYPE_GPU_CPU) needs a kernel module of its own. Two others look the same to a
 * program:
 *
 * - Managed memory, for small allocations: flags and parameters, which kernels read often and the CPU writes seldom. The driver
 *   keeps a page in the GPU's memory until the CPU accesses it, and in host memory while both access it often.
 * - Pinned host memory that the GPU maps, for data: other devices and processes may access it. DOCA_GPU_MEM_TYPE_CPU_GPU is
 *   always of this kind.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/cuda/cuda.h"

#define CUDA_ALIGN 256	   /* alignment of the driver's allocations */
#define MANAGED_MAX 65536u /* bytes of a small allocation, which gets as many, so that no other moves with it */

static doca_error_t memory_failed(cu_result error, const char *what, size_t size, const struct doca_gpu *gpu)
{
	SF_LOG_ERR("%s of %zu bytes on gpu %s: %s", what, size, gpu->pci_addr, cuda_error_name(error));
	return error == CU_ERROR_OUT_OF_MEMORY ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
}

static bool is_managed(const struct cuda_gpu *gpu, size_t size, enum doca_gpu_mem_type type)
{
	return type == DOCA_GPU_MEM_TYPE_GPU_CPU && size <= MANAGED_MAX && gpu->has_managed;
}

/* Device memory, or managed memory. base is the driver's address; *at is aligned. */
static cu_result alloc_device(struct cuda_gpu *gpu, bool managed, size_t size, size_t alignment, void **base, void **at)
{
	size_t extra = alignment > CUDA_ALIGN ? alignment : 0;
	cu_deviceptr address;
	cu_result error = managed ? gpu->driver->mem_alloc_managed(&address, MANAGED_MAX + extra, CU_MEM_ATTACH_GLOBAL)
				  : gpu->driver->mem_alloc(&address, size + extra);

	if (error != CU_SUCCESS)
		return error;
	*base = (void *)(uintptr_t)address;
	if (extra != 0)
		address = (address + alignment - 1) & ~(cu_deviceptr)(alignment - 1);
	*at = (void *)(uintptr_t)address;
	error = gpu->driver->memset_d8_async(address, 0, size, gpu->copies);
	if (error == CU_SUCCESS)
		error = gpu->driver->stream_synchronize(gpu->copies);
	if (error != CU_SUCCESS)
		gpu->driver->mem_free((cu_deviceptr)(uintptr_t)*base);
	return error;
}

static cu_result alloc_host(struct cuda_gpu *gpu, size_t size, size_t alignment, void **base, void **at, void **cpu)
{
	size_t extra = alignment > CUDA_ALIGN ? alignment : 0;
	cu_deviceptr address;
	cu_result error = gpu->driver->mem_host_alloc(base, size + extra, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP);

	if (error != CU_SUCCESS)
		return error;
	*cpu = *base;
	if (extra != 0)
		*cpu = (void *)(((uintptr_t)*base + alignment - 1) & ~(uintptr_t)(alignment - 1));
	memset(*cpu, 0, size);
	error = gpu->driver->mem_host_get_device_pointer(&address, *cpu, 0);
	if (error != CU_SUCCESS)
		gpu->driver->mem_free_host(*base);
	*at = (void *)(uintptr_t)address;
	return error;
}

static cu_result free_base(struct cuda_gpu *gpu, const struct allocation *a)
{
	return a->type == DOCA_GPU_MEM_TYPE_GPU || is_managed(gpu, a->size, a->type)
		       ? gpu->driver->mem_free((cu_deviceptr)(uintptr_t)a->base)
		       : gpu->driver->mem_free_host(a->base);
}

doca_error_t cuda_mem_alloc(struct doca_gpu *gpu, size_t size, size_t alignment, enum doca_gpu_mem_type type, void **gpu_addr,
			    void **cpu_addr)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	const bool managed = is_managed(cuda, size, type);
	void *base = NULL, *at = NULL, *cpu = NULL;
	cu_result error;

	cuda_enter(cuda);
	if (type == DOCA_GPU_MEM_TYPE_GPU || managed) {
		error = alloc_device(cuda, managed, size, alignment, &base, &at);
		cpu = managed ? at : NULL;
	} else {
		error = alloc_host(cuda, size, alignment, &base, &at, &cpu);
	}
	if (error == CU_SUCCESS && !allocations_add(&cuda->allocations, at, base, size, type)) {
		free_base(cuda, &(struct allocation){.base = base, .size = size, .type = type});
		error = CU_ERROR_OUT_OF_MEMORY;
	}
	cuda_leave(cuda);
	if (error != CU_SUCCESS)
		return memory_failed(error, "allocation", size, gpu);
	*gpu_addr = at;
	*cpu_addr = cpu;
	return DOCA_SUCCESS;
}

doca_error_t cuda_mem_free(struct doca_gpu *gpu, void *gpu_addr)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct allocation *a = allocations_take(&cuda->allocations, gpu_addr);
	cu_result error;

	if (a == NULL) {
		SF_LOG_ERR("%p was not allocated on gpu %s, or was freed before", gpu_addr, gpu->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	cuda_enter(cuda);
	error = free_base(cuda, a);
	cuda_leave(cuda);
	if (error != CU_SUCCESS) /* the GPU is lost, which is logged: the memory is freed with the process */
		SF_LOG_DBG("free of %zu bytes on gpu %s: %s", a->size, gpu->pci_addr, cuda_error_name(error));
	free(a);
	return DOCA_SUCCESS;
}

void cuda_mem_free_all(struct cuda_gpu *gpu)
{
	struct allocation *a;

	while ((a = allocations_take_first(&gpu->allocations)) != NULL) {
		SF_LOG_WARN("%zu bytes at %p were not freed before gpu %s was destroyed", a->size, (void *)a->gpu_addr,
			    gpu->base.pci_addr);
		free_base(gpu, a);
		free(a);
	}
	allocations_fini(&gpu->allocations);
}

/* Returns the mapping that holds the whole range. Call with images_lock. */
static struct cuda_host_mapping **find_mapping(struct cuda_gpu *gpu, const void *addr, size_t len)
{
	struct cuda_host_mapping **at = &gpu->mappings;

	while (*at != NULL && !((const uint8_t *)addr >= (*at)->addr && (const uint8_t *)addr + len <= (*at)->addr + (*at)->len))
		at = &(*at)->next;
	return at;
}

/* With images_lock. */
static cu_result add_mapping(struct cuda_gpu *cuda, void *addr, size_t len)
{
	struct cuda_host_mapping **at = find_mapping(cuda, addr, len);
	cu_result error;

	if (*at == NULL) {
		struct cuda_host_mapping *created = calloc(1, sizeof(*created));

		if (created == NULL)
			return CU_ERROR_OUT_OF_MEMORY;
		error = cuda->driver->mem_host_register(addr, len, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP);
		if (error != CU_SUCCESS) {
			free(created);
			return error;
		}
		*created = (struct cuda_host_mapping){.addr = addr, .len = len};
		*at = created;
	}
	(*at)->users++;
	return CU_SUCCESS;
}

doca_error_t cuda_host_map(struct doca_gpu *gpu, void *addr, size_t len, void **gpu_addr)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct allocation a;
	cu_deviceptr address = 0;
	cu_result error;

	if (allocations_find(&cuda->allocations, addr, 1, &a)) { /* mapped since mem_alloc, at the same address */
		*gpu_addr = addr;
		return DOCA_SUCCESS;
	}
	cuda_enter(cuda);
	pthread_mutex_lock(&cuda->images_lock);
	error = add_mapping(cuda, addr, len);
	pthread_mutex_unlock(&cuda->images_lock);
	if (error == CU_SUCCESS)
		error = cuda->driver->mem_host_get_device_pointer(&address, addr, 0);
	cuda_leave(cuda);
	if (error != CU_SUCCESS)
		return memory_failed(error, "mapping of host memory", len, gpu);
	*gpu_addr = (void *)(uintptr_t)address;
	return DOCA_SUCCESS;
}

void cuda_host_unmap(struct doca_gpu *gpu, void *addr)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct allocation a;

	if (allocations_find(&cuda->allocations, addr, 1, &a))
		return;
	cuda_enter(cuda);
	pthread_mutex_lock(&cuda->images_lock);
	struct cuda_host_mapping **at = find_mapping(cuda, addr, 1), *mapping = *at;
	if (mapping != NULL && --mapping->users == 0) {
		*at = mapping->next;
		cuda->driver->mem_host_unregister(mapping->addr);
		free(mapping);
	}
	pthread_mutex_unlock(&cuda->images_lock);
	cuda_leave(cuda);
}

bool cuda_is_device_memory(struct doca_gpu *gpu, const void *addr)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	unsigned int type = 0, managed = 0;
	struct allocation a;
	cu_result error;

	if (allocations_find(&cuda->allocations, addr, 1, &a))
		return a.type == DOCA_GPU_MEM_TYPE_GPU;
	cuda_enter(cuda);
	error = cuda->driver->pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (cu_deviceptr)(uintptr_t)addr);
	if (error == CU_SUCCESS)
		cuda->driver->pointer_get_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (cu_deviceptr)(uintptr_t)addr);
	cuda_leave(cuda);
	return error == CU_SUCCESS && type == CU_MEMORYTYPE_DEVICE && !managed;
}

static doca_error_t finish_copy(struct cuda_gpu *cuda, cu_result error, size_t len)
{
	if (error == CU_SUCCESS)
		error = cuda->driver->stream_synchronize(cuda->copies);
	cuda_leave(cuda);
	if (error == CU_SUCCESS)
		return DOCA_SUCCESS;
	memory_failed(error, "copy", len, &cuda->base);
	return DOCA_ERROR_IO_FAILED;
}

doca_error_t cuda_copy_to(struct doca_gpu *gpu, void *gpu_addr, const void *from, size_t len)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);

	cuda_enter(cuda);
	return finish_copy(cuda, cuda->driver->memcpy_htod_async((cu_deviceptr)(uintptr_t)gpu_addr, from, len, cuda->copies),
			   len);
}

doca_error_t cuda_copy_from(struct doca_gpu *gpu, void *to, const void *gpu_addr, size_t len)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);

	cuda_enter(cuda);
	return finish_copy(cuda, cuda->driver->memcpy_dtoh_async(to, (cu_deviceptr)(uintptr_t)gpu_addr, len, cuda->copies), len);
}

doca_error_t cuda_copy_within(struct cuda_gpu *gpu, void *to, const void *from, size_t len)
{
	cuda_enter(gpu);
	return finish_copy(
		gpu, gpu->driver->memcpy_async((cu_deviceptr)(uintptr_t)to, (cu_deviceptr)(uintptr_t)from, len, gpu->copies),
		len);
}

doca_error_t cuda_dmabuf_fd(struct doca_gpu *gpu, void *gpu_addr, size_t len, int *fd)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct allocation a;
	int supported = 0, handle = -1;
	cu_result error;

	if (!allocations_find(&cuda->allocations, gpu_addr, len, &a)) {
		SF_LOG_ERR("dmabuf: %zu bytes at %p are not one allocation of gpu %s", len, gpu_addr, gpu->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	cuda->driver->device_get_attribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, cuda->device);
	if (!supported || cuda->driver->mem_get_handle_for_address_range == NULL || a.type != DOCA_GPU_MEM_TYPE_GPU) {
		SF_LOG_INFO("gpu %s does not export this memory as a dmabuf; use its address", gpu->pci_addr);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if ((uintptr_t)gpu_addr % page != 0 || len % page != 0) {
		SF_LOG_ERR("dmabuf: address %p and size %zu must be multiples of %zu", gpu_addr, len, page);
		return DOCA_ERROR_INVALID_VALUE;
	}
	cuda_enter(cuda);
	error = cuda->driver->mem_get_handle_for_address_range(&handle, (cu_deviceptr)(uintptr_t)gpu_addr, len,
							       CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
	cuda_leave(cuda);
	if (error != CU_SUCCESS) {
		SF_LOG_INFO("gpu %s does not export a dmabuf: %s; use the memory's address", gpu->pci_addr,
			    cuda_error_name(error));
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	*fd = handle;
	return DOCA_SUCCESS;
}
