/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory maps of one node in another: not possible yet, and the capabilities say so. */
#include "base/log.h"
#include "core/dev.h"
#include "mem/mmap_private.h"

static doca_error_t check_export(const struct doca_mmap *mmap, const struct doca_dev *dev, const void *desc, const void *len)
{
	if (mmap == NULL || dev == NULL || desc == NULL || len == NULL) {
		SF_LOG_ERR("an export needs a memory map, one of its devices, and places for the descriptor and its length");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_mmap_dev_find(mmap, dev) == NULL) {
		SF_LOG_ERR("memory map does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	return DOCA_SUCCESS;
}

static doca_error_t export_refused(const struct doca_dev *dev)
{
	SF_LOG_ERR("device %s cannot export memory (doca_mmap_cap_is_export_pci_supported)", sf_dev_desc(dev)->pci_addr);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc, size_t *export_desc_len)
{
	doca_error_t result = check_export(mmap, dev, export_desc, export_desc_len);
	return result != DOCA_SUCCESS ? result : export_refused(dev);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc, size_t *export_desc_len)
{
	doca_error_t result = check_export(mmap, dev, export_desc, export_desc_len);
	return result != DOCA_SUCCESS ? result : export_refused(dev);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap)
{
	(void)user_data;
	if (export_desc == NULL || export_desc_len == 0 || dev == NULL || mmap == NULL) {
		SF_LOG_ERR("an import needs a descriptor, a device and a place for the memory map");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("device %s cannot import memory (doca_mmap_cap_is_create_from_export_pci_supported)", sf_dev_desc(dev)->pci_addr);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev, doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
	doca_error_t result = check_export(mmap, dev, dpa_mmap_handle, dpa_mmap_handle);
	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("there is no DPA here that could use the memory map");
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t cap_get(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	if (devinfo == NULL || supported == NULL) {
		SF_LOG_ERR("no %s given to ask for exports", devinfo == NULL ? "device info" : "place");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*supported = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
	return cap_get(devinfo, mmap_export);
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *from_export)
{
	return cap_get(devinfo, from_export);
}
