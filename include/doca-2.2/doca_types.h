/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_types.h
 * Types that all of DOCA 2.2 shares: today's, and those that were renamed since.
 */
#ifndef DOCA_2_2_TYPES_H_
#define DOCA_2_2_TYPES_H_

#include "../doca_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who may do what with the memory of a memory map. DPU means the other side of the PCI bus. */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ_ONLY = 0,	 /**< this process reads; the default */
	DOCA_ACCESS_LOCAL_READ_WRITE = (1 << 0), /**< this process and its devices read and write */
	DOCA_ACCESS_RDMA_READ = (1 << 1),	 /**< peers on the network read */
	DOCA_ACCESS_RDMA_WRITE = (1 << 2),	 /**< peers on the network write */
	DOCA_ACCESS_RDMA_ATOMIC = (1 << 3),	 /**< peers on the network compare-and-swap and fetch-and-add */
	DOCA_ACCESS_DPU_READ_ONLY = (1 << 4),	 /**< the DPU reads; not together with the next */
	DOCA_ACCESS_DPU_READ_WRITE = (1 << 5),	 /**< the DPU reads and writes */
};

/** enum doca_pci_func_type: physical function, */
#define DOCA_PCI_FUNC_PF DOCA_PCI_FUNC_TYPE_PF
/** virtual function, */
#define DOCA_PCI_FUNC_VF DOCA_PCI_FUNC_TYPE_VF
/** scalable function. */
#define DOCA_PCI_FUNC_SF DOCA_PCI_FUNC_TYPE_SF

/** enum doca_gpu_mem_type, whose numbers differ today: memory of the GPU, */
#define DOCA_GPU_MEM_GPU ((enum doca_gpu_mem_type)0)
/** memory of the GPU that the CPU can access too, */
#define DOCA_GPU_MEM_GPU_CPU ((enum doca_gpu_mem_type)1)
/** memory of the CPU, */
#define DOCA_GPU_MEM_CPU ((enum doca_gpu_mem_type)2)
/** memory of the CPU that kernels can access too. */
#define DOCA_GPU_MEM_CPU_GPU ((enum doca_gpu_mem_type)3)

/** How a device sends packets at a given time. */
enum doca_eth_wait_on_time {
	DOCA_ETH_WAIT_ON_TIME_NONE = 0,	  /**< not at all */
	DOCA_ETH_WAIT_ON_TIME_NATIVE = 1, /**< by the device itself */
	DOCA_ETH_WAIT_ON_TIME_DPDK = 2,	  /**< by DPDK */
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_TYPES_H_ */
