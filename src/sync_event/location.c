/* SPDX-License-Identifier: BSD-3-Clause */
/* The publisher and subscriber location of an event: one each, set before start. */
#include "base/log.h"
#include "core/dev.h"
#include "core/gpu.h"
#include "sync_event/event.h"

void sf_event_place_clear(struct sf_event_place *place)
{
	if (place->dev != NULL)
		sf_dev_release(place->dev);
	if (place->gpu != NULL)
		__atomic_fetch_sub(&place->gpu->users, 1, __ATOMIC_RELEASE);
	*place = (struct sf_event_place){.location = SF_EVENT_NOWHERE};
}

/* what: the location's device; the event itself for a location without one. */
static doca_error_t place_check(const struct doca_sync_event *event, const struct sf_event_place *place, const void *what,
				const char *function)
{
	if (event != NULL && what == NULL) {
		SF_LOG_ERR("%s: the location's device is NULL", function);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_event_check_stopped(event, function);

	if (result != DOCA_SUCCESS)
		return result;
	if (event->imported_by != NULL) {
		SF_LOG_ERR("%s: the sync event was made from an export: only its owner configures it", function);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (place->location != SF_EVENT_NOWHERE) {
		SF_LOG_ERR("%s: the sync event has that location already: add it once", function);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t set_cpu(struct doca_sync_event *event, struct sf_event_place *place, struct doca_dev *dev,
			    const char *function)
{
	doca_error_t result = place_check(event, place, dev, function);

	if (result != DOCA_SUCCESS)
		return result;
	sf_dev_hold(dev);
	*place = (struct sf_event_place){.location = SF_EVENT_AT_CPU, .dev = dev};
	return DOCA_SUCCESS;
}

static doca_error_t set_remote(struct doca_sync_event *event, struct sf_event_place *place, enum sf_event_location location,
			       const char *function)
{
	doca_error_t result = place_check(event, place, event, function);

	if (result == DOCA_SUCCESS)
		place->location = location;
	return result;
}

static doca_error_t set_gpu(struct doca_sync_event *event, struct sf_event_place *place, struct doca_gpu *gpu,
			    const char *function)
{
	doca_error_t result = place_check(event, place, gpu, function);

	if (result != DOCA_SUCCESS)
		return result;
	__atomic_fetch_add(&gpu->users, 1, __ATOMIC_RELAXED);
	*place = (struct sf_event_place){.location = SF_EVENT_AT_GPU, .gpu = gpu};
	return DOCA_SUCCESS;
}

static doca_error_t dpa_reject(const struct doca_sync_event *event, const struct sf_event_place *place,
			       const struct doca_dpa *dpa, const char *function)
{
	doca_error_t result = place_check(event, place, dpa, function);

	if (result != DOCA_SUCCESS)
		return result;
	SF_LOG_ERR("%s: there is no DPA here; use a CPU or remote location", function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* NULL for a NULL event. */
static struct sf_event_place *place_of_publisher(struct doca_sync_event *event)
{
	return event != NULL ? &event->publisher : NULL;
}

static struct sf_event_place *place_of_subscriber(struct doca_sync_event *event)
{
	return event != NULL ? &event->subscriber : NULL;
}

doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	return set_cpu(event, place_of_publisher(event), dev, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	return dpa_reject(event, place_of_publisher(event), dpa, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu)
{
	return set_gpu(event, place_of_publisher(event), gpu, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event)
{
	return set_remote(event, place_of_publisher(event), SF_EVENT_AT_REMOTE_PCI, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event)
{
	return set_remote(event, place_of_publisher(event), SF_EVENT_AT_REMOTE_NET, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
{
	return set_cpu(event, place_of_subscriber(event), dev, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
{
	return dpa_reject(event, place_of_subscriber(event), dpa, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu)
{
	return set_gpu(event, place_of_subscriber(event), gpu, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event)
{
	return set_remote(event, place_of_subscriber(event), SF_EVENT_AT_REMOTE_PCI, __func__);
}
