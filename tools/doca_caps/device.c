/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void attribute_add(struct attributes *attributes, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void attribute_add(struct attributes *attributes, const char *name, const char *format, ...)
{
	va_list args;

	if (attributes->num == ATTRIBUTES_MAX)
		return;
	attributes->list[attributes->num].name = name;
	attributes->list[attributes->num].kind = ATTRIBUTE_TEXT;
	va_start(args, format);
	vsnprintf(attributes->list[attributes->num].value, sizeof(attributes->list[0].value), format, args);
	va_end(args);
	attributes->num++;
}

static void add_number(struct attributes *attributes, const char *name, uint64_t number)
{
	attribute_add(attributes, name, "%" PRIu64, number);
	attributes->list[attributes->num - 1].kind = ATTRIBUTE_NUMBER;
}

static void add_flag(struct attributes *attributes, const char *name, bool flag)
{
	attribute_add(attributes, name, "%s", flag ? "yes" : "no");
	attributes->list[attributes->num - 1].kind = ATTRIBUTE_FLAG;
}

const char *attribute_find(const struct attributes *attributes, const char *name)
{
	for (unsigned i = 0; i < attributes->num; i++) {
		if (strcmp(attributes->list[i].name, name) == 0)
			return attributes->list[i].value;
	}
	return NULL;
}

static const char *function_type(enum doca_pci_func_type type)
{
	static const char *const names[] = {
		[DOCA_PCI_FUNC_TYPE_PF] = "PF", [DOCA_PCI_FUNC_TYPE_VF] = "VF", [DOCA_PCI_FUNC_TYPE_SF] = "SF"};

	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

static void add_addresses(const struct doca_devinfo *devinfo, struct attributes *attributes)
{
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
	char text[INET6_ADDRSTRLEN];

	if (doca_devinfo_get_mac_addr(devinfo, mac, sizeof(mac)) == DOCA_SUCCESS)
		attribute_add(attributes, "mac_addr", "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
			      mac[5]);
	if (doca_devinfo_get_ipv4_addr(devinfo, ipv4, sizeof(ipv4)) == DOCA_SUCCESS)
		attribute_add(attributes, "ipv4_addr", "%s", inet_ntop(AF_INET, ipv4, text, sizeof(text)));
	if (doca_devinfo_get_ipv6_addr(devinfo, ipv6, sizeof(ipv6)) == DOCA_SUCCESS)
		attribute_add(attributes, "ipv6_addr", "%s", inet_ntop(AF_INET6, ipv6, text, sizeof(text)));
}

void device_attributes(const struct doca_devinfo *devinfo, struct attributes *attributes)
{
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE], ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint32_t sf_index;
	uint16_t number;
	uint64_t rate;

	attributes->num = 0;
	if (doca_devinfo_get_pci_addr_str(devinfo, pci) == DOCA_SUCCESS)
		attribute_add(attributes, "pci_addr", "%s", pci);
	if (doca_devinfo_get_ibdev_name(devinfo, ibdev, sizeof(ibdev)) == DOCA_SUCCESS)
		attribute_add(attributes, "ibdev_name", "%s", ibdev);
	if (doca_devinfo_get_iface_name(devinfo, iface, sizeof(iface)) == DOCA_SUCCESS)
		attribute_add(attributes, "iface_name", "%s", iface);
	if (doca_devinfo_get_pci_func_type(devinfo, &type) == DOCA_SUCCESS)
		attribute_add(attributes, "pci_func_type", "%s", function_type(type));
	if (doca_devinfo_get_sf_index(devinfo, &sf_index) == DOCA_SUCCESS)
		add_number(attributes, "sf_index", sf_index);
	add_addresses(devinfo, attributes);
	if (doca_devinfo_get_vhca_id(devinfo, &number) == DOCA_SUCCESS)
		add_number(attributes, "vhca_id", number);
	if (doca_devinfo_get_lid(devinfo, &number) == DOCA_SUCCESS)
		add_number(attributes, "lid", number);
	if (doca_devinfo_get_active_rate(devinfo, &rate) == DOCA_SUCCESS)
		add_number(attributes, "active_rate", rate);
}

void representor_attributes(const struct doca_devinfo_rep *rep, struct attributes *attributes)
{
	char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], vuid[DOCA_DEVINFO_REP_VUID_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	enum doca_pci_func_type type;
	uint8_t hotplug;
	uint16_t vhca;

	attributes->num = 0;
	if (doca_devinfo_rep_get_pci_addr_str(rep, pci) == DOCA_SUCCESS)
		attribute_add(attributes, "pci_addr", "%s", pci);
	if (doca_devinfo_rep_get_pci_func_type(rep, &type) == DOCA_SUCCESS)
		attribute_add(attributes, "pci_func_type", "%s", function_type(type));
	if (doca_devinfo_rep_get_iface_name(rep, iface, sizeof(iface)) == DOCA_SUCCESS)
		attribute_add(attributes, "iface_name", "%s", iface);
	if (doca_devinfo_rep_get_vuid(rep, vuid, sizeof(vuid)) == DOCA_SUCCESS)
		attribute_add(attributes, "vuid", "%s", vuid);
	if (doca_devinfo_rep_get_vhca_id(rep, &vhca) == DOCA_SUCCESS)
		add_number(attributes, "vhca_id", vhca);
	if (doca_devinfo_rep_get_is_hotplug(rep, &hotplug) == DOCA_SUCCESS)
		add_flag(attributes, "hotplug", hotplug != 0);
}

doca_error_t device_representors(struct doca_devinfo *devinfo, struct doca_devinfo_rep ***list, uint32_t *num)
{
	uint8_t has_filter = 0;
	struct doca_dev *dev;

	*list = NULL;
	*num = 0;
	doca_error_t result = doca_devinfo_rep_cap_is_filter_all_supported(devinfo, &has_filter);
	if (result != DOCA_SUCCESS || !has_filter)
		return result == DOCA_ERROR_NOT_SUPPORTED ? DOCA_SUCCESS : result;
	result = doca_dev_open(devinfo, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, list, num);
	doca_dev_close(dev);
	return result;
}
