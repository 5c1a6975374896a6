/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sync_event.h
 * Sync events: a 64-bit counter that processors of different nodes set, add to, read and wait for.
 *
 *     doca_sync_event_create(&event);
 *     doca_sync_event_add_publisher_location_remote_pci(event);
 *     doca_sync_event_add_subscriber_location_cpu(event, dev);
 *     doca_sync_event_start(event);                                   // value 0
 *     doca_sync_event_export_to_remote_pci(event, dev, &data, &sz);   // send the bytes to the other node
 *     doca_sync_event_wait_gt(event, 0, UINT64_MAX);
 *     doca_sync_event_stop(event);
 *     doca_sync_event_destroy(event);
 *
 * The other node creates its event from the export. Both are the same counter:
 *
 *     doca_sync_event_create_from_export(dev, data, sz, &event);      // on the DPU's port, or its host function
 *     doca_sync_event_start(event);
 *     doca_sync_event_update_set(event, 1);
 *
 * Modes: doca_sync_event_start() starts an event in synchronous mode, with the blocking calls at the end of this file.
 * doca_sync_event_as_ctx() and doca_ctx_start() start it as a context, with tasks. The functions of one mode return
 * DOCA_ERROR_BAD_STATE in the other. The two sides may use different modes.
 *
 * Locations say where the event is updated (publisher) and where it is read (subscriber). They decide only what can be exported:
 * to a PCI peer with a remote PCI location, to the network with a remote net location, a GPU handle with a GPU location.
 *
 * Memory: the value is in a page of the event, or in 8 bytes of the program (doca_sync_event_set_addr(),
 * doca_sync_event_set_doca_buf()), which keep their value at start and must live until stop. The program may access them with
 * 8-byte loads and stores; a sleeping waiter then notices within half a second.
 *
 * Waiting: synchronous waits poll. A wait task costs one check per progress call; if the program sleeps on the progress engine's
 * notification, an update by either side wakes it. A value that exists only briefly may be missed.
 *
 * Ending: if the owner stops or dies, the other side's calls and tasks, and waits in progress, fail with
 * DOCA_ERROR_CONNECTION_ABORTED within a second. The owner does not notice the other side's end. Exports end with the stop.
 *
 * An event belongs to one thread at a time. No device has a DPA. (Core guide, "DOCA Sync Event"; task functions: doca_pe.h)
 *
 * @retval DOCA_ERROR_NOT_SUPPORTED *_location_dpa, *_get_dpa_handle, doca_sync_event_remote_net_get_gpu_handle,
 *   *_to_dpa_supported, *_remote_net_is_export_to_gpu_supported: always
 * @retval DOCA_ERROR_NOT_SUPPORTED *_from_export_supported, *_to_remote_pci_supported, *_to_remote_net_supported: the device
 *   cannot; not logged
 */
#ifndef DOCA_SYNC_EVENT_H_
#define DOCA_SYNC_EVENT_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa;
struct doca_gpu;
struct doca_task;

/** An event as a CPU uses it: created here, or from another node's export. */
struct doca_sync_event;

/** An event of a node across the network, for the remote sync event tasks of doca_rdma.h. */
struct doca_sync_event_remote_net;

/** Handles for code on a DPA. */
typedef uint64_t doca_dpa_dev_sync_event_t;

typedef uint64_t doca_dpa_dev_sync_event_remote_net_t;

/** A handle for a GPU library. No function returns one. */
struct doca_gpu_sync_event;

/** An event in a kernel: the value. Use 8-byte accesses, and atomics of system scope. */
typedef uint64_t doca_gpu_dev_sync_event_t;

/** A remote event's handle for kernels. */
typedef uint64_t doca_gpu_dev_sync_event_remote_net_t;

/** A task that reads the value. */
struct doca_sync_event_task_get;

/** A task that sets the value. */
struct doca_sync_event_task_notify_set;

/** A task that adds to the value. */
struct doca_sync_event_task_notify_add;

/** A task that waits until the value is equal to a given one. */
struct doca_sync_event_task_wait_eq;

/** A task that waits until the value differs from a given one. */
struct doca_sync_event_task_wait_neq;

/**
 * @name Completion callbacks
 * @{
 */

/** Callbacks of the tasks, see doca_pe.h. */
typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task, union doca_data task_user_data,
							 union doca_data ctx_user_data);

typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(struct doca_sync_event_task_notify_set *task,
								union doca_data task_user_data, union doca_data ctx_user_data);

typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(struct doca_sync_event_task_notify_add *task,
								union doca_data task_user_data, union doca_data ctx_user_data);

typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(struct doca_sync_event_task_wait_eq *task,
							     union doca_data task_user_data, union doca_data ctx_user_data);

typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(struct doca_sync_event_task_wait_neq *task,
							      union doca_data task_user_data, union doca_data ctx_user_data);

/** @} */

/**
 * @name Events
 * @retval DOCA_ERROR_NO_MEMORY *_create, *_create_from_export: out of memory
 * @{
 */

/** Creates an event without locations. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * Creates an event from doca_sync_event_export_to_remote_pci() of another node. Its locations and memory cannot be set. It may be
 * stopped and started again. May block for about a second.
 * @param dev the other end of the exporter's PCI (a DPU's port, or a host function behind it), or the exporter's own device
 * @retval DOCA_ERROR_INVALID_VALUE not an export to this node, damaged, or its event was stopped
 * @retval DOCA_ERROR_NOT_SUPPORTED the exporter's memory cannot be mapped here: another machine
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Creates a remote event from doca_sync_event_export_to_remote_net() of another node, for RDMA tasks. May block for about a
 * second.
 * @param dev the device of the RDMA context
 * @retval DOCA_ERROR_INVALID_VALUE not such an export, damaged, or its event was stopped
 * @retval DOCA_ERROR_NOT_SUPPORTED dev cannot connect to the exporter
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
							   struct doca_sync_event_remote_net **event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/** @retval DOCA_ERROR_BAD_STATE it is not stopped, or tasks of it are not freed */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/** No RDMA task may be using it. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);

/** @} */

/**
 * @name Locations
 * One publisher and one subscriber, before start. With a GPU the value is in memory that the GPU can access, and the event
 * cannot be exported. The device or GPU cannot be closed before the event is destroyed. A remote net location is updated by the
 * tasks of doca_rdma.h.
 * @retval DOCA_ERROR_INVALID_VALUE it has such a location, or was made from an export
 * @retval DOCA_ERROR_BAD_STATE it is started
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);

/** @} */

/**
 * @name Memory of the program
 * Set before start; the last call counts. Other nodes access it more slowly: the agent of this process sets and adds for them.
 * @retval DOCA_ERROR_BAD_STATE the event is started
 * @{
 */

/**
 * @retval DOCA_ERROR_INVALID_VALUE addr is not aligned to 8
 * @retval DOCA_ERROR_NOT_SUPPORTED it was made from an export, or has a GPU location
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

/**
 * Uses the first 8 bytes of the data section, which may be empty. The memory map cannot be stopped until the event stops, is
 * destroyed or gets other memory. The buffer may be released.
 * @param buf its memory map is started
 * @retval DOCA_ERROR_INVALID_VALUE the data is not aligned to 8, or has less than 8 bytes of room
 * @retval DOCA_ERROR_NOT_PERMITTED it was made from an export, or has a GPU location; or the memory map is read-only, imported,
 *   or a GPU's
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf);

/** @} */

/**
 * Starts an event in synchronous mode, with the value 0 if the memory is its own.
 * @retval DOCA_ERROR_INVALID_VALUE a location is missing, both are GPUs, or a GPU is combined with memory of the program
 * @retval DOCA_ERROR_BAD_STATE it is started, in either mode
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stops an event of synchronous mode; exports end. Does nothing if it is not started.
 * @retval DOCA_ERROR_BAD_STATE it was started as a context: use doca_ctx_stop()
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * The event as a context. doca_ctx_start() returns DOCA_SUCCESS and RUNNING, or the errors of doca_sync_event_start(). NULL if
 * it is started in synchronous mode.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/**
 * @name Tasks
 * Every device supports every task. A task fails with DOCA_ERROR_CONNECTION_ABORTED if the event's owner has stopped it or died,
 * and a wait with DOCA_ERROR_BAD_STATE if doca_ctx_stop() ends it. Get and notify tasks act in their submit. A wait compares
 * (value & mask). The mask is 0, or 1, 2, 4 or 8 bytes of 0xff with all others 0. Submit returns DOCA_ERROR_INVALID_VALUE for
 * another mask, and for an output that is NULL.
 * @param wait_val what a wait compares the masked value with
 * @param mask selects the bits that a wait compares
 * @param set_val the new value
 * @param inc_val what is added
 * @param fetched_val_ptr set to the value before
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf: num_tasks is not 1 to 65,536
 * @retval DOCA_ERROR_NOT_PERMITTED *_set_conf: the event is started
 * @retval DOCA_ERROR_BAD_STATE *_alloc_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_alloc_init: all configured tasks are allocated
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
					       doca_sync_event_task_get_completion_cb_t completion_cb,
					       doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks);

/** @param ret_val_ptr set to the value at the time of the submit */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task, uint64_t *ret_val_ptr);

DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_set_completion_cb_t error_cb,
						      uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data, struct doca_sync_event_task_notify_set **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task, uint64_t set_val);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_add_completion_cb_t error_cb,
						      uint32_t num_tasks);

/**
 * The sum wraps around.
 * @param fetched_val_ptr set to the value before
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task, uint64_t inc_val);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr);

DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(const struct doca_sync_event_task_notify_add *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data, struct doca_sync_event_task_wait_eq **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task, uint64_t wait_val);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_set_conf(struct doca_sync_event *event,
						    doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
						    doca_sync_event_task_wait_neq_completion_cb_t error_cb, uint32_t num_tasks);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						      union doca_data user_data, struct doca_sync_event_task_wait_neq **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task, uint64_t wait_val);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task);

DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task, uint64_t mask);

DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task);

/** @} */

/**
 * @name Exports of a started event
 * The bytes belong to the event until stop; a second call returns the same. The process's agent serves imports.
 * @retval DOCA_ERROR_BAD_STATE doca_sync_event_export_*, doca_sync_event_get_gpu_handle: the event is not started
 * @retval DOCA_ERROR_NOT_SUPPORTED doca_sync_event_export_*: it was made from an export, has a GPU location, or the device
 *   cannot
 * @retval DOCA_ERROR_NO_MEMORY doca_sync_event_export_*: out of memory
 * @retval DOCA_ERROR_DRIVER doca_sync_event_export_*: the agent or its socket cannot be created
 * @{
 */

/**
 * For doca_sync_event_create_from_export().
 * @param dev the device of the CPU location, if it has one
 * @retval DOCA_ERROR_INVALID_VALUE dev is another device, there is no remote PCI location, or the buffer's memory map lacks
 *   DOCA_ACCESS_FLAG_PCI_READ_WRITE
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
						  size_t *sz);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * The address of the value for kernels of the location's GPU, until stop. A kernel's update wakes a sleeping wait task within
 * milliseconds.
 * @retval DOCA_ERROR_INVALID_VALUE the event has no location at this GPU
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se);

/** DOCA_SUCCESS for every device. */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * For doca_sync_event_remote_net_create_from_export(). Needs a remote net location and a CPU location.
 * @retval DOCA_ERROR_INVALID_VALUE a location is missing, or the buffer's memory map lacks DOCA_ACCESS_FLAG_RDMA_READ, WRITE or
 *   ATOMIC
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data, size_t *sz);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/** @} */

/**
 * @name Synchronous mode
 * A wait blocks until (value & mask) compares true with a value; see the tasks for masks. The _yield forms let other threads run
 * between checks. After DOCA_ERROR_TIME_OUT the update may still happen.
 * @param value what the masked value is compared with, what is added, or the new value
 * @param mask selects the bits that are compared
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start()
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event's owner is another node, which has stopped it or died
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, whose process does not respond
 * @retval DOCA_ERROR_INVALID_VALUE *_wait_*: an invalid mask
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/**
 * The sum wraps around.
 * @param fetched set to the value before
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched);

/**
 * Sets the value.
 * @retval DOCA_ERROR_AGAIN the value is in memory of the owner's program, and others kept changing it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H_ */
