/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu.h
 * Launches a kernel on whatever GPU a doca_gpu is: a CUDA device, or the software GPU, where a kernel is a C function that
 * CPU threads run, one for each GPU thread.
 *
 * DOCA leaves launching to CUDA. A program that launches with CUDA's own syntax runs on a CUDA GPU as it is, and does not need
 * this header. A program that must also run without a GPU describes its kernel once and launches it with these calls:
 *
 *     extern const unsigned char my_fatbin[], my_fatbin_end[];           // nvcc --fatbin of the source; or NULL
 *     void my_kernel(const void *args);                                  // the same source, compiled as C
 *     const struct softfield_kernel kernel = {"my_kernel", my_kernel, my_fatbin, my_fatbin_end - my_fatbin};
 *
 *     softfield_gpu_launch(gpu, &kernel, grid, block, &args, sizeof(args), &launch);
 *     ...set the stop flag that the kernel reads...
 *     softfield_gpu_launch_wait(launch, 1000);
 *     softfield_gpu_launch_destroy(launch);
 *
 * A launch belongs to one thread at a time. Kernels of different launches run side by side.
 */
#ifndef SOFTFIELD_GPU_H_
#define SOFTFIELD_GPU_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_gpu;

/** A running or finished kernel. */
struct softfield_launch;

/** A kernel as the software GPU calls it, once for each thread of the launch; SOFTFIELD_KERNEL defines one. */
typedef void (*softfield_kernel_fn)(const void *args);

/** A kernel, for both kinds of GPU. */
struct softfield_kernel {
	const char *name;	  /**< the function's name in image */
	softfield_kernel_fn soft; /**< for the software GPU; may be NULL */
	const void *image;	  /**< for a CUDA GPU: a fatbin, cubin or PTX text; may be NULL */
	size_t image_size;	  /**< bytes of image */
};

/** The most threads of one launch on the software GPU. */
#define SOFTFIELD_SOFT_THREADS_MAX 1024
/** The most bytes of argument that a launch copies. */
#define SOFTFIELD_ARGS_MAX 4000

/**
 * Which kind of GPU this is.
 * @return "soft" or "cuda"; NULL for a NULL gpu
 */
DOCA_EXPERIMENTAL
const char *softfield_gpu_backend(const struct doca_gpu *gpu);

/**
 * Starts a kernel and returns immediately. The argument is copied; what it points to must be memory that the GPU can access
 * (doca_gpu_mem_alloc, handles) and must exist as long as the kernel runs.
 * @param kernel the kernel; may be freed after the call, but not its image
 * @param grid blocks, at least 1
 * @param block threads in a block, at least 1
 * @param args_size its size in bytes, at most SOFTFIELD_ARGS_MAX
 * @param launch the running kernel; softfield_gpu_launch_destroy frees it
 * @retval DOCA_ERROR_INVALID_VALUE a size of 0, too many threads, too large an argument
 * @retval DOCA_ERROR_NOT_SUPPORTED the kernel has no code for this kind of GPU, or its image has none for this model
 * @retval DOCA_ERROR_NOT_FOUND the image has no function of that name
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_DRIVER CUDA failed; its error is logged
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_gpu_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
				  const void *args, size_t args_size, struct softfield_launch **launch);

/**
 * Returns whether a kernel has ended. Never blocks.
 * @return DOCA_SUCCESS: it has ended without a fault
 * @retval DOCA_ERROR_IN_PROGRESS it runs
 * @retval DOCA_ERROR_IO_FAILED it faulted; softfield_gpu_launch_error names the fault. Its GPU cannot be used any more, but
 * everything on the host can be stopped and destroyed as usual
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_gpu_launch_query(struct softfield_launch *launch);

/**
 * Waits until a kernel has ended.
 * @param timeout_ms how long at most; negative: as long as it takes
 * @return as softfield_gpu_launch_query, with DOCA_ERROR_TIME_OUT in place of IN_PROGRESS
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_gpu_launch_wait(struct softfield_launch *launch, int timeout_ms);

/**
 * The name of the fault that ended a kernel, as CUDA calls it ("CUDA_ERROR_ILLEGAL_ADDRESS").
 * @return "" if there is none
 */
DOCA_EXPERIMENTAL
const char *softfield_gpu_launch_error(const struct softfield_launch *launch);

/**
 * Frees a launch whose kernel has ended, with or without a fault.
 * @retval DOCA_ERROR_IN_USE the kernel runs
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_gpu_launch_destroy(struct softfield_launch *launch);

#ifdef __cplusplus
}
#endif

#endif /* SOFTFIELD_GPU_H_ */
