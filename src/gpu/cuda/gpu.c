/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA devices: finding, opening and closing one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "gpu/cuda/cuda.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t user_gone = PTHREAD_COND_INITIALIZER;
static struct cuda_gpu *open_gpus; /* guarded by open_lock */

/* Threads that were using a GPU are the parent's. */
static void users_forget(void)
{
	pthread_cond_init(&user_gone, NULL);
	for (struct cuda_gpu *cuda = open_gpus; cuda != NULL; cuda = cuda->next)
		cuda->num_users = 0;
}

SF_FORK_LOCK(SF_FORK_TABLE, &open_lock, users_forget);

static void cuda_close(struct doca_gpu *gpu)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu), **at;

	pthread_mutex_lock(&open_lock);
	for (at = &open_gpus; *at != cuda; at = &(*at)->next)
		;
	*at = cuda->next;
	while (cuda->num_users != 0)
		pthread_cond_wait(&user_gone, &open_lock);
	pthread_mutex_unlock(&open_lock);
	cuda_enter(cuda);
	cuda_unload_images(cuda);
	cuda_mem_free_all(cuda);
	cuda->driver->stream_destroy(cuda->copies);
	cuda_leave(cuda);
	cuda->driver->primary_ctx_release(cuda->device);
	pthread_mutex_destroy(&cuda->images_lock);
	free(cuda);
}

static const struct sf_gpu_ops cuda_ops = {
	.name = "cuda",
	.hardware = true,
	.mem_alloc = cuda_mem_alloc,
	.mem_free = cuda_mem_free,
	.clock_read = cuda_clock_read,
	.host_map = cuda_host_map,
	.host_unmap = cuda_host_unmap,
	.is_device_memory = cuda_is_device_memory,
	.copy_to = cuda_copy_to,
	.copy_from = cuda_copy_from,
	.dmabuf_fd = cuda_dmabuf_fd,
	.open_shared = cuda_open_shared,
	.close_shared = cuda_close_shared,
	.launch = cuda_launch,
	.launch_query = cuda_launch_query,
	.launch_free = cuda_launch_free,
	.close = cuda_close,
};

static bool device_address(const struct cuda_driver *driver, int ordinal, cu_device *device, char *addr, size_t size)
{
	if (driver->device_get(device, ordinal) != CU_SUCCESS ||
	    driver->device_get_pci_bus_id(addr, (int)size, *device) != CU_SUCCESS)
		return false;
	for (; *addr != '\0'; addr++)
		*addr = (char)tolower((unsigned char)*addr);
	return true;
}

void cuda_gpu_list(char *text, size_t size)
{
	const struct cuda_driver *driver = cuda_driver_get();
	char addr[32];
	cu_device device;
	int count = 0;

	text[0] = '\0';
	if (driver == NULL || driver->device_get_count(&count) != CU_SUCCESS)
		return;
	for (int i = 0; i < count; i++) {
		size_t used = strlen(text);

		if (device_address(driver, i, &device, addr, sizeof(addr)))
			snprintf(text + used, size - used, "%s ", addr);
	}
}

static doca_error_t device_find(const struct cuda_driver *driver, const char *pci_addr, uint32_t index, cu_device *device)
{
	char addr[32];
	int count = 0;

	if (driver->device_get_count(&count) != CU_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	for (int i = 0; i < count; i++) {
		if (!device_address(driver, i, device, addr, sizeof(addr)))
			continue;
		if (pci_addr != NULL ? strcmp(addr, pci_addr) == 0 : (uint32_t)i == index)
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static cu_result open_context(struct cuda_gpu *cuda)
{
	int managed = 0;
	cu_context current = NULL;
	cu_result error = cuda->driver->primary_ctx_retain(&cuda->context, cuda->device);

	if (error != CU_SUCCESS)
		return error;
	cuda->driver->device_get_attribute(&managed, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, cuda->device);
	cuda->has_managed = managed != 0;
	/* a program that launches with CUDA's own syntax expects this GPU */
	if (cuda->driver->ctx_get_current(&current) == CU_SUCCESS && current == NULL)
		cuda->driver->ctx_set_current(cuda->context);
	cuda_enter(cuda);
	error = cuda->driver->stream_create(&cuda->copies, CU_STREAM_NON_BLOCKING);
	cuda_leave(cuda);
	if (error != CU_SUCCESS)
		cuda->driver->primary_ctx_release(cuda->device);
	return error;
}

doca_error_t cuda_gpu_open(const char *pci_addr, uint32_t index, struct doca_gpu **gpu)
{
	const struct cuda_driver *driver = cuda_driver_get();
	struct cuda_gpu *cuda;
	cu_device device;
	cu_result error;

	if (driver == NULL || device_find(driver, pci_addr, index, &device) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	cuda = calloc(1, sizeof(*cuda));
	if (cuda == NULL)
		return DOCA_ERROR_NO_MEMORY;
	cuda->base.ops = &cuda_ops;
	cuda->driver = driver;
	cuda->device = device;
	error = open_context(cuda);
	if (error != CU_SUCCESS) {
		SF_LOG_ERR("cannot open gpu %s: %s", pci_addr != NULL ? pci_addr : "that SOFTFIELD_GPU names",
			   cuda_error_name(error));
		free(cuda);
		return error == CU_ERROR_OUT_OF_MEMORY ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
	}
	allocations_init(&cuda->allocations);
	pthread_mutex_init(&cuda->images_lock, NULL);
	pthread_mutex_lock(&open_lock);
	cuda->next = open_gpus;
	open_gpus = cuda;
	pthread_mutex_unlock(&open_lock);
	*gpu = &cuda->base;
	return DOCA_SUCCESS;
}

/* The open GPU whose memory the address is of, or NULL. It stays open until owner_release. */
static struct cuda_gpu *owner_acquire(const void *addr)
{
	struct cuda_gpu *owner;

	pthread_mutex_lock(&open_lock);
	for (owner = open_gpus; owner != NULL && !cuda_is_device_memory(&owner->base, addr); owner = owner->next)
		;
	if (owner != NULL)
		owner->num_users++;
	pthread_mutex_unlock(&open_lock);
	return owner;
}

static void owner_release(struct cuda_gpu *owner)
{
	pthread_mutex_lock(&open_lock);
	if (--owner->num_users == 0)
		pthread_cond_broadcast(&user_gone);
	pthread_mutex_unlock(&open_lock);
}

doca_error_t cuda_describe(const void *addr, size_t len, void *descriptor, size_t *descriptor_len)
{
	struct cuda_gpu *owner = owner_acquire(addr);
	doca_error_t result;

	if (owner == NULL) {
		SF_LOG_ERR("%zu bytes at %p are not memory of an open gpu", len, addr);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	result = cuda_describe_memory(owner, addr, len, descriptor, descriptor_len);
	owner_release(owner);
	return result;
}

doca_error_t cuda_copy(void *to, const void *from, size_t len)
{
	struct cuda_gpu *owner = owner_acquire(to);
	doca_error_t result;

	if (owner == NULL)
		owner = owner_acquire(from);
	if (owner == NULL) {
		SF_LOG_ERR("neither %p nor %p is memory of an open gpu: keep the gpu until its copies complete", to, from);
		return DOCA_ERROR_IO_FAILED;
	}
	result = cuda_copy_within(owner, to, from, len);
	owner_release(owner);
	return result;
}

bool cuda_owns_address(const void *addr)
{
	struct cuda_gpu *owner = owner_acquire(addr);

	if (owner != NULL)
		owner_release(owner);
	return owner != NULL;
}
