/* SPDX-License-Identifier: BSD-3-Clause */
/* Imports of other nodes' events. */
#include "sync_event/import.h"

#include "base/log.h"
#include "base/log_rate.h"
#include "sync_event/event.h"

/* The API's code for an error of the fabric, which has logged it. */
static doca_error_t import_error(doca_error_t error)
{
	return error == DOCA_ERROR_NO_MEMORY || error == DOCA_ERROR_NOT_SUPPORTED ? error : DOCA_ERROR_INVALID_VALUE;
}

/* Checks that dev reaches over PCI the device, named by key, that the event was exported with. */
static doca_error_t check_pci(const struct doca_dev *dev, const char *key)
{
	const struct sf_device *importer = sf_dev_desc(dev), *exporter = sf_device_find(key);

	if (exporter == NULL) {
		SF_LOG_ERR_LIMITED("the sync event was exported with a device that the topology here does not have: %s", key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_device_shares_pci(exporter, importer))
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the sync event was exported with device %s, which device %s does not reach over PCI: open %s",
			   exporter->key, importer->key,
			   exporter->uplink != NULL ? exporter->uplink->key : "a host function that is behind it");
	return DOCA_ERROR_INVALID_VALUE;
}

static bool is_usable(const struct sf_region *region, uint64_t addr, uint64_t len)
{
	const uint32_t rights = SF_RIGHT_READ | SF_RIGHT_WRITE | SF_RIGHT_ATOMIC;

	return region->addr == addr && region->len == len && (region->rights & rights) == rights;
}

void sf_event_regions_close(struct sf_event_import *import)
{
	if (import->word != NULL)
		sf_region_close(import->word);
	if (import->page != NULL)
		sf_region_close(import->page);
	/* Released after the region is closed: until then the agent may wake sleepers there, since the owner may have died. */
	if (import->held)
		sf_cell_page_release(import->mapped);
	if (import->own != NULL)
		sf_cell_page_release(import->own);
	*import = (struct sf_event_import){.page = NULL};
}

static doca_error_t regions_open(struct doca_dev *dev, const struct sf_event_descriptor *descriptor,
				 struct sf_event_import *import)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(dev, &domain);

	if (result == DOCA_SUCCESS)
		result = sf_region_import(domain, descriptor->page, descriptor->page_len, &import->page);
	if (result == DOCA_SUCCESS && descriptor->word_len != 0)
		result = sf_region_import(domain, descriptor->word, descriptor->word_len, &import->word);
	if (result != DOCA_SUCCESS)
		return import_error(result);
	import->word_addr = descriptor->word_addr;
	if (import->page->addr % SF_CELL_PAGE_SIZE == 0 &&
	    is_usable(import->page, import->word != NULL ? import->page->addr : import->word_addr, SF_CELL_PAGE_SIZE) &&
	    (import->word == NULL || is_usable(import->word, import->word_addr, sizeof(uint64_t))))
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the descriptor names memory that is not a sync event");
	return DOCA_ERROR_INVALID_VALUE;
}

/* If the provider can map memory, importers must map the page, because only it lets them wake sleepers. A page that is neither
 * held nor of a live region was this process's own and was freed just now. */
static doca_error_t page_map(struct sf_event_import *import)
{
	void *page;

	if (sf_region_map(import->page, &page) != DOCA_SUCCESS) {
		if ((import->page->ops->caps & SF_CAP_MAP) == 0)
			return DOCA_SUCCESS;
		SF_LOG_ERR_LIMITED(
			"the page of the sync event cannot be mapped here: its owner could not place it in shared memory, "
			"or this process cannot map more memory");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	import->held = sf_cell_page_hold(page);
	import->mapped = page;
	if (import->held || sf_cell_owner_lives(import->page) == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("the owner of the sync event is stopping it");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_event_regions_import(struct doca_dev *dev, const void *bytes, size_t len, enum sf_event_export kind,
				     struct sf_event_import *import)
{
	struct sf_event_descriptor descriptor;
	doca_error_t result = sf_event_descriptor_unpack(bytes, len, kind, &descriptor);

	if (result == DOCA_SUCCESS && kind == SF_EVENT_EXPORT_PCI)
		result = check_pci(dev, descriptor.device);
	if (result != DOCA_SUCCESS)
		return result;
	*import = (struct sf_event_import){.page = NULL};
	result = regions_open(dev, &descriptor, import);
	if (result == DOCA_SUCCESS)
		result = page_map(import);
	if (result != DOCA_SUCCESS)
		sf_event_regions_close(import);
	return result;
}

/* ---- an event made from an export ---- */

/* The owner updates its word with CPU instructions, so the fabric's atomics must be atomic against them. */
static doca_error_t access_by_fabric(struct sf_event_import *import)
{
	if ((import->page->ops->caps & SF_CAP_ATOMIC_CPU) == 0) {
		SF_LOG_ERR_LIMITED(
			"the page of the sync event cannot be mapped here, and an RDMA device's atomics are not atomic "
			"with the CPU's; use doca_sync_event_export_to_remote_net and RDMA's tasks");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	import->own = sf_cell_page_new();
	if (import->own != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR_LIMITED("no memory for the page of a sync event");
	return DOCA_ERROR_NO_MEMORY;
}

static doca_error_t import_into(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t *data, size_t sz)
{
	struct sf_event_import import;
	doca_error_t result = sf_event_regions_import(dev, data, sz, SF_EVENT_EXPORT_PCI, &import);

	if (result != DOCA_SUCCESS)
		return result;
	if (import.mapped == NULL)
		result = access_by_fabric(&import);
	if (result != DOCA_SUCCESS) {
		sf_event_regions_close(&import);
		return result;
	}
	sf_dev_hold(dev);
	event->imported_by = dev;
	event->import = import;
	sf_event_doorbell_init(event, import.mapped != NULL ? import.mapped : import.own);
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
{
	struct doca_sync_event *created;
	doca_error_t result;

	if (dev == NULL || data == NULL || event == NULL) {
		SF_LOG_ERR("%s: %s is NULL", __func__, dev == NULL ? "dev" : data == NULL ? "data" : "event");
		return DOCA_ERROR_INVALID_VALUE;
	}
	created = sf_event_new();
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	result = import_into(created, dev, data, sz);
	if (result != DOCA_SUCCESS) {
		sf_event_free(created);
		return result;
	}
	sf_ctx_created(&created->ctx);
	*event = created;
	return DOCA_SUCCESS;
}

void sf_event_import_drop(struct doca_sync_event *event)
{
	sf_event_regions_close(&event->import);
	sf_dev_release(event->imported_by);
	event->imported_by = NULL;
}
