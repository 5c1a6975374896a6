/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio.h
 * GPUs: opening one, memory that its kernels reach, and semaphores between kernels and the CPU.
 *
 *     doca_gpu_create("b5:00.0", &gpu)
 *     doca_gpu_mem_alloc(gpu, size, alignment, type, &for_kernels, &for_cpu)
 *     doca_ctx_set_datapath_on_gpu(ctx, gpu)                    a Comch consumer or producer, say
 *     ...launch kernels, with CUDA or with softfield/gpu.h...
 *     doca_gpu_mem_free(gpu, for_kernels)
 *     doca_gpu_destroy(gpu)
 *
 * A GPU is a CUDA device of the machine when one has the address, else a software GPU of the topology, whose kernels are C
 * functions on CPU threads; the environment variable SOFTFIELD_GPU puts a CUDA device in its place. docs/gpu.md tells more.
 *
 * Ownership: what a create or alloc gives belongs to the caller; a GPU that something uses cannot be destroyed.
 * Threads: memory calls on one GPU may come from any thread; a semaphore's from one thread at a time, but its get and set calls.
 * Missing: GPUs that drive a NIC's queue pairs themselves. Those calls (doca_gpu_verbs_*) answer DOCA_ERROR_NOT_SUPPORTED.
 * The device functions are in doca_gpunetio_dev_buf.cuh, doca_gpunetio_dev_comch.cuh and doca_gpunetio_dev_sem.cuh.
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

/** What an item of a semaphore stands at. What each one means is between those who use the semaphore; items begin FREE. */
enum doca_gpu_semaphore_status {
	DOCA_GPU_SEMAPHORE_STATUS_FREE = 0,  /**< unused */
	DOCA_GPU_SEMAPHORE_STATUS_READY = 1, /**< filled, to be worked on */
	DOCA_GPU_SEMAPHORE_STATUS_DONE = 2,  /**< worked on */
	DOCA_GPU_SEMAPHORE_STATUS_HOLD = 3,  /**< being worked on */
	DOCA_GPU_SEMAPHORE_STATUS_ERROR = 4, /**< went wrong */
	DOCA_GPU_SEMAPHORE_STATUS_EXIT = 5,  /**< whoever reads this is to end */
};

/** An opened GPU. */
struct doca_gpu;

/** A semaphore, on the CPU. */
struct doca_gpu_semaphore;

/** A semaphore, as kernels know it. */
struct doca_gpu_semaphore_gpu;

/** A queue pair of verbs. */
struct doca_verbs_qp;

/** A queue pair that a GPU drives, on the CPU. */
struct doca_gpu_verbs_qp;

/** A queue pair that a GPU drives, as kernels know it. */
struct doca_gpu_dev_verbs_qp;

/** A completion queue of verbs. */
struct doca_verbs_cq;

/** A completion queue that a GPU reads, on the CPU. */
struct doca_gpu_verbs_cq;

/** A completion queue that a GPU reads, as kernels know it. */
struct doca_gpu_dev_verbs_cq;

/**
 * Opens the GPU at a PCI address.
 *
 * A program that launches kernels with CUDA's own syntax has a CUDA context before (cudaFree(0) makes one); the library uses the
 * device's primary context, as the CUDA runtime does, so pointers serve both.
 *
 * @param gpu_bus_id PCI address, as b5:00.0 or 0000:b5:00.0
 * @param gpu_dev    the GPU
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, the text is no PCI address, or SOFTFIELD_GPU is not understood
 *         DOCA_ERROR_NOT_FOUND: this process sees no GPU there; the log names those that it sees
 *         DOCA_ERROR_NO_MEMORY
 *         DOCA_ERROR_DRIVER: CUDA refuses the device; its error is logged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_create(const char *gpu_bus_id, struct doca_gpu **gpu_dev);

/**
 * Closes a GPU. Memory that was not freed is freed, with a warning.
 *
 * @param gpu_dev the GPU
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: it is NULL
 *         DOCA_ERROR_IN_USE: contexts, buffer arrays, semaphores or running kernels use it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_destroy(struct doca_gpu *gpu_dev);

/**
 * Allocates memory that kernels reach. It is zeroed.
 *
 *   DOCA_GPU_MEM_TYPE_GPU      memory of the GPU; the CPU has no address for it
 *   DOCA_GPU_MEM_TYPE_GPU_CPU  memory of the GPU that the CPU maps. On a CUDA device this is pinned host memory that the GPU
 *                              maps, since mapping GPU memory for the CPU takes a kernel module: the same to a program, but
 *                              the kernel is the one that reads across PCIe
 *   DOCA_GPU_MEM_TYPE_CPU_GPU  pinned host memory that the GPU maps
 *
 * A software GPU has one kind of memory, and one address for both.
 *
 * @param gpu_dev    the GPU
 * @param size       bytes
 * @param alignment  of the address, a power of two; 0 for any
 * @param mtype      where
 * @param memptr_gpu the address for kernels
 * @param memptr_cpu the address for the CPU, NULL for DOCA_GPU_MEM_TYPE_GPU; there memptr_cpu itself may be NULL
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, the size 0, the alignment no power of two, or no such type
 *         DOCA_ERROR_NO_MEMORY: there is not as much
 *         DOCA_ERROR_DRIVER: CUDA refuses; its error is logged
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_mem_alloc(struct doca_gpu *gpu_dev, size_t size, size_t alignment, enum doca_gpu_mem_type mtype, void **memptr_gpu, void **memptr_cpu);

/**
 * Frees memory. No kernel may use it any more.
 *
 * @param gpu        the GPU that it was allocated on
 * @param memptr_gpu its address for kernels, as doca_gpu_mem_alloc gave it
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, or nothing of this GPU begins there
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_mem_free(struct doca_gpu *gpu, void *memptr_gpu);

/**
 * Gives a file descriptor by which another device reaches GPU memory (doca_mmap_set_dmabuf_memrange). Programs try this first and
 * fall back to the plain address.
 *
 * @param gpu_dev    the GPU
 * @param memptr_gpu the address for kernels, at the beginning of a page
 * @param size       bytes, a multiple of the page size
 * @param dmabuf_fd  the descriptor, which the caller closes
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, the size 0, or this is no part of one allocation, or no whole pages
 *         DOCA_ERROR_NOT_SUPPORTED: neither the GPU nor its driver has dmabufs, or this memory has none; a software GPU never has
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_dmabuf_fd(struct doca_gpu *gpu_dev, void *memptr_gpu, size_t size, int *dmabuf_fd);

/**
 * Creates a semaphore: an array of items that kernels and the CPU set and read. Set it up, then start it.
 *
 * @param gpu_dev   the GPU whose kernels use it; in use until the semaphore is destroyed
 * @param semaphore the semaphore
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: an argument is NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_create(struct doca_gpu *gpu_dev, struct doca_gpu_semaphore **semaphore);

/**
 * Destroys a semaphore, stopping it first. No kernel may use it any more.
 *
 * @param semaphore the semaphore
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: it is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_destroy(struct doca_gpu_semaphore *semaphore);

/**
 * Says where the items lie. Needed, before start.
 *
 * @param semaphore the semaphore
 * @param mtype     DOCA_GPU_MEM_TYPE_GPU: the CPU cannot set or read them
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: semaphore is NULL or started, or there is no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_memory_type(struct doca_gpu_semaphore *semaphore, enum doca_gpu_mem_type mtype);

/**
 * Says how many items there are. Needed, before start.
 *
 * @param semaphore the semaphore
 * @param num_items 1 to 16777216
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: semaphore is NULL or started, or the number is out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_items_num(struct doca_gpu_semaphore *semaphore, uint32_t num_items);

/**
 * Gives each item bytes of the program's own. Before start; without this there are none.
 *
 * @param semaphore the semaphore
 * @param nbytes    bytes for each item, 1 to 1048576; each begins at a multiple of 16
 * @param mtype     where they lie
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: semaphore is NULL or started, or the size or type is not possible
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_custom_info(struct doca_gpu_semaphore *semaphore, uint32_t nbytes, enum doca_gpu_mem_type mtype);

/**
 * Allocates the items, all of them DOCA_GPU_SEMAPHORE_STATUS_FREE.
 *
 * @param semaphore the semaphore
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: semaphore is NULL or started, or lacks its memory type or number of items
 *         DOCA_ERROR_NO_MEMORY
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_start(struct doca_gpu_semaphore *semaphore);

/**
 * Frees the items; the semaphore can be set up and started again. No kernel may use it any more.
 *
 * @param semaphore the semaphore; it need not be started
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: it is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_stop(struct doca_gpu_semaphore *semaphore);

/**
 * Gives the handle that kernels use.
 *
 * @param semaphore_cpu the semaphore, started
 * @param semaphore_gpu the handle; valid until stop
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the semaphore is not started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_gpu_handle(struct doca_gpu_semaphore *semaphore_cpu, struct doca_gpu_semaphore_gpu **semaphore_gpu);

/**
 * Sets the status of an item, from the CPU. What was written before is seen by a kernel that reads the status.
 *
 * @param semaphore_cpu the semaphore, started
 * @param idx           the item, from 0
 * @param status        its new status
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: semaphore is NULL or not started, no such item, or the CPU does not reach it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_set_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx, enum doca_gpu_semaphore_status status);

/**
 * Reads the status of an item, on the CPU. What the kernel wrote before it set the status is seen after.
 *
 * @param semaphore_cpu the semaphore, started
 * @param idx           the item, from 0
 * @param status        its status
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, the semaphore is not started, no such item, or the CPU does not reach it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_status(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx, enum doca_gpu_semaphore_status *status);

/**
 * Gives the CPU's address of an item's custom information.
 *
 * @param semaphore_cpu the semaphore, started
 * @param idx           the item, from 0
 * @param custom_info   the address, of as many bytes as were set
 * @return DOCA_SUCCESS
 *         DOCA_ERROR_INVALID_VALUE: an argument is NULL, the semaphore is not started, no such item, or there is no such
 *         information that the CPU reaches
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_semaphore_get_custom_info_addr(struct doca_gpu_semaphore *semaphore_cpu, uint32_t idx, void **custom_info);

/**
 * Would let a GPU drive a queue pair of verbs.
 *
 * @param gpu_dev             the GPU
 * @param dev                 the device of the queue pair
 * @param qp                  the queue pair
 * @param nic_handler         who rings the NIC
 * @param gpu_qp_umem_dev_ptr the queue pair's memory, on the GPU
 * @param cq_sq               completions of sends
 * @param cq_rq               completions of receives
 * @param qp_out              the queue pair that the GPU drives
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_export_qp(struct doca_gpu *gpu_dev, struct doca_dev *dev, struct doca_verbs_qp *qp, enum doca_gpu_dev_verbs_nic_handler nic_handler, void *gpu_qp_umem_dev_ptr, struct doca_verbs_cq *cq_sq, struct doca_verbs_cq *cq_rq, struct doca_gpu_verbs_qp **qp_out);

/**
 * Would give the handle by which kernels drive a queue pair.
 *
 * @param qp     the queue pair
 * @param qp_gpu the handle
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_get_qp_dev(struct doca_gpu_verbs_qp *qp, struct doca_gpu_dev_verbs_qp **qp_gpu);

/**
 * Would undo doca_gpu_verbs_export_qp.
 *
 * @param gpu_dev the GPU
 * @param qp      the queue pair
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_unexport_qp(struct doca_gpu *gpu_dev, struct doca_gpu_verbs_qp *qp);

/**
 * Would let a GPU drive a queue pair that the program made by other means, described field by field: for the send queue (sq) and
 * the receive queue (rq) number, entries, their count and doorbells, and the same of their completion queues.
 *
 * @param gpu_dev           the GPU
 * @param sq_qpn            number of the send queue
 * @param sq_wqe_addr       its entries
 * @param sq_wqe_num        how many
 * @param sq_dbrec          its doorbell record
 * @param sq_db             its doorbell
 * @param uar_size          bytes of the doorbell page
 * @param sq_cqn            number of its completion queue
 * @param sq_cqe_addr       that one's entries
 * @param sq_cqe_num        how many
 * @param sq_cq_dbrec       its doorbell record
 * @param rq_qpn            number of the receive queue
 * @param rq_wqe_addr       its entries
 * @param rq_wqe_num        how many
 * @param rq_dbrec          its doorbell record
 * @param rcv_wqe_size      bytes of an entry
 * @param rq_cqn            number of its completion queue
 * @param rq_cqe_addr       that one's entries
 * @param rq_cqe_num        how many
 * @param rq_cq_dbrec       its doorbell record
 * @param nic_handler       who rings the NIC
 * @param send_dbr_mode_ext doorbell records of the extended kind
 * @param qp_out            the queue pair that the GPU drives
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_bridge_export_qp(struct doca_gpu *gpu_dev, uint32_t sq_qpn, void *sq_wqe_addr, uint16_t sq_wqe_num, uint32_t *sq_dbrec, uint64_t *sq_db, size_t uar_size, uint32_t sq_cqn, void *sq_cqe_addr, uint32_t sq_cqe_num, uint32_t *sq_cq_dbrec, uint32_t rq_qpn, void *rq_wqe_addr, uint16_t rq_wqe_num, uint32_t *rq_dbrec, uint32_t rcv_wqe_size, uint32_t rq_cqn, void *rq_cqe_addr, uint32_t rq_cqe_num, uint32_t *rq_cq_dbrec, enum doca_gpu_dev_verbs_nic_handler nic_handler, uint8_t send_dbr_mode_ext, struct doca_gpu_verbs_qp **qp_out);

/**
 * Would tell whether a CPU thread rings the NIC for a queue pair.
 *
 * @param qp_cpu  the queue pair
 * @param enabled 1 if so
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_cpu_proxy_enabled(struct doca_gpu_verbs_qp *qp_cpu, uint8_t *enabled);

/**
 * Would ring the NIC for a queue pair, from the CPU.
 *
 * @param qp_cpu the queue pair
 * @return DOCA_ERROR_NOT_SUPPORTED, always: no device here can be driven so; the log says what to use instead
 *         DOCA_ERROR_INVALID_VALUE: an argument that is needed is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_gpu_verbs_cpu_proxy_progress(struct doca_gpu_verbs_qp *qp_cpu);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GPUNETIO_H_ */
