/* SPDX-License-Identifier: BSD-3-Clause */
/** @file doca_gpunetio_verbs_def.h Types that doca_gpunetio.h's verbs functions name. */
#ifndef DOCA_GPUNETIO_VERBS_DEF_H_
#define DOCA_GPUNETIO_VERBS_DEF_H_

enum doca_gpu_dev_verbs_nic_handler {
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_AUTO = 0, /**< the library chooses */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_CPU_PROXY = 1, /**< a CPU thread rings the NIC */
	DOCA_GPUNETIO_VERBS_NIC_HANDLER_GPU_SM_DB = 2, /**< the kernel rings the NIC */
};

#endif /* DOCA_GPUNETIO_VERBS_DEF_H_ */
