/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdoca_gpunetio_device: programs link it whole, as DOCA has it. The device functions are inline in the headers, so it holds
 * but a mark by which cuobjdump and a debugger tell which release a program's device code is of.
 */
#include <doca_gpunetio_dev_buf.cuh>
#include <doca_gpunetio_dev_comch.cuh>
#include <doca_gpunetio_dev_rdma.cuh>
#include <doca_gpunetio_dev_sem.cuh>

extern "C" __device__ unsigned int softfield_device_gpu_queue_version;
__device__ unsigned int softfield_device_gpu_queue_version = SOFTFIELD_GPU_QUEUE_VERSION;
