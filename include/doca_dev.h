/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dev.h
 * Devices and representors: finding and opening them (Core guide, 3.2).
 *
 * A device is a network function of the node that the program runs on: a PF, VF or SF of a host, or a port of a DPU. A
 * representor stands on a DPU's port for one function behind it and has that function's PCI address. A program lists what
 * there is, chooses by a property or a capability, opens, and lets the list go:
 *
 *     struct doca_devinfo **list;
 *     uint32_t num, i;
 *     doca_devinfo_create_list(&list, &num);
 *     for (i = 0; i < num; i++)
 *             if (doca_devinfo_is_equal_pci_addr(list[i], "03:00.0", &is_equal) == DOCA_SUCCESS && is_equal)
 *                     doca_dev_open(list[i], &dev);
 *     doca_devinfo_destroy_list(list);
 *
 * and on a DPU, with the opened port, doca_devinfo_rep_create_list and doca_dev_rep_open in the same way.
 *
 * A list is a snapshot; its elements end with it, an opened device or representor does not. Opens are counted: the same
 * element opened twice gives the same device, and each open needs a close. A device that contexts, memory maps or other
 * objects use cannot be closed. A device may be closed before the representors that were opened on it.
 *
 * Which devices there are is the topology's doing: the default one, or the file that SOFTFIELD_TOPOLOGY names. A process sees
 * every device of its machine, or with SOFTFIELD_NODE only those of that node. All functions may be called from any thread.
 *
 * Missing: emulated devices and hot plugging; no link here is InfiniBand.
 */
#ifndef DOCA_DEV_H_
#define DOCA_DEV_H_

#include <stdint.h>
#include <doca_types.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a VUID with its NUL, bytes. */
#define DOCA_DEVINFO_VUID_SIZE 128

/** An IPv4 address, bytes. */
#define DOCA_DEVINFO_IPV4_ADDR_SIZE 4

/** An IPv6 address, bytes. */
#define DOCA_DEVINFO_IPV6_ADDR_SIZE 16

/** A MAC address, bytes. */
#define DOCA_DEVINFO_MAC_ADDR_SIZE 6

/** Room for an interface name with its NUL, bytes. */
#define DOCA_DEVINFO_IFACE_NAME_SIZE 256

/** Room for the name of an RDMA device with its NUL, bytes. */
#define DOCA_DEVINFO_IBDEV_NAME_SIZE 64

/** A PCI address as DDDD:BB:DD.F with its NUL, bytes. */
#define DOCA_DEVINFO_PCI_ADDR_SIZE 13

/** A PCI address as BB:DD.F with its NUL, bytes. */
#define DOCA_DEVINFO_PCI_BDF_SIZE 8

/** Room for a representor's VUID with its NUL, bytes. */
#define DOCA_DEVINFO_REP_VUID_SIZE 128

/** A representor's PCI address as DDDD:BB:DD.F with its NUL, bytes. */
#define DOCA_DEVINFO_REP_PCI_ADDR_SIZE 13

/** A representor's PCI address as BB:DD.F with its NUL, bytes. */
#define DOCA_DEVINFO_REP_PCI_BDF_SIZE 8

/** What a device is: an element of a list, or an opened device's. */
struct doca_devinfo;

/** What a representor is: an element of a list, or an opened representor's. */
struct doca_devinfo_rep;

/** An opened device. */
struct doca_dev;

/** An opened representor. */
struct doca_dev_rep;

/** Which representors to list. NET and EMULATED may be combined. */
enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL = 0, /**< every representor */
	DOCA_DEVINFO_REP_FILTER_NET = 1 << 1, /**< of network functions */
	DOCA_DEVINFO_REP_FILTER_EMULATED = 1 << 2, /**< of emulated devices */
};

/**
 * Lists the devices that this process sees. A PF comes before its VFs and SFs.
 * @param dev_list the list; give it back with doca_devinfo_destroy_list
 * @param nb_devs how many elements it has
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY; DOCA_ERROR_NOT_FOUND: there are no devices, the
 *         topology file is not usable, or SOFTFIELD_NODE names no node of it (the log says which)
 */
DOCA_STABLE
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);

/**
 * Frees a list and its elements. Devices opened from it stay open.
 * @param dev_list from doca_devinfo_create_list
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/**
 * Lists the representors on a DPU's port: one for each host function behind the port, and for each SF of the port.
 * @param dev an opened port of a DPU
 * @param filter of enum doca_devinfo_rep_filter. All functions here are network functions: EMULATED alone gives an empty list
 * @param dev_list_rep the list; give it back with doca_devinfo_rep_destroy_list, also when it is empty
 * @param nb_devs_rep how many elements it has; may be 0
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or an unknown filter; DOCA_ERROR_NOT_SUPPORTED: not a port of a DPU;
 *         DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter, struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);

/**
 * Frees a list of representors and its elements. Those opened from it stay open.
 * @param dev_list_rep from doca_devinfo_rep_create_list
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);

/**
 * Opens a device, or counts one more open of it.
 * @param devinfo an element of a list, or doca_dev_as_devinfo of an open device
 * @param dev the device; close it with doca_dev_close
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);

/**
 * Takes one open back; the last one closes the device.
 * @param dev from doca_dev_open, or NULL, for which there is nothing to do
 * @return DOCA_SUCCESS; DOCA_ERROR_IN_USE: the last open, and objects made with the device still exist: it stays open;
 *         DOCA_ERROR_INVALID_VALUE: it is closed already
 */
DOCA_STABLE
doca_error_t doca_dev_close(struct doca_dev *dev);

/**
 * Would ask hardware to give resources back sooner. Here they are given back at once.
 * @param dev an opened device
 * @return DOCA_ERROR_NOT_SUPPORTED; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev);

/**
 * Opens a representor, or counts one more open of it.
 * @param devinfo an element of a list, or doca_dev_rep_as_devinfo of an open representor
 * @param dev_rep the representor; close it with doca_dev_rep_close
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY
 */
DOCA_STABLE
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep);

/**
 * Takes one open back; the last one closes the representor.
 * @param dev from doca_dev_rep_open
 * @return DOCA_SUCCESS; DOCA_ERROR_IN_USE: the last open, and objects made with the representor still exist: it stays open;
 *         DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

/**
 * The device's description.
 * @param dev an opened device
 * @return valid while the device is open, not to be freed; NULL for NULL
 */
DOCA_STABLE
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/**
 * The representor's description.
 * @param dev_rep an opened representor
 * @return valid while the representor is open, not to be freed; NULL for NULL
 */
DOCA_STABLE
struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep);

/**
 * The device's PCI address as DDDD:BB:DD.F, in lower case. An SF has its PF's.
 * @param devinfo the device
 * @param pci_addr_str where it goes, DOCA_DEVINFO_PCI_ADDR_SIZE bytes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str);

/**
 * Is this the device's PCI address? An SF has its PF's; the PF comes first in a list.
 * @param devinfo the device
 * @param pci_addr_str as DDDD:BB:DD.F or BB:DD.F (domain 0), hexadecimal digits in either case
 * @param is_equal 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or the text is not a PCI address
 */
DOCA_STABLE
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str, uint8_t *is_equal);

/**
 * The device's IPv4 address, in network order.
 * @param devinfo the device
 * @param ipv4_addr where it goes
 * @param size bytes there, at least DOCA_DEVINFO_IPV4_ADDR_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small; DOCA_ERROR_NOT_FOUND: it has none, unless a
 *         topology file gives it one
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size);

/**
 * The device's IPv6 address, in network order: what the topology file gives, or the link-local one of its MAC.
 * @param devinfo the device
 * @param ipv6_addr where it goes
 * @param size bytes there, at least DOCA_DEVINFO_IPV6_ADDR_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size);

/**
 * The device's MAC address.
 * @param devinfo the device
 * @param mac_addr where it goes
 * @param size bytes there, at least DOCA_DEVINFO_MAC_ADDR_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size);

/**
 * The name of the device's network interface. A name only: the kernel has no such interface.
 * @param devinfo the device
 * @param iface_name where it goes
 * @param size bytes there, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size);

/**
 * The name of the device as an RDMA device, such as "mlx5_0"; unique among what a process sees.
 * @param devinfo the device
 * @param ibdev_name where it goes
 * @param size bytes there, at least DOCA_DEVINFO_IBDEV_NAME_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size);

/**
 * The local identifier of an InfiniBand port; no link here is InfiniBand.
 * @param devinfo the device
 * @param lid not written
 * @return DOCA_ERROR_NOT_SUPPORTED; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);

/**
 * The rate of the device's link in bits per second, as the topology says; nothing is slowed down to it.
 * @param devinfo the device
 * @param active_rate where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate);

/**
 * The number of the function, unique in the topology.
 * @param devinfo the device
 * @param vhca_id where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id);

/**
 * Can emulated devices be plugged in through the device? No.
 * @param devinfo the device
 * @param is_hotplug_manager 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager);

/**
 * Can the device hold notifications back to save interrupts? No.
 * @param devinfo the device
 * @param is_notification_moderation_supported 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
								   uint8_t *is_notification_moderation_supported);

/**
 * Can representors be listed on the device with filter ALL? On the ports of a DPU.
 * @param devinfo the device
 * @param filter_all_supported 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo, uint8_t *filter_all_supported);

/**
 * Can representors be listed on the device with filter NET? On the ports of a DPU.
 * @param devinfo the device
 * @param filter_net_supported 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo, uint8_t *filter_net_supported);

/**
 * Can representors be listed on the device with filter EMULATED? On the ports of a DPU; there are none.
 * @param devinfo the device
 * @param filter_emulated_supported 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported);

/**
 * Does doca_dev_accelerate_resource_reclaim work on the device? No.
 * @param devinfo the device
 * @param is_accelerate_resource_reclaim 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
								       uint8_t *is_accelerate_resource_reclaim);

/**
 * The unique name of the function that the representor stands for: upper-case letters and digits, the same in every process
 * and run of the topology.
 * @param devinfo_rep the representor
 * @param rep_vuid where it goes
 * @param size bytes there, at least DOCA_DEVINFO_REP_VUID_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size);

/**
 * The PCI address of the function that the representor stands for, as DDDD:BB:DD.F, in lower case.
 * @param devinfo_rep the representor
 * @param pci_addr_str where it goes, DOCA_DEVINFO_REP_PCI_ADDR_SIZE bytes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str);

/**
 * What kind of function the representor stands for.
 * @param devinfo_rep the representor
 * @param pci_func_type where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
						enum doca_pci_func_type *pci_func_type);

/**
 * Was the function plugged in while running? Always 0.
 * @param devinfo_rep the representor
 * @param is_hotplug where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug);

/**
 * The name of the representor's own network interface on the DPU, such as "pf0vf1".
 * @param devinfo_rep the representor
 * @param iface_name where it goes
 * @param size bytes there, at least DOCA_DEVINFO_IFACE_NAME_SIZE
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or size too small
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name, uint32_t size);

/**
 * The number of the function that the representor stands for, as doca_devinfo_get_vhca_id gives it on the host.
 * @param devinfo_rep the representor
 * @param vhca_id where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id);

/**
 * Is this the PCI address of the function that the representor stands for?
 * @param devinfo_rep the representor
 * @param pci_addr_str as DDDD:BB:DD.F or BB:DD.F (domain 0), hexadecimal digits in either case
 * @param is_equal 1 for yes, 0 for no
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or the text is not a PCI address
 */
DOCA_STABLE
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
						uint8_t *is_equal);

/**
 * What kind of function the device is; a DPU's port is a PF.
 * @param devinfo the device
 * @param pci_func_type where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo, enum doca_pci_func_type *pci_func_type);

/**
 * The number of an SF on its PF.
 * @param devinfo the device
 * @param sf_index where it goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NOT_SUPPORTED: the device is no SF
 */
DOCA_EXPERIMENTAL
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DEV_H_ */
