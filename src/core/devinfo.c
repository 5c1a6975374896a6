/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of devices, and the properties of a device. */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/dev_priv.h"
#include "core/faults.h"

static bool is_listed(const struct sf_topology *topology, const struct sf_device *device)
{
	return sf_topology_sees(topology, device->node) && !sf_dev_is_removed(device);
}

/* A list is one allocation: the pointers that the program sees, then the elements they point to. */
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	const struct sf_topology *t;
	uint32_t count = 0;

	if (!dev_list || !nb_devs) {
		SF_LOG_ERR("dev_list or nb_devs is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_topology_get(&t);

	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < t->num_devices; i++)
		count += is_listed(t, &t->devices[i]);
	if (!count) {
		SF_LOG_ERR("no device here: %s",
			   t->self ? "the node that SOFTFIELD_NODE names has none"
				   : "every node of the topology has an address; name this machine's in SOFTFIELD_NODE");
		return DOCA_ERROR_NOT_FOUND;
	}

	struct doca_devinfo **list = malloc(count * (sizeof(*list) + sizeof(**list)));

	if (!list) {
		SF_LOG_ERR("no memory for a list of %u devices", count);
		return DOCA_ERROR_NO_MEMORY;
	}
	struct doca_devinfo *infos = (struct doca_devinfo *)(list + count);

	uint32_t at = 0;

	for (uint32_t i = 0; i < t->num_devices; i++) {
		if (at == count || !is_listed(t, &t->devices[i])) /* one may be removed meanwhile */
			continue;
		infos[at].desc = &t->devices[i];
		list[at] = &infos[at];
		at++;
	}
	*dev_list = list;
	*nb_devs = at;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	if (!dev_list) {
		SF_LOG_ERR("dev_list is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	free(dev_list);
	return DOCA_SUCCESS;
}

const struct sf_device *sf_devinfo_desc(const struct doca_devinfo *devinfo)
{
	return devinfo->desc;
}

/* ---- properties ---- */

static doca_error_t null_reject(void)
{
	SF_LOG_ERR("devinfo or the output argument is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_dev_copy_out(const char *what, void *out, uint32_t size, uint32_t size_min, const void *value, size_t len)
{
	if (size < size_min) {
		SF_LOG_ERR("%u bytes are too few for a device's %s: give at least %u", size, what, size_min);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(out, value, len);
	return DOCA_SUCCESS;
}

doca_error_t sf_dev_compare_pci(const struct sf_device *desc, const char *text, uint8_t *is_equal)
{
	char addr[SF_PCI_ADDR_SIZE];

	if (sf_pci_addr_normalise(text, addr) != DOCA_SUCCESS) {
		SF_LOG_ERR("\"%.32s\" is not a PCI address such as 03:00.0 or 0000:03:00.0", text);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*is_equal = !strcmp(addr, desc->pci_addr);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	if (!devinfo || !pci_addr_str)
		return null_reject();
	memcpy(pci_addr_str, devinfo->desc->pci_addr, sizeof(devinfo->desc->pci_addr));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str, uint8_t *is_equal)
{
	if (!devinfo || !pci_addr_str || !is_equal)
		return null_reject();
	return sf_dev_compare_pci(devinfo->desc, pci_addr_str, is_equal);
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
	if (!devinfo || !ipv4_addr)
		return null_reject();
	if (!devinfo->desc->has_ipv4) {
		SF_LOG_DBG("device %s has no IPv4 address; a topology file may give it one", devinfo->desc->key);
		return DOCA_ERROR_NOT_FOUND;
	}
	return sf_dev_copy_out("IPv4 address", ipv4_addr, size, DOCA_DEVINFO_IPV4_ADDR_SIZE, devinfo->desc->ipv4,
			       sizeof(devinfo->desc->ipv4));
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
	if (!devinfo || !ipv6_addr)
		return null_reject();
	return sf_dev_copy_out("IPv6 address", ipv6_addr, size, DOCA_DEVINFO_IPV6_ADDR_SIZE, devinfo->desc->ipv6,
			       sizeof(devinfo->desc->ipv6));
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
	if (!devinfo || !mac_addr)
		return null_reject();
	return sf_dev_copy_out("MAC address", mac_addr, size, DOCA_DEVINFO_MAC_ADDR_SIZE, devinfo->desc->mac,
			       sizeof(devinfo->desc->mac));
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
	if (!devinfo || !iface_name)
		return null_reject();
	return sf_dev_copy_out("interface name", iface_name, size, DOCA_DEVINFO_IFACE_NAME_SIZE, devinfo->desc->iface,
			       strlen(devinfo->desc->iface) + 1);
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
	if (!devinfo || !ibdev_name)
		return null_reject();
	return sf_dev_copy_out("ibdev name", ibdev_name, size, DOCA_DEVINFO_IBDEV_NAME_SIZE, devinfo->desc->ibdev,
			       strlen(devinfo->desc->ibdev) + 1);
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	if (!devinfo || !lid)
		return null_reject();
	SF_LOG_DBG("device %s has no LID: its link layer is Ethernet, as on all devices here", devinfo->desc->key);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate)
{
	if (!devinfo || !active_rate)
		return null_reject();
	*active_rate = devinfo->desc->rate_bps;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id)
{
	if (!devinfo || !vhca_id)
		return null_reject();
	*vhca_id = devinfo->desc->vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo, enum doca_pci_func_type *pci_func_type)
{
	if (!devinfo || !pci_func_type)
		return null_reject();
	*pci_func_type = sf_function_type(devinfo->desc);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
	if (!devinfo || !sf_index)
		return null_reject();
	if (devinfo->desc->kind != SF_FUNCTION_SF) {
		SF_LOG_DBG("device %s is no SF and has no SF index", devinfo->desc->key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	*sf_index = devinfo->desc->sf_index;
	return DOCA_SUCCESS;
}

doca_error_t sf_dev_iface_index(const struct sf_device *desc, const char *iface, uint32_t *index)
{
	unsigned int found = if_nametoindex(iface);

	if (found == 0) {
		SF_LOG_DBG("device %s: the kernel has no interface \"%s\" and so no index: a software device's is a name only; "
			   "a topology file may name a real one",
			   desc->key, iface);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*index = found;
	return DOCA_SUCCESS;
}

doca_error_t sf_dev_no_data_direct(const struct sf_device *desc)
{
	SF_LOG_DBG("device %s has no Data Direct function: only some network cards have", desc->key);
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t doca_devinfo_get_uplink_ib_port(const struct doca_devinfo *devinfo, uint16_t *ib_port)
{
	if (!devinfo || !ib_port)
		return null_reject();
	*ib_port = SF_UPLINK_IB_PORT;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo, uint32_t *iface_index)
{
	if (!devinfo || !iface_index)
		return null_reject();
	return sf_dev_iface_index(devinfo->desc, devinfo->desc->iface, iface_index);
}

doca_error_t doca_devinfo_get_data_direct_pci_dev(struct doca_devinfo *devinfo, char *pci_addr_str)
{
	if (!devinfo || !pci_addr_str)
		return null_reject();
	return sf_dev_no_data_direct(devinfo->desc);
}

/* ---- capabilities ---- */

static doca_error_t cap_answer(const struct doca_devinfo *devinfo, uint8_t *out, bool value)
{
	if (!devinfo || !out)
		return null_reject();
	*out = value;
	return DOCA_SUCCESS;
}

static doca_error_t answer_port(const struct doca_devinfo *devinfo, uint8_t *out)
{
	return cap_answer(devinfo, out, devinfo && sf_device_is_port(devinfo->desc));
}

doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo, uint8_t *is_hotplug_manager)
{
	return cap_answer(devinfo, is_hotplug_manager, false);
}

doca_error_t doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
								   uint8_t *is_notification_moderation_supported)
{
	return cap_answer(devinfo, is_notification_moderation_supported, false);
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
								       uint8_t *is_accelerate_resource_reclaim)
{
	return cap_answer(devinfo, is_accelerate_resource_reclaim, false);
}

doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo, uint8_t *filter_all_supported)
{
	return answer_port(devinfo, filter_all_supported);
}

doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo, uint8_t *filter_net_supported)
{
	return answer_port(devinfo, filter_net_supported);
}

doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
							       uint8_t *filter_emulated_supported)
{
	return answer_port(devinfo, filter_emulated_supported);
}
