/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dev.h
 * Devices and representors: today's, with the functions that were renamed since.
 */
#ifndef DOCA_2_2_DEV_H_
#define DOCA_2_2_DEV_H_

#include "../doca_dev.h"
#include <doca_error.h>
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which representors a list holds. */
enum doca_dev_rep_filter {
	DOCA_DEV_REP_FILTER_ALL = 0,	       /**< all of them */
	DOCA_DEV_REP_FILTER_NET = 1 << 1,      /**< of network functions */
	DOCA_DEV_REP_FILTER_EMULATED = 1 << 2, /**< of emulated functions */
};

/**
 * Lists the local devices.
 * @param dev_list the list; doca_devinfo_list_destroy() frees it and its elements
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_FOUND there are no devices, or the topology file is not usable
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
	DOCA_2_2_SYMBOL(doca_devinfo_create_list);

/** Destroys a list of devices. Devices opened from it stay. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list) DOCA_2_2_SYMBOL(doca_devinfo_destroy_list);

/**
 * Lists a DPU device's representors.
 * @param dev_list_rep the list; freed by doca_devinfo_rep_list_destroy()
 * @retval DOCA_ERROR_INVALID_VALUE NULL or no such filter
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_NOT_SUPPORTED the device has none of them
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_list_create(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep) DOCA_2_2_SYMBOL(doca_devinfo_rep_create_list);

/** Destroys a list of representors. Those opened from it stay. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_list_destroy(struct doca_devinfo_rep **dev_list_rep) DOCA_2_2_SYMBOL(doca_devinfo_rep_destroy_list);

/**
 * Does the device have this PCI address ("0000:03:00.0" or "03:00.0")?
 * @retval DOCA_ERROR_INVALID_VALUE not a PCI address
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo, const char *pci_addr_str, uint8_t *is_equal)
	DOCA_2_2_SYMBOL(doca_devinfo_is_equal_pci_addr);

/** Whether the device can plug emulated functions. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager)
	DOCA_2_2_SYMBOL(doca_devinfo_cap_is_hotplug_manager_supported);

/** Whether memory maps on the device can be exported to the DPU (doca_mmap_export_dpu()). */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
	DOCA_2_2_SYMBOL(doca_mmap_cap_is_export_pci_supported);

/** Whether the device can import memory maps that a host exported. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo, uint8_t *from_export)
	DOCA_2_2_SYMBOL(doca_mmap_cap_is_create_from_export_pci_supported);

/** Whether all representors of the device can be listed. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo, uint8_t *all_supported)
	DOCA_2_2_SYMBOL(doca_devinfo_rep_cap_is_filter_all_supported);

/** Whether the device's representors of network functions can be listed. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo, uint8_t *net_supported)
	DOCA_2_2_SYMBOL(doca_devinfo_rep_cap_is_filter_net_supported);

/** Whether the device's representors of emulated functions can be listed. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo, uint8_t *emulated_supported)
	DOCA_2_2_SYMBOL(doca_devinfo_rep_cap_is_filter_emulated_supported);

/**
 * Does the representor represent the function with this PCI address?
 * @retval DOCA_ERROR_INVALID_VALUE not a PCI address
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						    uint8_t *is_equal) DOCA_2_2_SYMBOL(doca_devinfo_rep_is_equal_pci_addr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_DEV_H_ */
