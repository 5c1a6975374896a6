/* SPDX-License-Identifier: BSD-3-Clause */
/* A CUDA device, as shared by the files of the backend. */
#ifndef SF_GPU_CUDA_CUDA_H
#define SF_GPU_CUDA_CUDA_H

#include "gpu/allocations.h"
#include "gpu/backend.h"
#include "gpu/cuda/driver.h"

struct softfield_kernel;

struct cuda_image {
	struct cuda_image *next;
	const void *image;
	cu_module module;
};

/* Host memory that is mapped for kernels once, whatever the number of requests for its pages. */
struct cuda_host_mapping {
	struct cuda_host_mapping *next;
	uint8_t *addr;
	size_t len;
	uint32_t users;
};

struct cuda_gpu {
	struct doca_gpu base;
	const struct cuda_driver *driver;
	cu_device device;
	cu_context context; /* the primary one, which the CUDA runtime uses too */
	cu_stream copies;   /* a stream of our own, so that a kernel that runs for ever is not waited for */
	bool has_managed;   /* CPU and kernels may access managed memory at the same time */
	struct allocations allocations;
	pthread_mutex_t images_lock;
	struct cuda_image *images;	    /* guarded by images_lock */
	struct cuda_host_mapping *mappings; /* guarded by images_lock */
	uint32_t num_users;		    /* threads that use it by an address, guarded as next is */
	struct cuda_gpu *next;		    /* guarded by the list's lock, gpu.c */
};

static inline struct cuda_gpu *cuda_gpu(struct doca_gpu *gpu)
{
	return (struct cuda_gpu *)gpu;
}

/* Makes the context current in the calling thread until leave. */
static inline void cuda_enter(struct cuda_gpu *gpu)
{
	gpu->driver->ctx_push_current(gpu->context);
}
static inline void cuda_leave(struct cuda_gpu *gpu)
{
	cu_context context;

	gpu->driver->ctx_pop_current(&context);
}

/* struct sf_gpu_ops: memory.c */
doca_error_t cuda_mem_alloc(struct doca_gpu *gpu, size_t size, size_t alignment, enum doca_gpu_mem_type type, void **gpu_addr,
			    void **cpu_addr);
doca_error_t cuda_mem_free(struct doca_gpu *gpu, void *gpu_addr);
doca_error_t cuda_host_map(struct doca_gpu *gpu, void *addr, size_t len, void **gpu_addr);
void cuda_host_unmap(struct doca_gpu *gpu, void *addr);
bool cuda_is_device_memory(struct doca_gpu *gpu, const void *addr);
doca_error_t cuda_copy_to(struct doca_gpu *gpu, void *gpu_addr, const void *from, size_t len);
doca_error_t cuda_copy_from(struct doca_gpu *gpu, void *to, const void *gpu_addr, size_t len);
doca_error_t cuda_copy_within(struct cuda_gpu *gpu, void *to, const void *from, size_t len);
doca_error_t cuda_dmabuf_fd(struct doca_gpu *gpu, void *gpu_addr, size_t len, int *fd);
/* Frees the memory that the program did not free. */
void cuda_mem_free_all(struct cuda_gpu *gpu);

/* share.c: memory that kernels of other processes use. */
doca_error_t cuda_describe_memory(struct cuda_gpu *gpu, const void *addr, size_t len, void *descriptor, size_t *descriptor_len);
doca_error_t cuda_open_shared(struct doca_gpu *gpu, const void *descriptor, size_t len, void **gpu_addr);
void cuda_close_shared(struct doca_gpu *gpu, const void *descriptor, void *gpu_addr);

/* struct sf_gpu_ops: launch.c */
doca_error_t cuda_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
			 const void *args, size_t args_size, void **state);
doca_error_t cuda_launch_query(struct doca_gpu *gpu, void *state, const char **error);
void cuda_launch_free(struct doca_gpu *gpu, void *state);
void cuda_unload_images(struct cuda_gpu *gpu);
/* Returns the kernel's function; loads its image on first use. Call with the context entered, as the functions below. */
cu_result cuda_kernel_load(struct cuda_gpu *gpu, const struct softfield_kernel *kernel, cu_function *function);

/* struct sf_gpu_ops: clock.c */
doca_error_t cuda_clock_read(struct doca_gpu *gpu, uint64_t *gpu_ns, uint64_t *ns);

/* fault.c. Prepared before the program's kernel starts, because code is not loaded while a kernel runs. The context keeps the
 * stream, because the kernel on it ends only by its fault. */
struct cuda_fault {
	cu_function function; /* NULL: no fault is configured */
	cu_stream stream;
	uint64_t delay_ns;
};

void cuda_fault_prepare(struct cuda_gpu *gpu, struct cuda_fault *fault);
void cuda_fault_start(struct cuda_gpu *gpu, struct cuda_fault *fault);

#endif
