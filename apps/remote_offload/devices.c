/* SPDX-License-Identifier: BSD-3-Clause */
#include "devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(REMOTE_OFFLOAD::DEVICES);

#define NAMES_MAX 512

static bool device_is(const struct doca_devinfo *info, const char *id)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	size_t len = strlen(id);
	uint8_t equal = 0;

	if ((len == DOCA_DEVINFO_PCI_ADDR_SIZE - 1 || len == DOCA_DEVINFO_PCI_BDF_SIZE - 1) &&
	    doca_devinfo_is_equal_pci_addr(info, id, &equal) == DOCA_SUCCESS && equal)
		return true;
	if (doca_devinfo_get_ibdev_name(info, name, DOCA_DEVINFO_IBDEV_NAME_SIZE) == DOCA_SUCCESS && strcmp(name, id) == 0)
		return true;
	return doca_devinfo_get_iface_name(info, name, sizeof(name)) == DOCA_SUCCESS && strcmp(name, id) == 0;
}

static bool representor_is(const struct doca_devinfo_rep *info, const char *id)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	size_t len = strlen(id);
	uint8_t equal = 0;

	if ((len == DOCA_DEVINFO_REP_PCI_ADDR_SIZE - 1 || len == DOCA_DEVINFO_REP_PCI_BDF_SIZE - 1) &&
	    doca_devinfo_rep_is_equal_pci_addr(info, id, &equal) == DOCA_SUCCESS && equal)
		return true;
	if (doca_devinfo_rep_get_vuid(info, name, DOCA_DEVINFO_REP_VUID_SIZE) == DOCA_SUCCESS && strcmp(name, id) == 0)
		return true;
	return doca_devinfo_rep_get_iface_name(info, name, sizeof(name)) == DOCA_SUCCESS && strcmp(name, id) == 0;
}

static void append_name(char *names, const char *name)
{
	size_t used = strlen(names);

	snprintf(names + used, NAMES_MAX - used, "%s%s", used ? " " : "", name);
}

doca_error_t device_open(const char *id, struct doca_dev **dev)
{
	char names[NAMES_MAX] = "", address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo **list;
	uint32_t count;
	doca_error_t result = doca_devinfo_create_list(&list, &count);

	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("no device list: %s", doca_error_get_descr(result));
		return result;
	}
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
		if (device_is(list[i], id))
			result = doca_dev_open(list[i], dev);
		else if (doca_devinfo_get_pci_addr_str(list[i], address) == DOCA_SUCCESS)
			append_name(names, address);
	}
	doca_devinfo_destroy_list(list);
	if (result == DOCA_ERROR_NOT_FOUND)
		DOCA_LOG_ERR("device %s not found; devices here: %s", id, names[0] ? names : "none");
	else if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("device %s not opened: %s", id, doca_error_get_descr(result));
	return result;
}

doca_error_t representor_open(struct doca_dev *dev, const char *id, struct doca_dev_rep **rep)
{
	char names[NAMES_MAX] = "", address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	struct doca_devinfo_rep **list;
	uint32_t count;
	doca_error_t result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count);

	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("no representor list, is this device a DPU's? %s", doca_error_get_descr(result));
		return result;
	}
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
		if (representor_is(list[i], id))
			result = doca_dev_rep_open(list[i], rep);
		else if (doca_devinfo_rep_get_pci_addr_str(list[i], address) == DOCA_SUCCESS)
			append_name(names, address);
	}
	doca_devinfo_rep_destroy_list(list);
	if (result == DOCA_ERROR_NOT_FOUND)
		DOCA_LOG_ERR("representor %s not found; representors of this device: %s", id, names[0] ? names : "none");
	else if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("representor %s not opened: %s", id, doca_error_get_descr(result));
	return result;
}
