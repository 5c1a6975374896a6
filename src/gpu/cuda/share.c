/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory shared with kernels of other processes: a CUDA IPC handle of the whole allocation, and the offset in
 * it. The descriptor is untrusted and checked before use. Each allocation is opened once per process, however often it
 * is imported, because CUDA does not open it twice.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "gpu/cuda/cuda.h"

#define MAGIC UINT64_C(0x3175706766736444) /* of a descriptor */

struct descriptor {
	uint64_t magic;
	uint64_t offset, len; /* in the allocation */
	uint64_t process;
	char pci_addr[32]; /* of the GPU, in CUDA's form: "0000:b5:00.0" */
	struct cu_ipc_mem_handle handle;
};

struct opened {
	struct opened *next;
	struct cuda_gpu *gpu;
	struct cu_ipc_mem_handle handle;
	cu_deviceptr base;
	uint32_t users;
};

static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TABLE, &opened_lock, NULL);
static struct opened *opened_first; /* guarded by opened_lock */

static doca_error_t ipc_error_report(cu_result error, const char *what)
{
	SF_LOG_ERR_LIMITED("gpu memory cannot be %s another process: %s", what, cuda_error_name(error));
	return cuda_error_to_doca(error);
}

doca_error_t cuda_describe_memory(struct cuda_gpu *gpu, const void *addr, size_t len, void *bytes, size_t *room)
{
	struct descriptor descriptor = {.magic = MAGIC, .len = len, .process = (uint64_t)getpid()};
	cu_deviceptr base = 0;
	size_t size = 0;

	if (*room < sizeof(descriptor))
		return DOCA_ERROR_INVALID_VALUE;
	cuda_enter(gpu);
	cu_result error = gpu->driver->mem_get_address_range(&base, &size, (cu_deviceptr)(uintptr_t)addr);
	if (error == CU_SUCCESS)
		error = gpu->driver->ipc_get_mem_handle(&descriptor.handle, base);
	if (error == CU_SUCCESS)
		error = gpu->driver->device_get_pci_bus_id(descriptor.pci_addr, sizeof(descriptor.pci_addr), gpu->device);
	cuda_leave(gpu);
	if (error != CU_SUCCESS)
		return ipc_error_report(error, "shared with") == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_NO_MEMORY
										      : DOCA_ERROR_NOT_SUPPORTED;
	descriptor.offset = (uintptr_t)addr - base;
	if (descriptor.offset > size || len > size - descriptor.offset) {
		SF_LOG_ERR("%zu bytes at %p exceed one allocation of the gpu", len, addr);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	memcpy(bytes, &descriptor, sizeof(descriptor));
	*room = sizeof(descriptor);
	return DOCA_SUCCESS;
}

/* Returns true for a descriptor of this GPU's memory. */
static bool read_descriptor(struct cuda_gpu *gpu, const void *bytes, size_t len, struct descriptor *descriptor)
{
	char pci_addr[32] = "";

	if (len != sizeof(*descriptor))
		return false;
	memcpy(descriptor, bytes, sizeof(*descriptor));
	descriptor->pci_addr[sizeof(descriptor->pci_addr) - 1] = '\0';
	return descriptor->magic == MAGIC &&
	       gpu->driver->device_get_pci_bus_id(pci_addr, sizeof(pci_addr), gpu->device) == CU_SUCCESS &&
	       strcmp(pci_addr, descriptor->pci_addr) == 0;
}

/* With opened_lock. */
static struct opened **opened_find(const struct cuda_gpu *gpu, const struct cu_ipc_mem_handle *handle)
{
	struct opened **at = &opened_first;

	while (*at != NULL && ((*at)->gpu != gpu || memcmp(&(*at)->handle, handle, sizeof(*handle)) != 0))
		at = &(*at)->next;
	return at;
}

static cu_result open_allocation(struct cuda_gpu *gpu, const struct cu_ipc_mem_handle *handle, cu_deviceptr *base)
{
	struct opened **at = opened_find(gpu, handle);

	if (*at == NULL) {
		struct opened *created = calloc(1, sizeof(*created));

		if (created == NULL)
			return CU_ERROR_OUT_OF_MEMORY;
		*created = (struct opened){.gpu = gpu, .handle = *handle};
		cuda_enter(gpu);
		cu_result error = gpu->driver->ipc_open_mem_handle(&created->base, *handle, CU_IPC_LAZY_PEER_ACCESS);
		cuda_leave(gpu);
		if (error != CU_SUCCESS) {
			free(created);
			return error;
		}
		*at = created;
	}
	(*at)->users++;
	*base = (*at)->base;
	return CU_SUCCESS;
}

doca_error_t cuda_open_shared(struct doca_gpu *base_gpu, const void *bytes, size_t len, void **gpu_addr)
{
	struct cuda_gpu *gpu = cuda_gpu(base_gpu);
	struct descriptor descriptor;
	cu_deviceptr base = 0, start = 0;
	size_t size = 0;

	if (!read_descriptor(gpu, bytes, len, &descriptor))
		return DOCA_ERROR_NOT_SUPPORTED;
	if (descriptor.process == (uint64_t)getpid()) {
		SF_LOG_ERR("the gpu memory was exported by this process: use its address in kernels");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	pthread_mutex_lock(&opened_lock);
	cu_result error = open_allocation(gpu, &descriptor.handle, &base);
	pthread_mutex_unlock(&opened_lock);
	if (error != CU_SUCCESS) {
		ipc_error_report(error, "imported from");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	*gpu_addr = (void *)(uintptr_t)(base + descriptor.offset);
	cuda_enter(gpu);
	error = gpu->driver->mem_get_address_range(&start, &size, base);
	cuda_leave(gpu);
	if (error == CU_SUCCESS && descriptor.offset <= size && descriptor.len <= size - descriptor.offset)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("an export names memory outside its gpu allocation");
	cuda_close_shared(base_gpu, bytes, *gpu_addr);
	return DOCA_ERROR_NOT_PERMITTED;
}

void cuda_close_shared(struct doca_gpu *base_gpu, const void *bytes, void *gpu_addr)
{
	struct cuda_gpu *gpu = cuda_gpu(base_gpu);
	struct descriptor descriptor;

	(void)gpu_addr;
	memcpy(&descriptor, bytes, sizeof(descriptor));
	pthread_mutex_lock(&opened_lock);
	struct opened **at = opened_find(gpu, &descriptor.handle), *opened = *at;
	if (opened != NULL && --opened->users == 0) {
		*at = opened->next;
		cuda_enter(gpu);
		gpu->driver->ipc_close_mem_handle(opened->base);
		cuda_leave(gpu);
		free(opened);
	}
	pthread_mutex_unlock(&opened_lock);
}
