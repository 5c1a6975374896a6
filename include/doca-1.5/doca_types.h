/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_types.h
 * Types that all of DOCA 1.5 shares: today's, and those that have changed since.
 */
#ifndef DOCA_1_5_TYPES_H_
#define DOCA_1_5_TYPES_H_

#include "../doca_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who may do what with memory, in doca_buf_get_lkey(). Memory maps have no permissions: all of it is allowed. */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ = 0,	     /**< this process and its devices read */
	DOCA_ACCESS_LOCAL_WRITE = 1,	     /**< they write too */
	DOCA_ACCESS_REMOTE_WRITE = (1 << 1), /**< peers on the network write; the value of 2.2's read */
	DOCA_ACCESS_REMOTE_READ = (1 << 2),  /**< peers on the network read; the value of 2.2's write */
	DOCA_ACCESS_REMOTE_ATOMIC = (1 << 3) /**< peers on the network compare-and-swap and fetch-and-add */
};

/** enum doca_pci_func_type: physical function, */
#define DOCA_PCI_FUNC_PF DOCA_PCI_FUNC_TYPE_PF
/** virtual function, */
#define DOCA_PCI_FUNC_VF DOCA_PCI_FUNC_TYPE_VF
/** scalable function. */
#define DOCA_PCI_FUNC_SF DOCA_PCI_FUNC_TYPE_SF

/** A function's number is below it. */
#define PCI_FUNCTION_MAX_VALUE 8
/** A device's number is below it. */
#define PCI_DEVICE_MAX_VALUE 32
/** A bus's number is below it. */
#define PCI_BUS_MAX_VALUE 256

/** A PCI address. It holds no domain: "0000:03:00.1" is bus 3, device 0, function 1. */
struct doca_pci_bdf {
	union {
		uint16_t raw; /**< all three, to compare addresses */
		struct {
			uint16_t bus : 8;      /**< below PCI_BUS_MAX_VALUE */
			uint16_t device : 5;   /**< below PCI_DEVICE_MAX_VALUE */
			uint16_t function : 3; /**< below PCI_FUNCTION_MAX_VALUE */
		};
	};
};

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_TYPES_H_ */
