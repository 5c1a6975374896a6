/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_verbs_def.h
 * Types of the doca_gpu_verbs_* functions of doca_gpunetio.h. Included by that header.
 */
#ifndef DOCA_GPUNETIO_VERBS_DEF_H_
#define DOCA_GPUNETIO_VERBS_DEF_H_

/** Which processor rings the NIC's doorbell for a queue pair that a GPU fills. */
enum doca_gpu_dev_verbs_nic_handler {
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO = 0,      /**< the library chooses */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY = 1, /**< a CPU thread */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB = 2, /**< the kernel */
};

#endif /* DOCA_GPUNETIO_VERBS_DEF_H_ */
