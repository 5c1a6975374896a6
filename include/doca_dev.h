/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dev.h
 * Devices and representors: finding and opening them (Core guide, 3.2).
 *
 * A device is a network function of the node that the program runs on: a PF, VF or SF of a host, or a port of a DPU. A
 * representor on a DPU's port represents one function behind it, and has that function's PCI address. A program lists devices,
 * chooses one by a property or a capability, opens it, and frees the list:
 *
 *     struct doca_devinfo **list;
 *     uint32_t num, i;
 *     doca_devinfo_create_list(&list, &num);
 *     for (i = 0; i < num; i++)
 *             if (doca_devinfo_is_equal_pci_addr(list[i], "03:00.0", &is_equal) == DOCA_SUCCESS && is_equal)
 *                     doca_dev_open(list[i], &dev);
 *     doca_devinfo_destroy_list(list);
 *
 * On a DPU, doca_devinfo_rep_create_list() and doca_dev_rep_open() do the same for the representors of an opened port.
 *
 * A list is a snapshot. Its elements are freed with it; opened devices and representors stay open. Opens are counted: the same
 * element opened twice gives the same device, and each open needs a close. A device may be closed before its representors.
 *
 * The topology defines the devices: the default one, or the file that SOFTFIELD_TOPOLOGY names. A process sees every device of
 * its machine, or with SOFTFIELD_NODE those of that node. Any thread may call any function.
 *
 * Missing: emulated devices, hot plugging, InfiniBand.
 *
 * @retval DOCA_ERROR_NO_MEMORY *_create_list, doca_dev_open, doca_dev_rep_open: out of memory
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>
#include <doca_types.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a property, in bytes: addresses, and strings with their NUL. PCI addresses are DDDD:BB:DD.F, a BDF is BB:DD.F. */
#define DOCA_DEVINFO_VUID_SIZE 128
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_PCI_BDF_SIZE 8
#define DOCA_DEVINFO_REP_VUID_SIZE 128
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8

/** Describes a device: an element of a list, or of an opened device. */
struct doca_devinfo;

/** Describes a representor: an element of a list, or of an opened representor. */
struct doca_devinfo_rep;

/** An opened device. */
struct doca_dev;

/** An opened representor. */
struct doca_dev_rep;

/** Which representors to list. NET and EMULATED may be combined. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0,	   /**< every representor */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1,	   /**< of network functions */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< of emulated devices */
};

/**
 * Lists the devices that this process sees. A PF comes before its VFs and SFs.
 * @param dev_list freed by doca_devinfo_destroy_list()
 * @retval DOCA_ERROR_NOT_FOUND no devices, an unusable topology file, or SOFTFIELD_NODE names no node of it
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/** Frees a list and its elements. Devices opened from it stay open. */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * Lists the representors on a DPU's port: one for each host function behind the port, and one for each SF of the port.
 * @param filter of enum doca_devinfo_rep_filter; EMULATED alone gives an empty list
 * @param dev_list_rep freed by doca_devinfo_rep_destroy_list(), also if it is empty
 * @retval DOCA_ERROR_INVALID_VALUE an unknown filter
 * @retval DOCA_ERROR_NOT_SUPPORTED not a port of a DPU
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

/** Frees a list of representors and its elements. Representors opened from it stay open. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * Opens a device, or counts another open of it. Closed by doca_dev_close().
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_BAD_CONFIG SOFTFIELD_PROFILE names no profile, or SOFTFIELD_FAULTS is invalid
 * @retval DOCA_ERROR_NOT_CONNECTED the device was removed (SOFTFIELD_FAULTS)
 * @retval DOCA_ERROR_INITIALIZATION it does not open (SOFTFIELD_FAULTS)
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Drops an open; the last one closes the device. NULL does nothing.
 * @retval DOCA_ERROR_IN_USE it is the last open, and objects made with the device exist
 * @retval DOCA_ERROR_INVALID_VALUE it is closed already
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Always fails: resources are released immediately here.
 * @retval DOCA_ERROR_NOT_SUPPORTED no device needs this
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/** Opens a representor, or counts another open of it. Closed by doca_dev_rep_close(). */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Drops an open; the last one closes the representor.
 * @retval DOCA_ERROR_IN_USE it is the last open, and objects made with the representor exist
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/** Valid while the device is open; not to be freed. */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/** Valid while the representor is open; not to be freed. */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * @name Properties of a device
 * Addresses are in network order. `size` is the room of the output, at least the DOCA_DEVINFO_*_SIZE that belongs to it.
 * @retval DOCA_ERROR_INVALID_VALUE *_ipv4_addr, *_ipv6_addr, *_mac_addr, *_iface_name, *_ibdev_name: size is too small
 * @{
 */

/** As DDDD:BB:DD.F, in lower case, DOCA_DEVINFO_PCI_ADDR_SIZE bytes. An SF has its PF's. */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * True for an SF's PF too; the PF comes first in a list.
 * @param pci_addr_str DDDD:BB:DD.F or BB:DD.F (domain 0), in either case
 * @retval DOCA_ERROR_INVALID_VALUE the text is not a PCI address
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str, uint8_t *is_equal);

/** @retval DOCA_ERROR_NOT_FOUND the topology file gives it none */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size);

/** The topology file's, or the link-local address of its MAC. */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size);

DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size);

/** A name only: the kernel has no such interface. */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size);

/** The name as an RDMA device, such as "mlx5_0"; unique among what a process sees. */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size);

/** @retval DOCA_ERROR_NOT_SUPPORTED the port is not InfiniBand */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/** In bits per second, from the topology. It does not limit the speed. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate);

/** The number of the function, unique in the topology. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/** The number of the RDMA device's port: 1, as each has one. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_uplink_ib_port(const struct doca_devinfo *devinfo, uint16_t *ib_port);

/**
 * The kernel's index of the interface that doca_devinfo_get_iface_name() names.
 * @retval DOCA_ERROR_INVALID_VALUE the kernel has no such interface, as for most software devices
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo, uint32_t *iface_index);

/**
 * The PCI address of the Data Direct function.
 * @param pci_addr_str DOCA_DEVINFO_PCI_ADDR_SIZE bytes
 * @retval DOCA_ERROR_NOT_FOUND always: the devices have none
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_data_direct_pci_dev(struct doca_devinfo *devinfo, char *pci_addr_str);

/** @} */

/**
 * @name Capabilities
 * The ports of a DPU support filters of representors. No device supports the others.
 * @{
 */

DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
								   uint8_t *is_notification_moderation_supported);

DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo, uint8_t *filter_all_supported);

DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo, uint8_t *filter_net_supported);

DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
								       uint8_t *is_accelerate_resource_reclaim);

/** @} */

/**
 * @name Properties of a representor
 * Those of the function that it represents, except the interface and the IB port. `size` is the room of the output, at least
 * DOCA_DEVINFO_REP_VUID_SIZE or DOCA_DEVINFO_IFACE_NAME_SIZE.
 * @retval DOCA_ERROR_INVALID_VALUE *_vuid, *_iface_name: size is too small
 * @{
 */

/** A unique name of upper-case letters and digits, the same in every process and run of the topology. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size);

/** As DDDD:BB:DD.F, in lower case, DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/** Always 0. */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug);

/** The representor's own interface on the DPU, such as "pf0vf1". */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name, uint32_t size);

/**
 * The kernel's index of that interface.
 * @retval DOCA_ERROR_INVALID_VALUE the kernel has no such interface, as for most software devices
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *iface_index);

DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id);

/** Its number on the port's RDMA device. The port itself is 1; its representors follow in the order of the list. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_ib_port(const struct doca_devinfo_rep *devinfo_rep, uint16_t *ib_port);

/**
 * The number of the function's host: 0, because the DPU has one host.
 * @retval DOCA_ERROR_DRIVER an SF of the DPU itself
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_host_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *host_index);

/** N of "pfNvfM": the number of the port, from 0. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *pf_index);

/**
 * M of "pfNvfM".
 * @retval DOCA_ERROR_DRIVER not a VF
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *vf_index);

/**
 * M of "pfNsfM", the topology file's index.
 * @retval DOCA_ERROR_DRIVER not an SF
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_sf_index(const struct doca_devinfo_rep *devinfo_rep, uint32_t *sf_index);

/**
 * How many VFs the PF has.
 * @retval DOCA_ERROR_NOT_PERMITTED not a PF
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_total_vfs(const struct doca_devinfo_rep *devinfo_rep, uint32_t *total_vfs);

/** As doca_devinfo_rep_get_vuid(), of the function's PF; a PF's own. An SF of the DPU has the port's. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_pf_vuid(struct doca_devinfo_rep *devinfo_rep, char *pf_vuid, uint32_t size);

/**
 * The PCI address of the Data Direct function.
 * @param pci_addr_str DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes
 * @retval DOCA_ERROR_NOT_FOUND always: the functions have none
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_data_direct_pci_dev(struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

/** 1 if it represents the port itself. No representor in a list does. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_is_uplink_representor(const struct doca_devinfo_rep *devinfo_rep,
							uint8_t *is_uplink_representor);

/**
 * @param pci_addr_str DDDD:BB:DD.F or BB:DD.F (domain 0), in either case
 * @retval DOCA_ERROR_INVALID_VALUE the text is not a PCI address
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						uint8_t *is_equal);

/** @} */

/** The kind of function that the device is; a DPU's port is a PF. */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo, enum doca_pci_func_type *pci_func_type);

/**
 * The number of an SF on its PF.
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is not an SF
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
