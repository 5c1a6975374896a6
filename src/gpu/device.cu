/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdoca_gpunetio_device: programs link all of it, as with DOCA's. The device functions are inline in the headers, so it holds
 * only a mark that shows the release of a program's device code in cuobjdump and debuggers.
 */
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_comch.cuh>
#include <doca_gpunetio_dev_dma.cuh>
#include <doca_gpunetio_dev_rdma.cuh>
#include <doca_gpunetio_dev_sem.cuh>

extern "C" __device__ unsigned int softfield_device_gpu_queue_version;
__device__ unsigned int softfield_device_gpu_queue_version = SOFTFIELD_GPU_QUEUE_VERSION;
