/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sync_event.h
 * Sync events: a 64-bit number by which a host and its DPU wait for each other.
 *
 *     doca_sync_event_create(&event);                              // the DPU: doca_sync_event_create_from_export()
 *     doca_sync_event_publisher_add_location_cpu(event, dev);
 *     doca_sync_event_subscriber_add_location_dpu(event);
 *     doca_sync_event_start(event);                                // or doca_ctx_start(doca_sync_event_as_ctx(event))
 *     doca_sync_event_export_to_dpu(event, dev, &descriptor, &size);
 *     doca_sync_event_update_set(event, 1);
 *
 * An event that is started by doca_sync_event_start() is used by the calls below, which block. An event that is started as a
 * context is used by jobs of the one work queue that it is added to (doca_ctx.h).
 *
 * One publisher and one subscriber location must be set before start, unless the event was created from an export.
 */
#ifndef DOCA_2_2_SYNC_EVENT_H_
#define DOCA_2_2_SYNC_EVENT_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;

/** A sync event. Opaque. */
struct doca_sync_event;

/** A sync event for a DPA. Opaque; no device has a DPA. */
struct doca_dpa_sync_event;

/** A sync event for a GPU. Opaque. */
struct doca_gpu_sync_event;

/** Handle of a sync event in a DPA kernel. */
typedef uint64_t doca_dpa_dev_sync_event_t;

/** Handle of a sync event in a GPU kernel. */
typedef uint64_t doca_gpu_dev_sync_event_t;

/** A sync event for the network: opaque bytes. */
typedef struct doca_sync_event_remote {
	uint64_t data[2]; /**< the library's */
} doca_sync_event_remote_t;

/**
 * Creates one.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event) DOCA_2_2_SYMBOL(doca_2_2_sync_event_create);

/**
 * Creates one from the other side's export. It cannot be configured, only started.
 * @param dev the device on whose representor, or function, it was exported
 * @retval DOCA_ERROR_INVALID_VALUE not such an export
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot
 * @retval DOCA_ERROR_NO_MEMORY out of memory; other errors are those of importing its memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_create_from_export);

/**
 * Can the device import sync events?
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_create_from_export_supported(const struct doca_devinfo *devinfo)
	DOCA_2_2_SYMBOL(doca_sync_event_cap_is_create_from_export_supported);

/**
 * Destroys one that is stopped.
 * @retval DOCA_ERROR_IN_USE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event) DOCA_2_2_SYMBOL(doca_2_2_sync_event_destroy);

/**
 * This CPU updates it, by that device.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_publisher_add_location_cpu);

/**
 * A DPA updates it. No device has one.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_SUPPORTED always
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_publisher_add_location_dpa);

/**
 * Kernels on that GPU update it.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_publisher_add_location_gpu);

/**
 * The other side of the PCI bus updates it.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_publisher_add_location_dpu);

/**
 * This CPU waits for it, by that device.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_subscriber_add_location_cpu);

/**
 * A DPA waits for it. No device has one.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_SUPPORTED always
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_subscriber_add_location_dpa);

/**
 * Kernels on that GPU wait for it.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_subscriber_add_location_gpu);

/**
 * The other side of the PCI bus waits for it.
 * @retval DOCA_ERROR_BAD_STATE started
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_subscriber_add_location_dpu);

/**
 * Keeps the number in the program's memory: 8 bytes, aligned to 8, that must outlive the event. Between this CPU and the other
 * side of the PCI bus only.
 * @retval DOCA_ERROR_BAD_STATE started
 * @retval DOCA_ERROR_NOT_SUPPORTED other locations
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_set_addr);

/**
 * Starts it for the blocking calls.
 * @retval DOCA_ERROR_BAD_STATE locations are missing
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event) DOCA_2_2_SYMBOL(doca_2_2_sync_event_start);

/**
 * Stops an event that doca_sync_event_start() started.
 * @retval DOCA_ERROR_BAD_STATE started as a context
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event) DOCA_2_2_SYMBOL(doca_2_2_sync_event_stop);

/** Its context, which is started instead to use jobs; NULL for NULL. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event) DOCA_2_2_SYMBOL(doca_2_2_as_ctx);

/**
 * Does the device support jobs of this type? Every device does.
 * @retval DOCA_ERROR_INVALID_VALUE no such type
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_job_get_supported(struct doca_devinfo *devinfo, enum doca_sync_event_job_types type)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_job_get_supported);

/**
 * Creates a descriptor, by which the other side creates the same event.
 * @param dev the device of one of its locations
 * @param data set to the descriptor, which belongs to the event and is valid until it is destroyed
 * @retval DOCA_ERROR_NOT_SUPPORTED the device cannot
 * @retval DOCA_ERROR_NO_MEMORY out of memory; other errors as today's doca_sync_event_export_to_remote_pci()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data, size_t *sz)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_export_to_dpu);

/**
 * Can the device export sync events?
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_dpu_supported(const struct doca_devinfo *devinfo)
	DOCA_2_2_SYMBOL(doca_sync_event_cap_is_export_to_remote_pci_supported);

/**
 * A handle for a DPA. No device has one.
 * @retval DOCA_ERROR_NOT_SUPPORTED always
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *dpa_dev_se_handle)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_export_to_dpa);

/** @retval DOCA_ERROR_NOT_SUPPORTED always */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_dpa_supported(const struct doca_devinfo *devinfo)
	DOCA_2_2_SYMBOL(doca_sync_event_cap_is_export_to_dpa_supported);

/**
 * A handle for kernels on the GPU of a location.
 * @retval DOCA_ERROR_BAD_STATE not started
 * @retval DOCA_ERROR_INVALID_VALUE no location at this GPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t **gpu_dev_se)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_export_to_gpu);

/** DOCA_SUCCESS for every device. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_gpu_supported(const struct doca_devinfo *devinfo)
	DOCA_2_2_SYMBOL(doca_sync_event_cap_is_export_to_gpu_supported);

/**
 * Would export to the network in 16 bytes.
 * @retval DOCA_ERROR_NOT_SUPPORTED always
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_remote(struct doca_sync_event *event, doca_sync_event_remote_t *handle)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_export_remote);

/**
 * Reads the number.
 * @retval DOCA_ERROR_BAD_STATE not started by doca_sync_event_start()
 * @retval DOCA_ERROR_CONNECTION_ABORTED it was imported, and its owner stopped it or is gone
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value) DOCA_2_2_SYMBOL(doca_2_2_sync_event_get);

/** Adds to the number; fetched is set to the value before. Errors as doca_sync_event_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_update_add);

/** Sets the number. Errors as doca_sync_event_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_update_set);

/** Waits, with this CPU busy, until the number's bits in mask are greater than value. Errors as doca_sync_event_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_wait_gt);

/** The same, but lets other threads run between two checks. Errors as doca_sync_event_get(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask)
	DOCA_2_2_SYMBOL(doca_2_2_sync_event_wait_gt_yield);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_SYNC_EVENT_H_ */
