/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer arrays: equal pieces of a memory map, laid out for kernels (softfield/gpu_buf.h). */
#include <stdlib.h>
#include <unistd.h>

#include <doca_buf_array.h>
#include <softfield/gpu_buf.h>

#include "base/log.h"
#include "core/gpu.h"
#include "mem/buf_remote.h"
#include "mem/mmap_private.h"

#define ELEMENTS_MAX (UINT32_C(1) << 28)
#define HANDLE_ALIGNMENT _Alignof(struct doca_gpu_buf_arr)

struct doca_buf_arr {
	size_t num_elem;
	struct doca_mmap *mmap; /* used by start only: programs destroy it before the array */
	size_t elem_size;
	uint64_t start_offset;
	struct doca_gpu *gpu;
	bool started;
	struct doca_gpu_buf_arr *handle; /* the address for kernels of the structures that start built */
	void *mapped;			 /* host memory that was mapped for kernels, page-aligned, or NULL */
	struct sf_buf_remote *remote;	 /* imported memory, or NULL */
};

static doca_error_t check_set(const struct doca_buf_arr *arr, const void *value, const char *what)
{
	if (arr == NULL || value == NULL) {
		SF_LOG_ERR("%s is NULL", arr == NULL ? "buf_arr" : what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (arr->started) {
		SF_LOG_ERR("the %s of a started buf array cannot change", what);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr)
{
	if (buf_arr == NULL || num_elem == 0 || num_elem > ELEMENTS_MAX) {
		SF_LOG_ERR("buf array of %zu elements: give 1 to %u, and a buf_arr that is not NULL", num_elem, ELEMENTS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_buf_arr *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a buf array");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->num_elem = num_elem;
	*buf_arr = created;
	return DOCA_SUCCESS;
}

static void gpu_drop(struct doca_buf_arr *arr)
{
	if (arr->gpu != NULL)
		__atomic_fetch_sub(&arr->gpu->users, 1, __ATOMIC_RELEASE);
	arr->gpu = NULL;
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
	doca_error_t result = check_set(buf_arr, gpu_handler, "target GPU");

	if (result != DOCA_SUCCESS)
		return result;
	__atomic_fetch_add(&gpu_handler->users, 1, __ATOMIC_RELAXED);
	gpu_drop(buf_arr);
	buf_arr->gpu = gpu_handler;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler)
{
	doca_error_t result = check_set(buf_arr, dpa_handler, "target DPA");

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("there is no DPA here: set a GPU as the buf array's target");
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Returns true if all elements lie in the memory map. */
static doca_error_t check_fit(const struct doca_buf_arr *arr, const struct doca_mmap *mmap, size_t elem_size, uint64_t offset)
{
	size_t total;

	if (!__builtin_mul_overflow(arr->num_elem, elem_size, &total) && !__builtin_add_overflow(total, offset, &total) &&
	    (!mmap->has_range || total <= mmap->len))
		return DOCA_SUCCESS;
	SF_LOG_ERR("%zu elements of %zu bytes from offset %zu do not fit into the memory map of %zu bytes", arr->num_elem,
		   elem_size, (size_t)offset, mmap->len);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size,
				     uint64_t start_offset)
{
	doca_error_t result = check_set(buf_arr, mmap, "mmap");

	if (result != DOCA_SUCCESS)
		return result;
	if (elem_size == 0) {
		SF_LOG_ERR("buf array elements must have at least one byte");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_fit(buf_arr, mmap, elem_size, start_offset);
	if (result != DOCA_SUCCESS)
		return result;
	buf_arr->mmap = mmap;
	buf_arr->elem_size = elem_size;
	buf_arr->start_offset = start_offset;
	return DOCA_SUCCESS;
}

/* ---- start ---- */

static doca_error_t check_startable(const struct doca_buf_arr *arr)
{
	const char *wrong = NULL;

	if (arr->started)
		wrong = "is started already";
	else if (arr->gpu == NULL)
		wrong = "has no target: call doca_buf_arr_set_target_gpu first";
	else if (arr->mmap == NULL)
		wrong = "has no memory: call doca_buf_arr_set_params first";
	else if (!arr->mmap->started)
		wrong = "has a memory map that is not started: call doca_mmap_start first";
	if (wrong == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("buf array %s", wrong);
	return DOCA_ERROR_BAD_STATE;
}

/* The fabric may move pages, so it moves them before a GPU pins them: pinned pages must not be moved. */
static doca_error_t settle_pages(struct doca_mmap *mmap)
{
	const void *descriptor;
	size_t len;

	if ((mmap->permissions & sf_mmap_export_flags(SF_MMAP_EXPORT_RDMA)) != 0)
		return doca_mmap_export_rdma(mmap, mmap->devs[0].dev, &descriptor, &len);
	if ((mmap->permissions & sf_mmap_export_flags(SF_MMAP_EXPORT_PCI)) != 0)
		return doca_mmap_export_pci(mmap, mmap->devs[0].dev, &descriptor, &len);
	return DOCA_SUCCESS;
}

/* Memory of this process: host memory is mapped for a real GPU first. */
static doca_error_t own_memory_map(struct doca_buf_arr *arr, uint64_t *base)
{
	struct doca_mmap *mmap = arr->mmap;
	uintptr_t addr = (uintptr_t)mmap->addr;

	*base = addr;
	if (!arr->gpu->ops->hardware || mmap->is_gpu_memory)
		return DOCA_SUCCESS;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = addr & ~(page - 1);
	uintptr_t end = (addr + mmap->len + page - 1) & ~(page - 1);
	void *gpu_addr;
	doca_error_t result = settle_pages(mmap);
	if (result == DOCA_SUCCESS)
		result = arr->gpu->ops->host_map(arr->gpu, (void *)first, end - first, &gpu_addr);
	if (result != DOCA_SUCCESS)
		return result;
	arr->mapped = (void *)first;
	*base = (uintptr_t)gpu_addr + (addr - first);
	return DOCA_SUCCESS;
}

/* Translates an error of memory that cannot be accessed, which has been logged, into a code of the API. */
static doca_error_t access_error(doca_error_t error)
{
	switch (error) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_INVALID_VALUE:
		return error;
	default:
		return DOCA_ERROR_BAD_STATE;
	}
}

/* The address for kernels of the memory map's first byte, and the kind of memory. */
static doca_error_t memory_address_get(struct doca_buf_arr *arr, uint64_t *base, uint32_t *flags)
{
	bool direct = true;

	if (arr->mmap->from_export) {
		doca_error_t result = sf_buf_remote_open(arr->mmap, arr->gpu, &arr->remote, base, &direct);

		*flags = SOFTFIELD_BUF_REMOTE | (direct ? SOFTFIELD_BUF_DIRECT : 0) |
			 (direct && !arr->mmap->is_gpu_memory ? SOFTFIELD_BUF_CPU : 0);
		return result;
	}
	*flags = SOFTFIELD_BUF_DIRECT | (arr->mmap->is_gpu_memory ? 0 : SOFTFIELD_BUF_CPU) |
		 ((arr->mmap->permissions & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE) != 0 ? SOFTFIELD_BUF_WRITABLE : 0);
	return own_memory_map(arr, base);
}

static void memory_leave(struct doca_buf_arr *arr)
{
	if (arr->mapped != NULL)
		arr->gpu->ops->host_unmap(arr->gpu, arr->mapped);
	arr->mapped = NULL;
	sf_buf_remote_close(arr->remote);
	arr->remote = NULL;
}

/* Fills in the handle at its address for kernels. base and flags come from memory_address_get. */
static void handle_fill(const struct doca_buf_arr *arr, uint64_t base, uint32_t flags, uint32_t mkey,
			struct doca_gpu_buf_arr *handle)
{
	const struct doca_mmap *mmap = arr->mmap;
	struct doca_gpu_buf *bufs = (struct doca_gpu_buf *)(handle + 1);
	uint32_t id = arr->remote != NULL && (flags & SOFTFIELD_BUF_DIRECT) == 0 ? sf_buf_remote_id(arr->remote) : 0;

	for (size_t i = 0; i < arr->num_elem; i++) {
		uint64_t offset = arr->start_offset + i * arr->elem_size;

		bufs[i] = (struct doca_gpu_buf){
			.addr = base + offset,
			.room = mmap->len - offset,
			.to_cpu = (uintptr_t)mmap->addr - base,
			.flags = flags,
			.permissions = mmap->permissions,
			.id = id,
			.mkey = mkey,
		};
	}
	*handle = (struct doca_gpu_buf_arr){
		.base = base + arr->start_offset,
		.elem_size = arr->elem_size,
		.num_elem = arr->num_elem,
		.bufs = (struct doca_gpu_buf *)(arr->handle + 1),
		.mkey = mkey,
	};
}

/* In the GPU's memory, because kernels read it with every operation. */
static doca_error_t handle_build(struct doca_buf_arr *arr, uint64_t base, uint32_t flags, uint32_t mkey)
{
	const struct sf_gpu_ops *ops = arr->gpu->ops;
	size_t size = sizeof(struct doca_gpu_buf_arr) + arr->num_elem * sizeof(struct doca_gpu_buf);
	void *gpu_addr, *unused;
	struct doca_gpu_buf_arr *handle = aligned_alloc(HANDLE_ALIGNMENT, size);
	doca_error_t result =
		handle != NULL ? ops->mem_alloc(arr->gpu, size, HANDLE_ALIGNMENT, DOCA_GPU_MEM_TYPE_GPU, &gpu_addr, &unused)
			       : DOCA_ERROR_NO_MEMORY;

	if (result == DOCA_SUCCESS) {
		arr->handle = gpu_addr;
		handle_fill(arr, base, flags, mkey, handle);
		result = ops->copy_to(arr->gpu, gpu_addr, handle, size);
		if (result != DOCA_SUCCESS)
			ops->mem_free(arr->gpu, gpu_addr);
	}
	free(handle);
	return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t array_lay_out(struct doca_buf_arr *arr)
{
	uint64_t base;
	uint32_t mkey, flags = 0;
	doca_error_t result = check_fit(arr, arr->mmap, arr->elem_size, arr->start_offset);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_get_mkey(arr->mmap, arr->mmap->devs[0].dev, &mkey);
	if (result == DOCA_SUCCESS)
		result = access_error(memory_address_get(arr, &base, &flags));
	if (result != DOCA_SUCCESS)
		return result;
	result = handle_build(arr, base, flags, mkey);
	if (result != DOCA_SUCCESS)
		memory_leave(arr);
	return result;
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
	if (buf_arr == NULL) {
		SF_LOG_ERR("buf_arr is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_startable(buf_arr);
	if (result == DOCA_SUCCESS)
		result = array_lay_out(buf_arr);
	if (result == DOCA_SUCCESS)
		buf_arr->started = true;
	return result;
}

/* ---- stop, destroy, handles ---- */

doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr)
{
	if (buf_arr == NULL) {
		SF_LOG_ERR("buf_arr is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!buf_arr->started)
		return DOCA_SUCCESS;
	buf_arr->gpu->ops->mem_free(buf_arr->gpu, buf_arr->handle);
	buf_arr->handle = NULL;
	memory_leave(buf_arr);
	buf_arr->started = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr)
{
	doca_error_t result = doca_buf_arr_stop(buf_arr);

	if (result != DOCA_SUCCESS)
		return result;
	gpu_drop(buf_arr);
	free(buf_arr);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
{
	if (buf_arr == NULL || gpu_buf_arr == NULL) {
		SF_LOG_ERR("%s is NULL", buf_arr == NULL ? "buf_arr" : "gpu_buf_arr");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!buf_arr->started) {
		SF_LOG_ERR("buf array has no GPU handle before it is started: call doca_buf_arr_start first");
		return DOCA_ERROR_BAD_STATE;
	}
	*gpu_buf_arr = buf_arr->handle;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr)
{
	if (buf_arr == NULL || dpa_buf_arr == NULL) {
		SF_LOG_ERR("%s is NULL", buf_arr == NULL ? "buf_arr" : "dpa_buf_arr");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("buf array has no DPA handle: its target is not a DPA");
	return DOCA_ERROR_BAD_STATE;
}
