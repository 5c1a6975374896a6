/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_gpu_semaphore: an array of items that kernels set and read, and also the CPU if the memory type allows. */
#include <stdlib.h>
#include <string.h>

#include <doca_gpunetio.h>
#include <softfield/gpu_sem.h>

#include "base/log.h"
#include "gpu/backend.h"

#define SEMAPHORE_ITEMS_MAX (1u << 24)
#define SEMAPHORE_INFO_MAX (1u << 20) /* bytes of an item's custom information */
#define SEMAPHORE_INFO_ALIGN 16

struct doca_gpu_semaphore {
	struct doca_gpu *gpu;
	bool started;
	bool has_type;
	enum doca_gpu_mem_type type, info_type;
	uint32_t num_items;
	uint32_t info_size; /* of an item, as set; 0: none */
	/* while started */
	struct doca_gpu_semaphore_gpu *handle; /* for kernels */
	void *items_gpu, *info_gpu;
	struct softfield_sem_item *items_cpu; /* NULL if only kernels can use them */
	uint8_t *info_cpu;
};

static uint32_t info_stride(const struct doca_gpu_semaphore *s)
{
	return (s->info_size + SEMAPHORE_INFO_ALIGN - 1) & ~(uint32_t)(SEMAPHORE_INFO_ALIGN - 1);
}

static doca_error_t argument_reject(const char *function, const char *why)
{
	SF_LOG_ERR("%s: %s", function, why);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_setter(const struct doca_gpu_semaphore *s, const char *function)
{
	if (s == NULL)
		return argument_reject(function, "semaphore is NULL");
	return s->started ? argument_reject(function, "the semaphore was started; stop it first") : DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_create(struct doca_gpu *gpu_dev, struct doca_gpu_semaphore **semaphore)
{
	struct doca_gpu_semaphore *s;

	if (gpu_dev == NULL || semaphore == NULL)
		return argument_reject(__func__, "an argument is NULL");
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return DOCA_ERROR_NO_MEMORY;
	s->gpu = gpu_dev;
	__atomic_add_fetch(&gpu_dev->users, 1, __ATOMIC_RELAXED);
	*semaphore = s;
	return DOCA_SUCCESS;
}

static void release_memory(struct doca_gpu_semaphore *s)
{
	if (s->items_gpu != NULL)
		s->gpu->ops->mem_free(s->gpu, s->items_gpu);
	if (s->info_gpu != NULL)
		s->gpu->ops->mem_free(s->gpu, s->info_gpu);
	if (s->handle != NULL)
		s->gpu->ops->mem_free(s->gpu, s->handle);
	s->items_gpu = s->info_gpu = NULL;
	s->handle = NULL;
	s->items_cpu = NULL;
	s->info_cpu = NULL;
}

doca_error_t doca_gpu_semaphore_destroy(struct doca_gpu_semaphore *semaphore)
{
	if (semaphore == NULL)
		return argument_reject(__func__, "semaphore is NULL");
	release_memory(semaphore);
	__atomic_sub_fetch(&semaphore->gpu->users, 1, __ATOMIC_RELEASE);
	free(semaphore);
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_set_memory_type(struct doca_gpu_semaphore *semaphore, enum doca_gpu_mem_type mtype)
{
	doca_error_t result = check_setter(semaphore, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if ((unsigned int)mtype > DOCA_GPU_MEM_TYPE_CPU_GPU)
		return argument_reject(__func__, "the memory type is unknown");
	semaphore->type = mtype;
	semaphore->has_type = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_set_items_num(struct doca_gpu_semaphore *semaphore, uint32_t num_items)
{
	doca_error_t result = check_setter(semaphore, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (num_items == 0 || num_items > SEMAPHORE_ITEMS_MAX)
		return argument_reject(__func__, "the number of items is 0 or over 16777216");
	semaphore->num_items = num_items;
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_set_custom_info(struct doca_gpu_semaphore *semaphore, uint32_t nbytes,
						enum doca_gpu_mem_type mtype)
{
	doca_error_t result = check_setter(semaphore, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (nbytes == 0 || nbytes > SEMAPHORE_INFO_MAX || (unsigned int)mtype > DOCA_GPU_MEM_TYPE_CPU_GPU)
		return argument_reject(__func__, "the size is 0 or over 1048576 bytes, or the memory type is unknown");
	semaphore->info_size = nbytes;
	semaphore->info_type = mtype;
	return DOCA_SUCCESS;
}

static doca_error_t items_allocate(struct doca_gpu_semaphore *s)
{
	const struct sf_gpu_ops *ops = s->gpu->ops;
	void *cpu = NULL;
	doca_error_t result;

	result = ops->mem_alloc(s->gpu, (size_t)s->num_items * sizeof(struct softfield_sem_item), 64, s->type, &s->items_gpu,
				&cpu);
	if (result != DOCA_SUCCESS)
		return result;
	s->items_cpu = s->type != DOCA_GPU_MEM_TYPE_GPU ? cpu : NULL;
	if (s->info_size != 0) {
		result = ops->mem_alloc(s->gpu, (size_t)s->num_items * info_stride(s), 64, s->info_type, &s->info_gpu, &cpu);
		if (result != DOCA_SUCCESS)
			return result;
		s->info_cpu = s->info_type != DOCA_GPU_MEM_TYPE_GPU ? cpu : NULL;
	}
	return ops->mem_alloc(s->gpu, sizeof(*s->handle), 0, DOCA_GPU_MEM_TYPE_GPU, (void **)&s->handle, &cpu);
}

doca_error_t doca_gpu_semaphore_start(struct doca_gpu_semaphore *semaphore)
{
	doca_error_t result = check_setter(semaphore, __func__);
	struct doca_gpu_semaphore_gpu handle;

	if (result != DOCA_SUCCESS)
		return result;
	if (!semaphore->has_type || semaphore->num_items == 0)
		return argument_reject(__func__, "set the memory type and the number of items first");
	result = items_allocate(semaphore);
	if (result == DOCA_SUCCESS) {
		handle = (struct doca_gpu_semaphore_gpu){.items = semaphore->items_gpu,
							 .custom_info = semaphore->info_gpu,
							 .num_items = semaphore->num_items,
							 .custom_info_size = info_stride(semaphore)};
		result = semaphore->gpu->ops->copy_to(semaphore->gpu, semaphore->handle, &handle, sizeof(handle));
	}
	if (result != DOCA_SUCCESS) {
		release_memory(semaphore);
		return result;
	}
	semaphore->started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_stop(struct doca_gpu_semaphore *semaphore)
{
	if (semaphore == NULL)
		return argument_reject(__func__, "semaphore is NULL");
	release_memory(semaphore);
	semaphore->started = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_get_gpu_handle(struct doca_gpu_semaphore *semaphore_cpu,
					       struct doca_gpu_semaphore_gpu **semaphore_gpu)
{
	if (semaphore_cpu == NULL || semaphore_gpu == NULL)
		return argument_reject(__func__, "an argument is NULL");
	if (!semaphore_cpu->started)
		return argument_reject(__func__, "the semaphore was not started");
	*semaphore_gpu = semaphore_cpu->handle;
	return DOCA_SUCCESS;
}

/* Returns the item for the CPU; NULL, logged, if the CPU cannot access it. */
static struct softfield_sem_item *item_for_cpu(struct doca_gpu_semaphore *s, uint32_t idx, const char *function)
{
	if (s == NULL || !s->started || idx >= s->num_items) {
		argument_reject(function, "semaphore is NULL or not started, or has no such item");
		return NULL;
	}
	if (s->items_cpu == NULL) {
		argument_reject(
			function,
			"the semaphore's items are in gpu memory, which the CPU cannot access; choose another memory type");
		return NULL;
	}
	return &s->items_cpu[idx];
}

doca_error_t doca_gpu_semaphore_set_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx,
					   enum doca_gpu_semaphore_status status)
{
	struct softfield_sem_item *item = item_for_cpu(semaphore_cpu, idx, __func__);

	if (item == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	__atomic_store_n(&item->status, (uint32_t)status, __ATOMIC_RELEASE);
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_get_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx,
					   enum doca_gpu_semaphore_status *status)
{
	struct softfield_sem_item *item;

	if (status == NULL)
		return argument_reject(__func__, "status is NULL");
	item = item_for_cpu(semaphore_cpu, idx, __func__);
	if (item == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*status = (enum doca_gpu_semaphore_status)__atomic_load_n(&item->status, __ATOMIC_ACQUIRE);
	return DOCA_SUCCESS;
}

doca_error_t doca_gpu_semaphore_get_custom_info_addr(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx, void **custom_info)
{
	if (semaphore_cpu == NULL || custom_info == NULL)
		return argument_reject(__func__, "an argument is NULL");
	if (!semaphore_cpu->started || idx >= semaphore_cpu->num_items)
		return argument_reject(__func__, "the semaphore was not started, or has no such item");
	if (semaphore_cpu->info_cpu == NULL)
		return argument_reject(__func__, "the semaphore has no custom information in memory that the CPU can access");
	*custom_info = semaphore_cpu->info_cpu + (size_t)idx * info_stride(semaphore_cpu);
	return DOCA_SUCCESS;
}
