/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_gpunetio_verbs_def.h
 * What the doca_gpu_verbs_* functions of doca_gpunetio.h take. Included by that header.
 */
#ifndef DOCA_GPUNETIO_VERBS_DEF_H_
#define DOCA_GPUNETIO_VERBS_DEF_H_

/** Who tells the NIC that there is work in a queue pair that a GPU fills. */
enum doca_gpu_dev_verbs_nic_handler {
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO = 0,      /**< the library chooses */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY = 1, /**< a CPU thread rings the NIC */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB = 2, /**< the kernel rings the NIC */
};

#endif /* DOCA_GPUNETIO_VERBS_DEF_H_ */
