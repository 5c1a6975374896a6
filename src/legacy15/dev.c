/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI addresses as numbers, and the filters of emulated functions. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <doca_dev.h>

#include <doca-1.5/doca_types.h>

#include "legacy15/legacy15.h"

#define FILTER_NET (1 << 1)	     /* DOCA_DEV_REP_FILTER_NET */
#define FILTERS_EMULATED (0x0f << 2) /* DOCA_DEV_REP_FILTER_VIRTIO_FS to DOCA_DEV_REP_FILTER_NVME */
#define PROPERTY_PCI_ADDR 0	     /* DOCA_DEVINFO_PROPERTY_PCI_ADDR */

/* Parses DDDD:BB:DD.F. False if it is not a PCI address. */
static bool bdf_parse(const char *text, struct doca_pci_bdf *bdf)
{
	unsigned int domain, bus, device, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 || text[end] != '\0')
		return false;
	if (bus >= PCI_BUS_MAX_VALUE || device >= PCI_DEVICE_MAX_VALUE || function >= PCI_FUNCTION_MAX_VALUE)
		return false;
	bdf->raw = 0;
	bdf->bus = (uint8_t)bus;
	bdf->device = device & (PCI_DEVICE_MAX_VALUE - 1);
	bdf->function = function & (PCI_FUNCTION_MAX_VALUE - 1);
	return true;
}

LEGACY15_API doca_error_t doca_1_5_devinfo_get_pci_addr(const struct doca_devinfo *devinfo, struct doca_pci_bdf *pci_addr)
{
	char text[DOCA_DEVINFO_PCI_ADDR_SIZE];
	doca_error_t result = legacy15_check("doca_devinfo_get_pci_addr", devinfo, pci_addr);

	if (result == DOCA_SUCCESS)
		result = doca_devinfo_get_pci_addr_str(devinfo, text);
	if (result != DOCA_SUCCESS || bdf_parse(text, pci_addr))
		return result;
	SF_LOG_ERR("the device's address %s is not a PCI address", text);
	return DOCA_ERROR_OPERATING_SYSTEM;
}

LEGACY15_API doca_error_t doca_1_5_devinfo_rep_get_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
							    struct doca_pci_bdf *pci_addr)
{
	char text[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	doca_error_t result = legacy15_check("doca_devinfo_rep_get_pci_addr", devinfo_rep, pci_addr);

	if (result == DOCA_SUCCESS)
		result = doca_devinfo_rep_get_pci_addr_str(devinfo_rep, text);
	if (result != DOCA_SUCCESS || bdf_parse(text, pci_addr))
		return result;
	SF_LOG_ERR("the function's address %s is not a PCI address", text);
	return DOCA_ERROR_INVALID_VALUE;
}

LEGACY15_API doca_error_t doca_1_5_devinfo_property_get(const struct doca_devinfo *devinfo, int property, uint8_t *value,
							uint32_t size)
{
	struct doca_pci_bdf bdf;
	doca_error_t result = legacy15_check("doca_devinfo_property_get", devinfo, value);

	if (result != DOCA_SUCCESS)
		return result;
	if (property != PROPERTY_PCI_ADDR || size != sizeof(bdf)) {
		SF_LOG_ERR("property %d of %u bytes is unknown: use DOCA_DEVINFO_PROPERTY_PCI_ADDR, of %zu bytes", property, size,
			   sizeof(bdf));
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = doca_1_5_devinfo_get_pci_addr(devinfo, &bdf);
	if (result == DOCA_SUCCESS)
		memcpy(value, &bdf, sizeof(bdf));
	return result;
}

LEGACY15_API doca_error_t doca_1_5_devinfo_rep_list_create(struct doca_dev *dev, int filter,
							   struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep)
{
	int wanted = filter & FILTER_NET ? DOCA_DEVINFO_REP_FILTER_NET : 0;

	if (filter & ~(FILTER_NET | FILTERS_EMULATED)) {
		SF_LOG_ERR("representor filter %#x has bits that no filter has", (unsigned int)filter);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (filter & FILTERS_EMULATED)
		wanted |= DOCA_DEVINFO_REP_FILTER_EMULATED;
	return doca_devinfo_rep_create_list(dev, wanted, dev_list_rep, nb_devs_rep);
}
