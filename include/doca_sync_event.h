/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_sync_event.h
 * @brief A 64-bit counter that processors of different nodes set, add to, read and wait for.
 *
 * One side makes the event, says where it is published (updated) and where it is subscribed to (read and waited for), starts it,
 * and hands an export to the other node, which makes an event of its own from that. Both then are the same counter.
 *
 * @code
 *   doca_sync_event_create(&event);
 *   doca_sync_event_add_publisher_location_remote_pci(event);
 *   doca_sync_event_add_subscriber_location_cpu(event, dev);
 *   doca_sync_event_start(event);                                   // value 0
 *   doca_sync_event_export_to_remote_pci(event, dev, &data, &sz);   // carry the bytes to the other node
 *   doca_sync_event_wait_gt(event, 0, UINT64_MAX);
 *   doca_sync_event_stop(event);
 *   doca_sync_event_destroy(event);
 * @endcode
 * @code
 *   doca_sync_event_create_from_export(dev, data, sz, &event);      // on the DPU's port, or its host function
 *   doca_sync_event_start(event);
 *   doca_sync_event_update_set(event, 1);
 * @endcode
 *
 * Modes. An event is started either by doca_sync_event_start, and then has the calls at the end of this file, which return when
 * it is done; or as a context (doca_sync_event_as_ctx, a progress engine, doca_ctx_start), and then has tasks. Calls of the one
 * mode answer DOCA_ERROR_BAD_STATE in the other. The two sides of an event may be in different modes.
 *
 * Locations are hints: whoever has the event may update and wait, whatever was said. What they decide is what can be exported:
 * to a PCI peer with a remote PCI location, to the network with a remote net location, a GPU handle with a GPU location.
 *
 * Memory. The value is in a page of the event's own, or in 8 bytes of the program's (doca_sync_event_set_addr,
 * doca_sync_event_set_doca_buf), which stay the program's, keep their value at start, and must live until stop. The program may
 * also read and write them itself, with 8-byte loads and stores; somebody who sleeps then learns of it only within half a second.
 *
 * Waiting. The waits of the synchronous mode poll; those called yield let other threads run between looks. A wait task costs one
 * look in each progress call; when nobody calls progress, because the program waits for the progress engine's notification, it
 * costs nothing, and an update by either side wakes it.
 *
 * The end. The owner's stop, or death, ends the event of the other side: its calls and tasks, waits in progress too, end with
 * DOCA_ERROR_CONNECTION_ABORTED, within a second. The owner does not notice the other side's end. Exports end with the stop.
 *
 * Threads: an event belongs to one thread at a time. There is no DPA here; what is for one answers DOCA_ERROR_NOT_SUPPORTED.
 * (Core guide, "DOCA Sync Event")
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

/** An event as a CPU uses it: made here, or made from another node's export. */
struct doca_sync_event;

/** An event of a node across the network: what the remote sync event tasks of doca_rdma.h work on. */
struct doca_sync_event_remote_net;

/** An event as code on a DPA would name it. */
typedef uint64_t doca_dpa_dev_sync_event_t;

/** A remote event as code on a DPA would name it. */
typedef uint64_t doca_dpa_dev_sync_event_remote_net_t;

/** An event as host code of a GPU library would name it. Nothing here makes one. */
struct doca_gpu_sync_event;

/** An event in a kernel: the value itself, which the kernel reads and updates with 8-byte accesses (atomics of system scope). */
typedef uint64_t doca_gpu_dev_sync_event_t;

/** A remote event as a kernel would name it. */
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

/** The end of a get task: called by doca_pe_progress() with the task, its user data and the context's. */
typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task, union doca_data task_user_data,
		union doca_data ctx_user_data);

/** The end of a notify set task: called by doca_pe_progress() with the task, its user data and the context's. */
typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(struct doca_sync_event_task_notify_set *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/** The end of a notify add task: called by doca_pe_progress() with the task, its user data and the context's. */
typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(struct doca_sync_event_task_notify_add *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/** The end of a wait eq task: called by doca_pe_progress() with the task, its user data and the context's. */
typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(struct doca_sync_event_task_wait_eq *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/** The end of a wait neq task: called by doca_pe_progress() with the task, its user data and the context's. */
typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(struct doca_sync_event_task_wait_neq *task,
		union doca_data task_user_data, union doca_data ctx_user_data);

/* ---- create and destroy ---- */

/**
 * Creates an event without locations.
 *
 * @param[out] event the new event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL.
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * Makes an event of what doca_sync_event_export_to_remote_pci() gave on another node. It has no locations or memory to set: it
 * is started, in the mode of one's choice, and used. It may be stopped and started again. May block for about a second.
 *
 * @param dev the other end of the exporter's PCI: a DPU's port for an export by a host function behind it, such a function for
 *   an export by the port; or the exporter's own device
 * @param data the bytes
 * @param sz how many
 * @param[out] event the new event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL; or the bytes are no such export, truncated or altered; or the exporter
 *   has stopped the event, or is gone; or dev is not the other end of the exporter's PCI.
 * @retval DOCA_ERROR_NOT_SUPPORTED the exporter's memory cannot be mapped here (another machine).
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event);

/**
 * Can events be made from exports with this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Makes a remote event of what doca_sync_event_export_to_remote_net() gave on another node, for the RDMA tasks. May block for
 * about a second.
 *
 * @param dev the device of the RDMA context that will use it
 * @param data the bytes
 * @param sz how many
 * @param[out] event the new remote event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL; or the bytes are no such export, truncated or altered; or the exporter
 *   has stopped the event, or is gone; or they were made for a PCI peer.
 * @retval DOCA_ERROR_NOT_SUPPORTED dev has no way to the exporter.
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
							   struct doca_sync_event_remote_net **event);

/**
 * Can remote events be made from exports with this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED it cannot. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Destroys an event that is stopped.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL.
 * @retval DOCA_ERROR_BAD_STATE it is not stopped, or tasks of it are not freed.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/**
 * Destroys a remote event. No RDMA task may still use it.
 *
 * @param event the remote event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);

/* ---- locations: one publisher and one subscriber, before start ---- */

/**
 * The event is updated by this node's CPU, which the device belongs to. The device stays in use until the event is destroyed.
 *
 * @param event the sync event
 * @param dev the device
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or dev is NULL, has a publisher location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

/**
 * The event is updated by a DPA. There is none here.
 *
 * @param event the sync event
 * @param dpa the DPA
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or dpa is NULL, has a publisher location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 * @retval DOCA_ERROR_NOT_SUPPORTED always, else.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

/**
 * The event is updated by kernels of a GPU. It has its value in memory that the GPU reaches, and cannot be exported to other
 * nodes. The GPU stays in use until the event is destroyed.
 *
 * @param event the sync event
 * @param gpu the GPU
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or gpu is NULL, has a publisher location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

/**
 * The event is updated at the other end of PCI: by the DPU if this is the host, by the host if this is the DPU.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, has a publisher location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);

/**
 * The event is updated by a node across the network, with the tasks of doca_rdma.h.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, has a publisher location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);

/**
 * The event is read and waited for by this node's CPU, which the device belongs to. The device stays in use until the event is
 * destroyed.
 *
 * @param event the sync event
 * @param dev the device
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or dev is NULL, has a subscriber location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

/**
 * The event is read and waited for by a DPA. There is none here.
 *
 * @param event the sync event
 * @param dpa the DPA
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or dpa is NULL, has a subscriber location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 * @retval DOCA_ERROR_NOT_SUPPORTED always, else.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

/**
 * The event is read and waited for by kernels of a GPU. It has its value in memory that the GPU reaches, and cannot be
 * exported to other nodes. The GPU stays in use until the event is destroyed.
 *
 * @param event the sync event
 * @param gpu the GPU
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or gpu is NULL, has a subscriber location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

/**
 * The event is read and waited for at the other end of PCI: by the DPU if this is the host, by the host if this is the DPU.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, has a subscriber location, or was made from an export.
 * @retval DOCA_ERROR_BAD_STATE it is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);

/* ---- memory of the program's own, before start ---- */

/**
 * Has the value in 8 bytes of the program's, instead of the event's own page. They keep what they hold at start. The last call
 * of this and of doca_sync_event_set_doca_buf() counts. Another node's access takes longer there: set and add are done by a
 * helper thread of this process.
 *
 * @param event the sync event
 * @param addr the 8 bytes, aligned to 8
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or addr is not aligned.
 * @retval DOCA_ERROR_BAD_STATE the event is started.
 * @retval DOCA_ERROR_NOT_SUPPORTED it was made from an export, or has a GPU location.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

/**
 * Has the value in the first 8 bytes of a buffer's data section (which may still be empty). From now on the buffer's mmap cannot
 * be stopped, until the event's stop or destruction, which let go of it, or until the memory is set anew; the buffer itself may
 * go. As doca_sync_event_set_addr() else.
 *
 * @param event the sync event
 * @param buf the buffer; its mmap is started
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, the data is not aligned to 8, or there are fewer than 8 bytes.
 * @retval DOCA_ERROR_BAD_STATE the event is started.
 * @retval DOCA_ERROR_NOT_PERMITTED it was made from an export, or has a GPU location; or the mmap is read-only, imported, or
 *   memory of a GPU.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf);

/* ---- start and stop ---- */

/**
 * Starts an event in synchronous mode, with the value 0 if the memory is its own. Both locations must be set, unless it was
 * made from an export.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, lacks a location, has two GPUs, or a GPU and memory of the program's.
 * @retval DOCA_ERROR_BAD_STATE it is started already, in either mode.
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 * @retval DOCA_ERROR_NOT_SUPPORTED a GPU cannot reach it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stops an event of synchronous mode. Exports end: who was made from one has its calls answered with an error. An event that
 * is not started stays as it is.
 *
 * @param event the sync event
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL.
 * @retval DOCA_ERROR_BAD_STATE it was started as a context; doca_ctx_stop() stops it.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * The event as a context, for asynchronous mode: connect it to a progress engine, configure its tasks, and start it with
 * doca_ctx_start(), which returns DOCA_SUCCESS with the context RUNNING, or the errors of doca_sync_event_start().
 *
 * @param event the sync event
 * @return the context; NULL when event is NULL or started in synchronous mode
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/* ---- the get task: reads the value ---- */

/**
 * Are get tasks possible on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they are not. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configures the get tasks, before start. Both callbacks run inside doca_pe_progress(). The error callback is called with
 * doca_task_get_status() DOCA_ERROR_CONNECTION_ABORTED when the event's owner has stopped it or died.
 *
 * @param event the sync event
 * @param completion_cb called when a task succeeded
 * @param error_cb called when it failed
 * @param num_tasks how many can be allocated at a time
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or num_tasks is 0 or more than 65,536.
 * @retval DOCA_ERROR_NOT_PERMITTED the event is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
					       doca_sync_event_task_get_completion_cb_t completion_cb,
					       doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocates a get task. The value is that of the moment of the submit.
 *
 * @param event the sync event
 * @param ret_val_ptr where the value goes; it must not be NULL when the task is submitted (DOCA_ERROR_INVALID_VALUE)
 * @param user_data for the callback
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or task is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NO_MEMORY all tasks are allocated, or none were configured.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task);

/**
 * The task as doca_task_submit(), doca_task_free() and the other functions of doca_pe.h take it.
 *
 * @param task the task
 * @return the task's base; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);

/**
 * Changes where the value goes. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param ret_val_ptr where the value goes
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task, uint64_t *ret_val_ptr);

/**
 * Tells where the value goes.
 *
 * @param task the task
 * @return for NULL 0, else where the value goes
 */
DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task);

/* ---- the notify set task: sets the value ---- */

/**
 * Are notify set tasks possible on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they are not. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configures the notify set tasks, before start. Both callbacks run inside doca_pe_progress(). The error callback is called
 * with doca_task_get_status() DOCA_ERROR_CONNECTION_ABORTED when the event's owner has stopped it or died.
 *
 * @param event the sync event
 * @param completion_cb called when a task succeeded
 * @param error_cb called when it failed
 * @param num_tasks how many can be allocated at a time
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or num_tasks is 0 or more than 65,536.
 * @retval DOCA_ERROR_NOT_PERMITTED the event is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_set_completion_cb_t error_cb,
						      uint32_t num_tasks);

/**
 * Allocates a task that sets the value, in its submit.
 *
 * @param event the sync event
 * @param set_val the value to set
 * @param user_data for the callback
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or task is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NO_MEMORY all tasks are allocated, or none were configured.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
							union doca_data user_data, struct doca_sync_event_task_notify_set **task);

/**
 * The task as doca_task_submit(), doca_task_free() and the other functions of doca_pe.h take it.
 *
 * @param task the task
 * @return the task's base; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task);

/**
 * Changes the value to set. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param set_val the value to set
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task, uint64_t set_val);

/**
 * Tells the value to set.
 *
 * @param task the task
 * @return for NULL 0, else the value to set
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task);

/* ---- the notify add task: adds to the value ---- */

/**
 * Are notify add tasks possible on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they are not. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configures the notify add tasks, before start. Both callbacks run inside doca_pe_progress(). The error callback is called
 * with doca_task_get_status() DOCA_ERROR_CONNECTION_ABORTED when the event's owner has stopped it or died.
 *
 * @param event the sync event
 * @param completion_cb called when a task succeeded
 * @param error_cb called when it failed
 * @param num_tasks how many can be allocated at a time
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or num_tasks is 0 or more than 65,536.
 * @retval DOCA_ERROR_NOT_PERMITTED the event is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_set_conf(struct doca_sync_event *event,
						      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
						      doca_sync_event_task_notify_add_completion_cb_t error_cb,
						      uint32_t num_tasks);

/**
 * Allocates a task that atomically adds to the value, in its submit. It wraps around.
 *
 * @param event the sync event
 * @param inc_val what to add
 * @param fetched_val_ptr where the value before goes; it must not be NULL when the task is submitted
 *   (DOCA_ERROR_INVALID_VALUE)
 * @param user_data for the callback
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or task is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NO_MEMORY all tasks are allocated, or none were configured.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
							uint64_t *fetched_val_ptr, union doca_data user_data,
							struct doca_sync_event_task_notify_add **task);

/**
 * The task as doca_task_submit(), doca_task_free() and the other functions of doca_pe.h take it.
 *
 * @param task the task
 * @return the task's base; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task);

/**
 * Changes what to add. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param inc_val what to add
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task, uint64_t inc_val);

/**
 * Tells what to add.
 *
 * @param task the task
 * @return for NULL 0, else what to add
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task);

/**
 * Changes where the value before goes. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param fetched_val_ptr where the value before goes
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr);

/**
 * Tells where the value before goes.
 *
 * @param task the task
 * @return for NULL 0, else where the value before goes
 */
DOCA_EXPERIMENTAL
uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(const struct doca_sync_event_task_notify_add *task);

/* ---- the wait eq task: waits until the value, under a mask, is equal to a given one ---- */

/**
 * Are wait eq tasks possible on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they are not. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configures the wait eq tasks, before start. Both callbacks run inside doca_pe_progress(). The error callback is called with
 * doca_task_get_status() DOCA_ERROR_CONNECTION_ABORTED when the event's owner has stopped it or died, and DOCA_ERROR_BAD_STATE
 * for a wait that doca_ctx_stop() ended.
 *
 * @param event the sync event
 * @param completion_cb called when a task succeeded
 * @param error_cb called when it failed
 * @param num_tasks how many can be allocated at a time
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or num_tasks is 0 or more than 65,536.
 * @retval DOCA_ERROR_NOT_PERMITTED the event is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_set_conf(struct doca_sync_event *event,
						   doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
						   doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocates a task that waits until the value, under a mask, is equal to a given one. A value that was there between two
 * progress calls only is missed.
 *
 * @param event the sync event
 * @param wait_val what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0; another is refused when the task is submitted
 *   (DOCA_ERROR_INVALID_VALUE)
 * @param user_data for the callback
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or task is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NO_MEMORY all tasks are allocated, or none were configured.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						     union doca_data user_data, struct doca_sync_event_task_wait_eq **task);

/**
 * The task as doca_task_submit(), doca_task_free() and the other functions of doca_pe.h take it.
 *
 * @param task the task
 * @return the task's base; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task);

/**
 * Changes what (value & mask) is compared with. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param wait_val what (value & mask) is compared with
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task, uint64_t wait_val);

/**
 * Tells what (value & mask) is compared with.
 *
 * @param task the task
 * @return for NULL 0, else what (value & mask) is compared with
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task);

/**
 * Changes which bytes of the value are compared. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param mask which bytes of the value are compared
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask);

/**
 * Tells which bytes of the value are compared.
 *
 * @param task the task
 * @return for NULL 0, else which bytes of the value are compared
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task);

/* ---- the wait neq task: waits until the value, under a mask, differs from a given one ---- */

/**
 * Are wait neq tasks possible on this device?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they are not. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configures the wait neq tasks, before start. Both callbacks run inside doca_pe_progress(). The error callback is called with
 * doca_task_get_status() DOCA_ERROR_CONNECTION_ABORTED when the event's owner has stopped it or died, and DOCA_ERROR_BAD_STATE
 * for a wait that doca_ctx_stop() ended.
 *
 * @param event the sync event
 * @param completion_cb called when a task succeeded
 * @param error_cb called when it failed
 * @param num_tasks how many can be allocated at a time
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or num_tasks is 0 or more than 65,536.
 * @retval DOCA_ERROR_NOT_PERMITTED the event is started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_set_conf(struct doca_sync_event *event,
						    doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
						    doca_sync_event_task_wait_neq_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocates a task that waits until the value, under a mask, differs from a given one. A value that was there between two
 * progress calls only is missed.
 *
 * @param event the sync event
 * @param wait_val what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0; another is refused when the task is submitted
 *   (DOCA_ERROR_INVALID_VALUE)
 * @param user_data for the callback
 * @param[out] task the task
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event or task is NULL.
 * @retval DOCA_ERROR_BAD_STATE the context is not RUNNING.
 * @retval DOCA_ERROR_NO_MEMORY all tasks are allocated, or none were configured.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
						      union doca_data user_data, struct doca_sync_event_task_wait_neq **task);

/**
 * The task as doca_task_submit(), doca_task_free() and the other functions of doca_pe.h take it.
 *
 * @param task the task
 * @return the task's base; NULL for NULL
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task);

/**
 * Changes what (value & mask) is compared with. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param wait_val what (value & mask) is compared with
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task, uint64_t wait_val);

/**
 * Tells what (value & mask) is compared with.
 *
 * @param task the task
 * @return for NULL 0, else what (value & mask) is compared with
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task);

/**
 * Changes which bytes of the value are compared. Not while the task is in flight.
 *
 * @param task the task; NULL is logged, and nothing happens
 * @param mask which bytes of the value are compared
 */
DOCA_EXPERIMENTAL
void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task, uint64_t mask);

/**
 * Tells which bytes of the value are compared.
 *
 * @param task the task
 * @return for NULL 0, else which bytes of the value are compared
 */
DOCA_EXPERIMENTAL
uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task);

/* ---- exports, of a started event ---- */

/**
 * The bytes from which the other end of PCI makes its event (doca_sync_event_create_from_export). They are the event's and
 * last until stop; a second call gives the same. The event needs a remote PCI location. Starts a helper thread of the process.
 *
 * @param event the sync event
 * @param dev the device of the CPU location, if it has one
 * @param[out] data the bytes
 * @param[out] sz how many
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, dev is another device, there is no remote PCI location, or the mmap of
 *   its buffer lacks DOCA_ACCESS_FLAG_PCI_READ_WRITE.
 * @retval DOCA_ERROR_BAD_STATE the event is not started.
 * @retval DOCA_ERROR_NOT_SUPPORTED it was made from an export, or has a GPU location; or the device cannot.
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 * @retval DOCA_ERROR_DRIVER the helper thread or its socket cannot be made.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
						  size_t *sz);

/**
 * Can events of this device be exported to the other end of PCI?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they cannot. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo);

/**
 * The event for code on a DPA. There is none here.
 *
 * @param event the sync event
 * @param dpa the DPA
 * @param[out] dpa_dev_se_handle the handle
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always, else.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

/**
 * Can events of this device be used by a DPA? Never here.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * The event for kernels of the GPU of its GPU location. Valid until stop. A kernel's update wakes a sleeping wait task within
 * milliseconds.
 *
 * @param event the sync event
 * @param gpu the GPU
 * @param[out] gpu_dev_se the value, by the address that kernels use
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, or the event has no location at this GPU.
 * @retval DOCA_ERROR_BAD_STATE it is not started.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **gpu_dev_se);

/**
 * Can events of this device be used by a GPU?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they cannot. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * The bytes from which a node across the network makes its remote event. They are the event's and last until stop; a second
 * call gives the same. The event needs a remote net location and a CPU location, whose device it is reached by.
 *
 * @param event the sync event
 * @param[out] data the bytes
 * @param[out] sz how many
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL, a location is missing, or the mmap of its buffer lacks
 *   DOCA_ACCESS_FLAG_RDMA_READ, WRITE or ATOMIC.
 * @retval DOCA_ERROR_BAD_STATE the event is not started.
 * @retval DOCA_ERROR_NOT_SUPPORTED it was made from an export, or has a GPU location; or the device cannot.
 * @retval DOCA_ERROR_NO_MEMORY no memory for it.
 * @retval DOCA_ERROR_DRIVER the helper thread or its socket cannot be made.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data, size_t *sz);

/**
 * Can events of this device be exported to the network?
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED they cannot. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo);

/**
 * The remote event for code on a DPA. There is none here.
 *
 * @param event the remote event
 * @param dpa the DPA
 * @param[out] dpa_remote_event the handle
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always, else.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event);

/**
 * Can remote events be used by a DPA? Never here.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * The remote event for kernels. They have no way to another node here.
 *
 * @param event the remote event
 * @param gpu the GPU
 * @param[out] gpu_remote_event the handle
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always, else.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event);

/**
 * Can remote events be used by a GPU? Never here.
 *
 * @param devinfo the device asked about
 * @return DOCA_SUCCESS when it can
 * @retval DOCA_ERROR_INVALID_VALUE devinfo is NULL.
 * @retval DOCA_ERROR_NOT_SUPPORTED always. Nothing is logged: programs ask one device after the other.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/* ---- synchronous mode ---- */

/**
 * The value.
 *
 * @param event the sync event
 * @param[out] value the value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/**
 * Atomically adds to the value, which wraps around.
 *
 * @param event the sync event
 * @param value what to add
 * @param[out] fetched the value before
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched);

/**
 * Sets the value.
 *
 * @param event the sync event
 * @param value the new value
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 * @retval DOCA_ERROR_AGAIN the value is in memory of the owner's program, and others changed it all the time.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

/**
 * Waits until (value & mask) is greater than a value, looking all the time. A value that is there only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * Waits until (value & mask) is greater than a value, giving the processor to other threads between looks. A value that is
 * there only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * Waits until (value & mask) is equal to a value, looking all the time. A value that is there only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * Waits until (value & mask) is equal to a value, giving the processor to other threads between looks. A value that is there
 * only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * Waits until (value & mask) is other than a value, looking all the time. A value that is there only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * Waits until (value & mask) is other than a value, giving the processor to other threads between looks. A value that is there
 * only briefly may be missed.
 *
 * @param event the sync event
 * @param value what (value & mask) is compared with
 * @param mask 0, or 1, 2, 4 or 8 bytes of 0xff and the others 0
 * @return DOCA_SUCCESS
 * @retval DOCA_ERROR_INVALID_VALUE event is NULL, or mask is another.
 * @retval DOCA_ERROR_BAD_STATE the event is not started by doca_sync_event_start().
 * @retval DOCA_ERROR_CONNECTION_ABORTED the event is another node's, which has stopped it or died.
 * @retval DOCA_ERROR_TIME_OUT the value is in memory of the owner's program, and its process does not answer; it may be done
 *   yet.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H_ */
