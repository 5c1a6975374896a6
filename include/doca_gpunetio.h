/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio.h
 * GPUs: opening one, memory for its kernels, and semaphores between kernels and the CPU.
 *
 *     doca_gpu_create("b5:00.0", &gpu)
 *     doca_gpu_mem_alloc(gpu, size, alignment, type, &for_kernels, &for_cpu)
 *     doca_ctx_set_datapath_on_gpu(ctx, gpu)                    such as a Comch consumer or producer
 *     ...launch kernels, with CUDA or with softfield/gpu.h...
 *     doca_gpu_mem_free(gpu, for_kernels)
 *     doca_gpu_destroy(gpu)
 *
 * A GPU is the machine's CUDA device at the address, or else a software GPU of the topology, whose kernels are C functions on
 * CPU threads. SOFTFIELD_GPU replaces it by a CUDA device; see docs/gpu.md. The device functions are in the
 * doca_gpunetio_dev_*.cuh.
 *
 * Any thread may call the memory functions. A semaphore belongs to one thread at a time, but any thread may get and set its
 * items. GPUs that drive a NIC's queue pairs are missing. (GPUNetIO guide)
 *
 * @retval DOCA_ERROR_NO_MEMORY doca_gpu_create, doca_gpu_mem_alloc, doca_gpu_semaphore_create, *_start: out of memory
 */
#ifndef DOCA_GPUNETIO_H_
#define DOCA_GPUNETIO_H_

#include <inttypes.h>
#include <stddef.h>
#include <doca_ctx.h>
#include <doca_types.h>
#include <doca_dev.h>
#include <doca_gpunetio_verbs_def.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An opened device; see doca_dev.h. */
struct doca_dev;

/** The lvalue x, read or written in memory each time. */
#define DOCA_GPUNETIO_VOLATILE(x) (*(volatile typeof(x) *)&(x))

/** The status of a semaphore's item. Its users define the meaning; items begin FREE. */
enum doca_gpu_semaphore_status {
	DOCA_GPU_SEMAPHORE_STATUS_FREE = 0,  /**< unused */
	DOCA_GPU_SEMAPHORE_STATUS_READY = 1, /**< filled, to be processed */
	DOCA_GPU_SEMAPHORE_STATUS_DONE = 2,  /**< processed */
	DOCA_GPU_SEMAPHORE_STATUS_HOLD = 3,  /**< being processed */
	DOCA_GPU_SEMAPHORE_STATUS_ERROR = 4, /**< failed */
	DOCA_GPU_SEMAPHORE_STATUS_EXIT = 5,  /**< the reader must end */
};

/** An opened GPU. */
struct doca_gpu;

/** A semaphore, on the CPU. */
struct doca_gpu_semaphore;

/** A semaphore's handle for kernels. */
struct doca_gpu_semaphore_gpu;

/** A queue pair of verbs. */
struct doca_verbs_qp;

/** A queue pair that a GPU drives. */
struct doca_gpu_verbs_qp;

/** Its handle for kernels. */
struct doca_gpu_dev_verbs_qp;

/** A completion queue of verbs. */
struct doca_verbs_cq;

/** A completion queue that a GPU reads. */
struct doca_gpu_verbs_cq;

/** Its handle for kernels. */
struct doca_gpu_dev_verbs_cq;

/**
 * Opens a GPU. It uses the device's primary CUDA context, as the CUDA runtime does, so pointers are valid in both.
 * @param gpu_bus_id PCI address, as b5:00.0 or 0000:b5:00.0
 * @retval DOCA_ERROR_INVALID_VALUE not a PCI address, or SOFTFIELD_GPU is invalid
 * @retval DOCA_ERROR_NOT_FOUND this process sees no GPU there; the log names those that it sees
 * @retval DOCA_ERROR_DRIVER CUDA rejects the device; its error is logged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev);

/**
 * Closes a GPU. Frees its memory, with a warning.
 * @retval DOCA_ERROR_IN_USE contexts, buffer arrays, semaphores or running kernels use it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_destroy(struct doca_gpu *gpu_dev);

/**
 * Allocates zeroed memory for kernels. On a CUDA device DOCA_GPU_MEM_TYPE_GPU_CPU of up to 64 KiB is managed memory: kernels read
 * it at full speed until the CPU accesses it, which moves its page to host memory, in some 0.1 ms. Larger memory of that type,
 * and DOCA_GPU_MEM_TYPE_CPU_GPU, is pinned host memory, so the kernel is the one that reads across PCIe. A software GPU has one
 * kind of memory, and one address for both.
 * @param alignment a power of two, or 0
 * @param memptr_cpu the address for the CPU; NULL for DOCA_GPU_MEM_TYPE_GPU, and may be NULL then
 * @retval DOCA_ERROR_INVALID_VALUE size is 0, alignment is not a power of two, or no such type
 * @retval DOCA_ERROR_DRIVER CUDA fails; its error is logged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_mem_alloc(struct doca_gpu *gpu_dev, size_t size, size_t alignment, enum doca_gpu_mem_type mtype,
				void **memptr_gpu, void **memptr_cpu);

/**
 * Frees memory, by its address for kernels. No kernel may be using it.
 * @retval DOCA_ERROR_INVALID_VALUE no memory of this GPU begins there
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_mem_free(struct doca_gpu *gpu, void *memptr_gpu);

/**
 * A descriptor by which other devices access GPU memory (doca_mmap_set_dmabuf_memrange()). The caller closes it. If this fails,
 * use the address.
 * @param memptr_gpu address for kernels, page-aligned
 * @param size a multiple of the page size
 * @retval DOCA_ERROR_INVALID_VALUE size is 0, or the range is not whole pages of one allocation
 * @retval DOCA_ERROR_NOT_SUPPORTED the GPU, its driver or the memory has no dmabufs; a software GPU never has
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_dmabuf_fd(struct doca_gpu *gpu_dev, void *memptr_gpu, size_t size, int *dmabuf_fd);

/**
 * @name Semaphores
 * Arrays of items that kernels and the CPU set and read. Memory type and number of items are required before start. Writes
 * before a status is set are visible to the other side once it reads that status.
 * @retval DOCA_ERROR_INVALID_VALUE *_set_memory_type, *_set_items_num, *_set_custom_info, *_start: the semaphore is started
 * @retval DOCA_ERROR_INVALID_VALUE *_get_gpu_handle, *_status, *_addr: it is not started
 * @retval DOCA_ERROR_INVALID_VALUE *_status, *_addr: no item idx, or the CPU cannot access it
 * @{
 */

/** The GPU cannot be destroyed before the semaphore. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_create(struct doca_gpu *gpu_dev, struct doca_gpu_semaphore **semaphore);

/** Stops and destroys a semaphore. No kernel may be using it. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_destroy(struct doca_gpu_semaphore *semaphore);

/**
 * @param mtype with DOCA_GPU_MEM_TYPE_GPU the CPU cannot set or read items
 * @retval DOCA_ERROR_INVALID_VALUE no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_memory_type(struct doca_gpu_semaphore *semaphore, enum doca_gpu_mem_type mtype);

/**
 * @param num_items 1 to 16777216
 * @retval DOCA_ERROR_INVALID_VALUE num_items is out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_items_num(struct doca_gpu_semaphore *semaphore, uint32_t num_items);

/**
 * Adds bytes of the program to each item.
 * @param nbytes of each item, 1 to 1048576; aligned to 16
 * @retval DOCA_ERROR_INVALID_VALUE nbytes is out of range, or no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_custom_info(struct doca_gpu_semaphore *semaphore, uint32_t nbytes,
						enum doca_gpu_mem_type mtype);

/**
 * Allocates the items.
 * @retval DOCA_ERROR_INVALID_VALUE the memory type or the number of items is not set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_start(struct doca_gpu_semaphore *semaphore);

/** Frees the items. No kernel may be using them. The semaphore may be configured and started again. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_stop(struct doca_gpu_semaphore *semaphore);

/** Valid until stop. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_gpu_handle(struct doca_gpu_semaphore *semaphore_cpu,
					       struct doca_gpu_semaphore_gpu **semaphore_gpu);

DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx,
					   enum doca_gpu_semaphore_status status);

DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx,
					   enum doca_gpu_semaphore_status *status);

DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_custom_info_addr(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx, void **custom_info);

/** @} */

/**
 * @name Queue pairs that a GPU drives
 * No device supports them.
 * @retval DOCA_ERROR_NOT_SUPPORTED always; the log says what to use instead
 * @{
 */

/** Exports a queue pair to a GPU. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_export_qp(struct doca_gpu *gpu_dev, struct doca_dev *dev, struct doca_verbs_qp *qp,
				      enum doca_gpu_dev_verbs_nic_handler nic_handler, void *gpu_qp_umem_dev_ptr,
				      struct doca_verbs_cq *cq_sq, struct doca_verbs_cq *cq_rq,
				      struct doca_gpu_verbs_qp **qp_out);

DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_get_qp_dev(struct doca_gpu_verbs_qp *qp, struct doca_gpu_dev_verbs_qp **qp_gpu);

/** Ends an export. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_unexport_qp(struct doca_gpu *gpu_dev, struct doca_gpu_verbs_qp *qp);

/** Exports a queue pair that another library made. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_bridge_export_qp(struct doca_gpu *gpu_dev, uint32_t sq_qpn, void *sq_wqe_addr, uint16_t sq_wqe_num,
					     uint32_t *sq_dbrec, uint64_t *sq_db, size_t uar_size, uint32_t sq_cqn,
					     void *sq_cqe_addr, uint32_t sq_cqe_num, uint32_t *sq_cq_dbrec, uint32_t rq_qpn,
					     void *rq_wqe_addr, uint16_t rq_wqe_num, uint32_t *rq_dbrec, uint32_t rcv_wqe_size,
					     uint32_t rq_cqn, void *rq_cqe_addr, uint32_t rq_cqe_num, uint32_t *rq_cq_dbrec,
					     enum doca_gpu_dev_verbs_nic_handler nic_handler, uint8_t send_dbr_mode_ext,
					     struct doca_gpu_verbs_qp **qp_out);

/** Whether the CPU rings the doorbell of a queue pair. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_cpu_proxy_enabled(struct doca_gpu_verbs_qp *qp_cpu, uint8_t *enabled);

/** Rings the doorbells that are due. */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_cpu_proxy_progress(struct doca_gpu_verbs_qp *qp_cpu);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GPUNETIO_H_ */
