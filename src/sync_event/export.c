/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports of an event's page, and of its word if that is elsewhere, to other nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/dev.h"
#include "mem/mmap.h"
#include "sync_event/event.h"

#define RIGHTS (SF_RIGHT_READ | SF_RIGHT_WRITE | SF_RIGHT_ATOMIC)

static void export_drop(struct sf_event_exported *exported)
{
	if (exported->word_region != NULL)
		sf_region_close(exported->word_region);
	if (exported->page_region != NULL)
		sf_region_close(exported->page_region);
	if (exported->dev != NULL)
		sf_dev_release(exported->dev);
	free(exported->bytes);
	*exported = (struct sf_event_exported){.dev = NULL};
}

void sf_event_exports_drop(struct doca_sync_event *event)
{
	for (int kind = 0; kind < SF_EVENT_EXPORTS; kind++)
		export_drop(&event->exports[kind]);
}

static doca_error_t region_export(struct sf_domain *domain, void *addr, size_t len, struct sf_region **region, void *bytes,
				  size_t *bytes_len)
{
	doca_error_t result = sf_region_register(domain, addr, len, RIGHTS, region);

	if (result == DOCA_SUCCESS)
		result = sf_region_export(*region, bytes, bytes_len);
	return result;
}

static doca_error_t regions_export(const struct doca_sync_event *event, enum sf_event_export kind,
				   struct sf_event_exported *exported)
{
	uint8_t page[SF_DESCRIPTOR_MAX], word[SF_DESCRIPTOR_MAX];
	struct sf_event_descriptor descriptor = {
		.kind = kind, .word_addr = event->cell.word_addr, .page = page, .page_len = sizeof(page), .word = word};
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(exported->dev, &domain);

	if (result == DOCA_SUCCESS)
		result = region_export(domain, event->cell.page, SF_CELL_PAGE_SIZE, &exported->page_region, page,
				       &descriptor.page_len);
	if (result == DOCA_SUCCESS && event->user_word != NULL) {
		descriptor.word_len = sizeof(word);
		result = region_export(domain, event->user_word, sizeof(uint64_t), &exported->word_region, word,
				       &descriptor.word_len);
	}
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(descriptor.device, sf_dev_desc(exported->dev)->key, sizeof(descriptor.device));
	exported->len = sf_event_descriptor_pack(&descriptor, exported->bytes);
	return DOCA_SUCCESS;
}

static doca_error_t export_make(struct doca_sync_event *event, enum sf_event_export kind, struct doca_dev *dev)
{
	struct sf_event_exported made = {.bytes = malloc(SF_EVENT_DESCRIPTOR_MAX)};
	doca_error_t result;

	if (made.bytes == NULL) {
		SF_LOG_ERR("no memory for the descriptor of a sync event");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_dev_hold(dev);
	made.dev = dev;
	result = regions_export(event, kind, &made);
	if (result != DOCA_SUCCESS) {
		export_drop(&made);
		return result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_NOT_SUPPORTED ? result : DOCA_ERROR_DRIVER;
	}
	event->exports[kind] = made;
	sf_event_doorbell_arm(event);	 /* importers may sleep, and one of them die, even if the owner never sleeps */
	sf_watch_refresh(&event->watch); /* the export moved the page that the watcher waits on */
	return DOCA_SUCCESS;
}

/* ---- permissions ---- */

static bool event_is_at(const struct doca_sync_event *event, enum sf_event_location location)
{
	return event->publisher.location == location || event->subscriber.location == location;
}

/* The mmap permission that a buf's memory lacks for the export, or NULL. */
static const char *rights_missing(const struct doca_sync_event *event, enum sf_event_export kind)
{
	const uint32_t net = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
	uint32_t permissions;

	if (event->mmap == NULL)
		return NULL;
	permissions = sf_mmap_permissions(event->mmap);
	if (kind == SF_EVENT_EXPORT_PCI && (permissions & DOCA_ACCESS_FLAG_PCI_READ_WRITE) == 0)
		return "the mmap of its buffer lacks DOCA_ACCESS_FLAG_PCI_READ_WRITE";
	if (kind == SF_EVENT_EXPORT_NET && (permissions & net) != net)
		return "the mmap of its buffer lacks DOCA_ACCESS_FLAG_RDMA_READ, WRITE or ATOMIC";
	return NULL;
}

static doca_error_t check_export(const struct doca_sync_event *event, enum sf_event_export kind)
{
	enum sf_event_location location = kind == SF_EVENT_EXPORT_PCI ? SF_EVENT_AT_REMOTE_PCI : SF_EVENT_AT_REMOTE_NET;
	const char *wrong = NULL;

	if (event->imported_by != NULL || event_is_at(event, SF_EVENT_AT_GPU)) {
		SF_LOG_ERR("the sync event %s cannot be exported to another node",
			   event->imported_by != NULL ? "was itself made from an export and" : "has a GPU location and");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	if (!sf_event_is_open(event)) {
		SF_LOG_ERR("the sync event is not started: start it before it is exported");
		return DOCA_ERROR_BAD_STATE;
	}
	if (!event_is_at(event, location))
		wrong = kind == SF_EVENT_EXPORT_PCI
				? "it has no remote PCI location; add one as publisher or subscriber before its start"
				: "it has no remote net location; add one as publisher or subscriber before its start";
	else
		wrong = rights_missing(event, kind);
	if (wrong == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the sync event cannot be exported: %s", wrong);
	return DOCA_ERROR_INVALID_VALUE;
}

/* The device of the event's CPU location. */
static struct doca_dev *own_device(const struct doca_sync_event *event)
{
	return event->subscriber.dev != NULL ? event->subscriber.dev : event->publisher.dev;
}

static bool has_device(const struct doca_sync_event *event, const struct doca_dev *dev)
{
	return own_device(event) == NULL || event->subscriber.dev == dev || event->publisher.dev == dev;
}

static doca_error_t export_get(struct doca_sync_event *event, enum sf_event_export kind, struct doca_dev *dev,
			       const uint8_t **data, size_t *sz)
{
	struct sf_event_exported *exported = &event->exports[kind];
	doca_error_t result = DOCA_SUCCESS;

	if (exported->bytes != NULL && exported->dev != dev) {
		SF_LOG_ERR("the sync event was exported with device %s already", sf_dev_desc(exported->dev)->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (exported->bytes == NULL)
		result = export_make(event, kind, dev);
	if (result != DOCA_SUCCESS)
		return result;
	*data = exported->bytes;
	*sz = exported->len;
	return DOCA_SUCCESS;
}

static doca_error_t check_places_for(const struct doca_sync_event *event, const uint8_t **data, const size_t *sz,
				     const char *function)
{
	if (event != NULL && data != NULL && sz != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: %s is NULL", function, event == NULL ? "event" : data == NULL ? "data" : "sz");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
						  size_t *sz)
{
	doca_error_t result = check_places_for(event, data, sz, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (dev == NULL) {
		SF_LOG_ERR("%s: dev is NULL", __func__);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_export(event, SF_EVENT_EXPORT_PCI);
	if (result != DOCA_SUCCESS)
		return result;
	if (!has_device(event, dev)) {
		SF_LOG_ERR("device %s is not the one of the sync event's CPU location", sf_dev_desc(dev)->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return export_get(event, SF_EVENT_EXPORT_PCI, dev, data, sz);
}

doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data, size_t *sz)
{
	doca_error_t result = check_places_for(event, data, sz, __func__);

	if (result == DOCA_SUCCESS)
		result = check_export(event, SF_EVENT_EXPORT_NET);
	if (result != DOCA_SUCCESS)
		return result;
	if (own_device(event) == NULL) {
		SF_LOG_ERR("the sync event has no CPU location: the network needs the device of one");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return export_get(event, SF_EVENT_EXPORT_NET, own_device(event), data, sz);
}
