/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dev.h
 * Devices and representors: 2.2's, with PCI addresses as numbers, and a filter for each kind of emulated function.
 */
#ifndef DOCA_1_5_DEV_H_
#define DOCA_1_5_DEV_H_

/* 2.2 has one filter for all emulated functions. */
#define doca_dev_rep_filter doca_dev_rep_filter_of_2_2
#define DOCA_DEV_REP_FILTER_ALL DOCA_DEV_REP_FILTER_ALL_OF_2_2
#define DOCA_DEV_REP_FILTER_NET DOCA_DEV_REP_FILTER_NET_OF_2_2
#define DOCA_DEV_REP_FILTER_EMULATED DOCA_DEV_REP_FILTER_EMULATED_OF_2_2
#define doca_devinfo_rep_list_create doca_devinfo_rep_list_create_of_2_2
#include "../doca-2.2/doca_dev.h"
#undef doca_dev_rep_filter
#undef DOCA_DEV_REP_FILTER_ALL
#undef DOCA_DEV_REP_FILTER_NET
#undef DOCA_DEV_REP_FILTER_EMULATED
#undef doca_devinfo_rep_list_create
#include <doca_types.h>
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which representors a list holds. */
enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,		 /**< all of them */
	DOCA_DEV_REP_FILTER_NET = 1 << 1,	 /**< of network functions */
	DOCA_DEV_REP_FILTER_VIRTIO_FS = 1 << 2,	 /**< of emulated file systems */
	DOCA_DEV_REP_FILTER_VIRTIO_NET = 1 << 3, /**< of emulated network functions */
	DOCA_DEV_REP_FILTER_VIRTIO_BLK = 1 << 4, /**< of emulated block devices */
	DOCA_DEV_REP_FILTER_NVME = 1 << 5,	 /**< of emulated NVMe */
};

/** A property for doca_devinfo_property_get(). */
enum doca_devinfo_property {
	DOCA_DEVINFO_PROPERTY_PCI_ADDR, /**< struct doca_pci_bdf */
};

/**
 * Lists a DPU device's representors.
 * @param dev the device
 * @param filter DOCA_DEV_REP_FILTER_ALL, or bits of enum doca_dev_rep_filter: a representor of any of them is listed
 * @param dev_list_rep the list; freed by doca_devinfo_rep_list_destroy()
 * @param nb_devs_rep the list's length
 * @retval DOCA_ERROR_INVALID_VALUE NULL or no such filter
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device has none of them
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep) DOCA_1_5_SYMBOL(doca_1_5_devinfo_rep_list_create);

/**
 * A device's PCI address, without the domain.
 * @param devinfo the device
 * @param pci_addr set to the address
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_OPERATING_SYSTEM the address that the system has for it cannot be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr)
	DOCA_1_5_SYMBOL(doca_1_5_devinfo_get_pci_addr);

/**
 * The PCI address of the function behind a representor, without the domain.
 * @param devinfo_rep the representor
 * @param pci_addr set to the address
 * @retval DOCA_ERROR_INVALID_VALUE NULL, or the function has no address that can be read
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep, struct doca_pci_bdf *pci_addr)
	DOCA_1_5_SYMBOL(doca_1_5_devinfo_rep_get_pci_addr);

/**
 * A property of a device, as of 1.3.
 * @param devinfo the device
 * @param property DOCA_DEVINFO_PROPERTY_PCI_ADDR, the only one
 * @param value receives the value: a struct doca_pci_bdf
 * @param size bytes at value
 * @retval DOCA_ERROR_INVALID_VALUE NULL, another property, or another size
 * @retval DOCA_ERROR_OPERATING_SYSTEM as doca_devinfo_get_pci_addr()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_property_get(const struct doca_devinfo *devinfo, enum doca_devinfo_property property, uint8_t *value,
				       uint32_t size) DOCA_1_5_SYMBOL(doca_1_5_devinfo_property_get);

/** Whether memory maps on the device can be exported to the DPU: 1 or 0. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_export_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
	DOCA_1_5_SYMBOL(doca_mmap_cap_is_export_pci_supported);

/** Whether the device can import memory maps that a host exported: 1 or 0. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_from_export_supported(const struct doca_devinfo *devinfo, uint8_t *from_export)
	DOCA_1_5_SYMBOL(doca_mmap_cap_is_create_from_export_pci_supported);

/** Whether the device's representors of emulated file systems can be listed: 1 or 0. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_virtio_fs_supported(const struct doca_devinfo *devinfo, uint8_t *virtio_fs_supported)
	DOCA_1_5_SYMBOL(doca_devinfo_rep_cap_is_filter_emulated_supported);

/** The same of emulated network functions, */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_virtio_net_supported(const struct doca_devinfo *devinfo, uint8_t *virtio_net_supported)
	DOCA_1_5_SYMBOL(doca_devinfo_rep_cap_is_filter_emulated_supported);

/** of emulated block devices, */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_virtio_blk_supported(const struct doca_devinfo *devinfo, uint8_t *virtio_blk_supported)
	DOCA_1_5_SYMBOL(doca_devinfo_rep_cap_is_filter_emulated_supported);

/** and of emulated NVMe. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_nvme_supported(const struct doca_devinfo *devinfo, uint8_t *nvme_supported)
	DOCA_1_5_SYMBOL(doca_devinfo_rep_cap_is_filter_emulated_supported);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_DEV_H_ */
