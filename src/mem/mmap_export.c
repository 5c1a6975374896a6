/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports of memory maps as bytes, and imports of memory maps of other nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "core/dev.h"
#include "core/gpu.h"
#include "mem/mmap_descriptor.h"
#include "mem/mmap_private.h"
#include "validation/validation.h"

/* ---- export ---- */

static bool came_over_network(const struct doca_mmap *mmap)
{
	return mmap->from_export && (mmap->permissions & sf_mmap_export_flags(SF_MMAP_EXPORT_RDMA)) != 0;
}

/* The permissions that an export gives. Memory that came over PCI has the network's rights that correspond to its own. */
static uint32_t passed_on(const struct doca_mmap *mmap, enum sf_mmap_export kind)
{
	if (!mmap->from_export)
		return mmap->permissions & sf_mmap_export_flags(kind);
	if (mmap->permissions & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		return DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
	return mmap->permissions & DOCA_ACCESS_FLAG_PCI_READ_ONLY ? DOCA_ACCESS_FLAG_RDMA_READ : 0;
}

static doca_error_t check_export(const struct doca_mmap *mmap, const struct doca_dev *dev, enum sf_mmap_export kind)
{
	const char *wrong = NULL, *call = kind == SF_MMAP_EXPORT_PCI ? "doca_mmap_export_pci" : "doca_mmap_export_rdma";

	if (sf_mmap_dev_find(mmap, dev) == NULL) {
		SF_LOG_ERR("memory map does not have device %s: add it with doca_mmap_add_dev before start",
			   sf_dev_desc(dev)->pci_addr);
		SF_BROKEN(MMAP_005, mmap, call, "it does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (mmap->from_export && (kind == SF_MMAP_EXPORT_PCI || came_over_network(mmap)))
		wrong = "was made from an export itself";
	else if (!mmap->started)
		wrong = "is not started: call doca_mmap_start first";
	else if (passed_on(mmap, kind) == 0)
		wrong = kind == SF_MMAP_EXPORT_PCI ? "has no PCI right in its permissions"
						   : "has no RDMA right in its permissions";
	if (wrong != NULL) {
		SF_LOG_ERR("memory map cannot be exported: it %s", wrong);
		if (!mmap->started)
			SF_BROKEN(MMAP_003, mmap, call, "it is not started");
		else if (passed_on(mmap, kind) == 0)
			SF_BROKEN(MMAP_004, mmap, call, "it %s, which are 0x%x", wrong, mmap->permissions);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (mmap->is_gpu_memory && kind == SF_MMAP_EXPORT_PCI) {
		SF_LOG_ERR("memory map cannot be exported for PCI: it is GPU memory, which only kernels can access");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (mmap->is_gpu_memory && sf_mmap_dev_find(mmap, dev)->has_token) {
		SF_LOG_ERR("memory map cannot be exported with an access token: it is GPU memory, whose driver checks no tokens");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	return DOCA_SUCCESS;
}

static doca_error_t region_describe(struct doca_mmap *mmap, struct sf_mmap_dev *entry, enum sf_mmap_export kind, void *bytes,
				    size_t *len)
{
	struct sf_domain *domain;
	uint32_t rights = sf_mmap_rights(mmap->permissions & sf_mmap_export_flags(kind));

	if (mmap->from_export) { /* peers access its owner directly, without this process */
		memcpy(bytes, mmap->origin, mmap->origin_len);
		*len = mmap->origin_len;
		return DOCA_SUCCESS;
	}
	if (mmap->is_gpu_memory)
		return sf_gpu_describe(mmap->addr, mmap->len, bytes, len);
	doca_error_t result = sf_dev_domain(entry->dev, &domain);
	if (result == DOCA_SUCCESS)
		result = sf_region_register(domain, mmap->addr, mmap->len, rights, &entry->exports[kind].region);
	if (result != DOCA_SUCCESS)
		return result;
	if (entry->has_token)
		entry->exports[kind].region->token = entry->token;
	result = sf_region_export(entry->exports[kind].region, bytes, len);
	if (result != DOCA_SUCCESS) {
		sf_region_close(entry->exports[kind].region);
		entry->exports[kind].region = NULL;
	}
	return result;
}

/* Call with the lock held: fills the entry's export of that kind. */
static doca_error_t export_make(struct doca_mmap *mmap, struct sf_mmap_dev *entry, enum sf_mmap_export kind)
{
	uint8_t region[SF_DESCRIPTOR_MAX];
	struct sf_mmap_descriptor descriptor = {
		.kind = kind,
		.permissions = passed_on(mmap, kind) | (mmap->permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
		.is_gpu_memory = mmap->is_gpu_memory,
		.addr = (uintptr_t)mmap->addr,
		.len = mmap->len,
		.region = region,
		.region_len = sizeof(region),
	};

	snprintf(descriptor.device, sizeof(descriptor.device), "%s", sf_dev_desc(entry->dev)->key);
	uint8_t *bytes = malloc(SF_MMAP_DESCRIPTOR_MAX);
	if (bytes == NULL) {
		SF_LOG_ERR("no memory for an export descriptor");
		return DOCA_ERROR_NO_MEMORY;
	}
	doca_error_t result = region_describe(mmap, entry, kind, region, &descriptor.region_len);
	if (result != DOCA_SUCCESS) {
		free(bytes);
		return result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_NOT_SUPPORTED ? result : DOCA_ERROR_DRIVER;
	}
	entry->exports[kind].descriptor = bytes;
	entry->exports[kind].descriptor_len = sf_mmap_descriptor_pack(&descriptor, bytes);
	return DOCA_SUCCESS;
}

static doca_error_t export_get(struct doca_mmap *mmap, const struct doca_dev *dev, enum sf_mmap_export kind, const void **desc,
			       size_t *len)
{
	if (mmap == NULL || dev == NULL || desc == NULL || len == NULL) {
		SF_LOG_ERR("mmap, dev, export_desc or export_desc_len is NULL: an export needs all four");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = check_export(mmap, dev, kind);
	if (result != DOCA_SUCCESS)
		return result;
	struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, dev);
	pthread_mutex_lock(&mmap->lock);
	if (entry->exports[kind].descriptor == NULL)
		result = export_make(mmap, entry, kind);
	if (result == DOCA_SUCCESS) {
		mmap->exported[kind] = true;
		*desc = entry->exports[kind].descriptor;
		*len = entry->exports[kind].descriptor_len;
	}
	pthread_mutex_unlock(&mmap->lock);
	return result;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len)
{
	return export_get(mmap, dev, SF_MMAP_EXPORT_PCI, export_desc, export_desc_len);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len)
{
	return export_get(mmap, dev, SF_MMAP_EXPORT_RDMA, export_desc, export_desc_len);
}

/* ---- import ---- */

/* Translates an error of the fabric into a code of the API. */
static doca_error_t import_error(doca_error_t error)
{
	switch (error) {
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_NOT_SUPPORTED:
	case DOCA_ERROR_NOT_PERMITTED:
		return error;
	case DOCA_ERROR_UNSUPPORTED_VERSION:
		return DOCA_ERROR_INVALID_VALUE;
	case DOCA_ERROR_NOT_FOUND:
		return DOCA_ERROR_NOT_PERMITTED;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

/* PCI connects a host function with the port of the DPU that it is behind, and a device with itself. RDMA has no such limit. */
static doca_error_t check_devices_match(const struct sf_mmap_descriptor *descriptor, const struct sf_device *importer)
{
	if (descriptor->kind != SF_MMAP_EXPORT_PCI)
		return DOCA_SUCCESS;
	const struct sf_device *exporter = sf_device_find(descriptor->device);
	if (exporter == NULL) {
		SF_LOG_ERR_LIMITED(
			"memory was exported on device \"%.*s\", which is not in this process's topology: both sides must use "
			"the "
			"same",
			SF_MMAP_DEVICE_MAX, descriptor->device);
		SF_BROKEN(MMAP_009, NULL, "doca_mmap_create_from_export",
			  "the memory was exported on device \"%.*s\", which this process does not have", SF_MMAP_DEVICE_MAX,
			  descriptor->device);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (sf_device_shares_pci(exporter, importer))
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("memory of device %s cannot be reached by device %s: import it with %s", exporter->key, importer->key,
			   exporter->uplink != NULL ? exporter->uplink->key : exporter->key);
	SF_BROKEN(MMAP_009, NULL, "doca_mmap_create_from_export", "device %s does not reach memory of device %s, %s does",
		  importer->key, exporter->key, exporter->uplink != NULL ? exporter->uplink->key : exporter->key);
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t region_import(struct doca_dev *dev, const struct sf_mmap_descriptor *descriptor, struct sf_region **region)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(dev, &domain);

	if (result == DOCA_SUCCESS)
		result = sf_region_import(domain, descriptor->region, descriptor->region_len, region);
	if (result != DOCA_SUCCESS)
		return import_error(result);
	if ((*region)->addr != descriptor->addr || (*region)->len != descriptor->len) {
		SF_LOG_ERR_LIMITED("the export descriptor gives %zu bytes, but its owner exports %zu: the descriptor is invalid",
				   (size_t)descriptor->len, (size_t)(*region)->len);
		sf_region_close(*region);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t origin_keep(struct doca_mmap *mmap, const struct sf_mmap_descriptor *descriptor)
{
	mmap->origin = malloc(descriptor->region_len + 1);
	if (mmap->origin == NULL) {
		SF_LOG_ERR("no memory for an imported memory map");
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(mmap->origin, descriptor->region, descriptor->region_len);
	mmap->origin_len = descriptor->region_len;
	return DOCA_SUCCESS;
}

static void imported_init(struct doca_mmap *mmap, const struct sf_mmap_descriptor *descriptor, struct doca_dev *dev,
			  struct sf_region *region)
{
	sf_dev_hold(dev);
	mmap->devs[0] = (struct sf_mmap_dev){.dev = dev, .region = region};
	mmap->num_devs = 1;
	mmap->addr = (void *)(uintptr_t)descriptor->addr;
	mmap->len = descriptor->len;
	mmap->has_range = true;
	mmap->permissions = descriptor->permissions;
	mmap->from_export = true;
	mmap->is_gpu_memory = descriptor->is_gpu_memory;
	sf_mmap_set_started(mmap);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap)
{
	if (export_desc == NULL || dev == NULL || mmap == NULL) {
		SF_LOG_ERR("export_desc, dev or mmap is NULL: an import needs all three");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct sf_mmap_descriptor descriptor;
	doca_error_t result = sf_mmap_descriptor_unpack(export_desc, export_desc_len, &descriptor);
	if (result == DOCA_SUCCESS)
		result = check_devices_match(&descriptor, sf_dev_desc(dev));
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_mmap *created = sf_mmap_new();
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	struct sf_region *region = NULL;
	result = origin_keep(created, &descriptor);
	if (result == DOCA_SUCCESS && !descriptor.is_gpu_memory)
		result = region_import(dev, &descriptor, &region);
	if (result != DOCA_SUCCESS) {
		sf_mmap_free(created);
		return result;
	}
	imported_init(created, &descriptor, dev, region);
	if (user_data != NULL)
		created->user_data = *user_data;
	sf_object_add(created, "imported mmap", NULL);
	*mmap = created;
	return DOCA_SUCCESS;
}

/* ---- DPA and capabilities ---- */

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
	if (mmap == NULL || dev == NULL || dpa_mmap_handle == NULL) {
		SF_LOG_ERR("mmap, dev or dpa_mmap_handle is NULL: a DPA handle needs all three");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_mmap_dev_find(mmap, dev) == NULL) {
		SF_LOG_ERR("memory map does not have device %s", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_NOT_FOUND;
	}
	SF_LOG_ERR("there is no DPA here that could use the memory map");
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t cap_get(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	if (devinfo == NULL || supported == NULL) {
		SF_LOG_ERR("%s is NULL", devinfo == NULL ? "devinfo" : "the output argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	const struct sf_fabric_ops *ops = sf_fabric_of(sf_devinfo_desc(devinfo)->key);
	*supported = ops != NULL && (ops->caps & SF_CAP_ONE_SIDED) != 0;
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
