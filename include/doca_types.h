/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_types.h
 * Types that all libraries share: user data, access flags, notification handles, numbers in network order.
 */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdint.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No notification handle. */
#define doca_event_invalid_handle -1

/** Bytes of a GID, the address of an RDMA port. */
#define DOCA_GID_BYTE_LENGTH 16

/** What a program waits on for events: on Linux a file descriptor. */
typedef int doca_event_handle_t;

/**
 * What a program waits on for a progress engine, see doca_pe_get_notification_handle(). On Linux a file descriptor for poll()
 * and epoll.
 */
typedef doca_event_handle_t doca_notification_handle_t;

/** User data: an object carries it and callbacks get it. The library never reads or frees it. Zero until it is set. */
union doca_data {
	void *ptr;    /**< as a pointer */
	uint64_t u64; /**< as a number */
};

/** One piece of a message whose pieces are not contiguous in memory. */
struct doca_gather_list {
	void *addr;		       /**< first byte of the piece */
	uint64_t len;		       /**< length of the piece in bytes */
	struct doca_gather_list *next; /**< the piece after it, or NULL */
};

/** An IP address. */
struct doca_ip {
	uint32_t ip[4];	 /**< IPv6; IPv4 is in the last word */
	uint8_t is_ipv4; /**< 1 for IPv4, 0 for IPv6 */
};

/**
 * Access to the memory of a memory map, or-ed for doca_mmap_set_permissions(). This process may always read. PCI flags are for
 * the node at the other end of the PCI bus (a host's DPU, a DPU's host), RDMA flags for peers on the network.
 */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY = 0,		  /**< this process reads; the default */
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE = (1 << 0),	  /**< this process and its devices read and write */
	DOCA_ACCESS_FLAG_RDMA_READ = (1 << 1),		  /**< peers on the network read */
	DOCA_ACCESS_FLAG_RDMA_WRITE = (1 << 2),		  /**< peers on the network write */
	DOCA_ACCESS_FLAG_RDMA_ATOMIC = (1 << 3),	  /**< peers on the network compare-and-swap and fetch-and-add */
	DOCA_ACCESS_FLAG_PCI_READ_ONLY = (1 << 4),	  /**< the other node reads; not together with the next */
	DOCA_ACCESS_FLAG_PCI_READ_WRITE = (1 << 5),	  /**< the other node reads and writes */
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING = (1 << 6), /**< writes over PCI may overtake each other */
};

/** Kinds of functions of a network device. */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF = 0, /**< physical function */
	DOCA_PCI_FUNC_TYPE_VF = 1, /**< virtual function */
	DOCA_PCI_FUNC_TYPE_SF = 2, /**< scalable function */
};

/** 16 bits in network order. */
typedef __be16 doca_be16_t;

/** 32 bits in network order. */
typedef __be32 doca_be32_t;

/** 64 bits in network order. */
typedef __be64 doca_be64_t;

/** Where doca_gpu_mem_alloc() allocates, and which processors can access the memory. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_TYPE_GPU = 0,     /**< memory of the GPU, for kernels only */
	DOCA_GPU_MEM_TYPE_GPU_CPU = 1, /**< memory of the GPU that the CPU can access too */
	DOCA_GPU_MEM_TYPE_CPU_GPU = 2, /**< pinned memory of the host that kernels can access too */
};

/** How a device sends packets at a given time. */
enum doca_eth_wait_on_time_type {
	DOCA_ETH_WAIT_ON_TIME_TYPE_NONE = 0,   /**< not at all */
	DOCA_ETH_WAIT_ON_TIME_TYPE_NATIVE = 1, /**< by the device itself */
	DOCA_ETH_WAIT_ON_TIME_TYPE_DPDK = 2,   /**< by DPDK */
};

/** Largest payload of one packet on the wire. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0x0,	  /**< 256 bytes */
	DOCA_MTU_SIZE_512_BYTES = 0x1,	  /**< 512 bytes */
	DOCA_MTU_SIZE_1K_BYTES = 0x2,	  /**< 1024 bytes */
	DOCA_MTU_SIZE_2K_BYTES = 0x3,	  /**< 2048 bytes */
	DOCA_MTU_SIZE_4K_BYTES = 0x4,	  /**< 4096 bytes */
	DOCA_MTU_SIZE_RAW_ETHERNET = 0x5, /**< the Ethernet port's own limit */
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_TYPES_H_ */
