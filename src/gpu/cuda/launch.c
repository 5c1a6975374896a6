/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of a CUDA device. */
#include <stdlib.h>

#include <softfield/gpu.h>

#include "base/log.h"
#include "gpu/cuda/cuda.h"

struct cuda_launch {
	cu_stream stream; /* a stream of our own: launches run in parallel, also with the program's own */
};

/* Returns the image's module; loads it on first use. */
static cu_result image_module(struct cuda_gpu *gpu, const void *image, cu_module *module)
{
	struct cuda_image *i;
	cu_result error = CU_SUCCESS;

	pthread_mutex_lock(&gpu->images_lock);
	for (i = gpu->images; i != NULL && i->image != image; i = i->next)
		;
	if (i == NULL) {
		i = calloc(1, sizeof(*i));
		error = i != NULL ? gpu->driver->module_load_data(&i->module, image) : CU_ERROR_OUT_OF_MEMORY;
		if (error == CU_SUCCESS) {
			i->image = image;
			i->next = gpu->images;
			gpu->images = i;
		} else {
			free(i);
		}
	}
	if (error == CU_SUCCESS)
		*module = i->module;
	pthread_mutex_unlock(&gpu->images_lock);
	return error;
}

void cuda_unload_images(struct cuda_gpu *gpu)
{
	struct cuda_image *i;

	while ((i = gpu->images) != NULL) {
		gpu->images = i->next;
		gpu->driver->module_unload(i->module);
		free(i);
	}
}

cu_result cuda_kernel_load(struct cuda_gpu *gpu, const struct softfield_kernel *kernel, cu_function *function)
{
	cu_module module;
	cu_result error = image_module(gpu, kernel->image, &module);

	return error == CU_SUCCESS ? gpu->driver->module_get_function(function, module, kernel->name) : error;
}

static cu_result kernel_start(struct cuda_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			      void *args, cu_stream *stream)
{
	struct cuda_fault fault;
	cu_function function;
	void *params[] = {args};
	cu_result error = cuda_kernel_load(gpu, kernel, &function);

	if (error == CU_SUCCESS)
		error = gpu->driver->stream_create(stream, CU_STREAM_NON_BLOCKING);
	if (error != CU_SUCCESS)
		return error;
	cuda_fault_prepare(gpu, &fault);
	error = gpu->driver->launch_kernel(function, grid, 1, 1, block, 1, 1, 0, *stream, params, NULL);
	if (error == CU_SUCCESS)
		cuda_fault_start(gpu, &fault);
	else
		gpu->driver->stream_destroy(*stream);
	return error;
}

doca_error_t cuda_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			 const void *args, size_t args_size, void **state)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct cuda_launch *launch;
	cu_result error;

	if (kernel->image == NULL || kernel->image_size == 0) {
		SF_LOG_ERR("kernel %s has no CUDA code: the program was built without nvcc", kernel->name);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	launch = calloc(1, sizeof(*launch));
	if (launch == NULL)
		return DOCA_ERROR_NO_MEMORY;
	cuda_enter(cuda);
	error = kernel_start(cuda, kernel, grid, block, (void *)(uintptr_t)args, &launch->stream);
	cuda_leave(cuda);
	if (error != CU_SUCCESS) {
		SF_LOG_ERR("launch of kernel %s with %u blocks of %u threads on gpu %s: %s", kernel->name, grid, block,
			   gpu->pci_addr, cuda_error_name(error));
		free(launch);
		return cuda_error_to_doca(error);
	}
	*state = launch;
	return DOCA_SUCCESS;
}

doca_error_t cuda_launch_query(struct doca_gpu *gpu, void *state, const char **error)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct cuda_launch *launch = state;
	cu_result result;

	cuda_enter(cuda);
	result = cuda->driver->stream_query(launch->stream);
	cuda_leave(cuda);
	if (result == CU_SUCCESS)
		return DOCA_SUCCESS;
	if (result == CU_ERROR_NOT_READY)
		return DOCA_ERROR_IN_PROGRESS;
	*error = cuda_error_name(result);
	return DOCA_ERROR_IO_FAILED;
}

void cuda_launch_free(struct doca_gpu *gpu, void *state)
{
	struct cuda_gpu *cuda = cuda_gpu(gpu);
	struct cuda_launch *launch = state;

	cuda_enter(cuda);
	cuda->driver->stream_destroy(launch->stream);
	cuda_leave(cuda);
	free(launch);
}
