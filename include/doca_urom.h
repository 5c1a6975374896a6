/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_urom.h
 * @brief UROM: a program on a host gives work to worker processes on its DPU.
 *
 * A *service* context stands for the UROM service (doca_urom_daemon) of the DPU behind a device; it lists plugins, and starts and
 * ends workers. A *worker* context stands for one worker process; command tasks go to its plugins, whose notifications complete
 * them. A *domain* context joins workers of several hosts' processes, as an MPI communicator does.
 *
 * @code
 *   doca_urom_service_create(&service);
 *   doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service));
 *   doca_urom_service_set_max_workers(service, 4);
 *   doca_urom_service_set_dev(service, dev);
 *   doca_ctx_start(doca_urom_service_as_ctx(service));      // looks the service up and connects: it is RUNNING
 *   doca_urom_service_get_plugins_list(service, &plugins, &num);
 *
 *   doca_urom_worker_create(&worker);
 *   doca_pe_connect_ctx(worker_pe, doca_urom_worker_as_ctx(worker));
 *   doca_urom_worker_set_service(worker, service);
 *   doca_urom_worker_set_id(worker, DOCA_UROM_WORKER_ID_ANY);
 *   doca_urom_worker_set_max_inflight_tasks(worker, 8);
 *   doca_urom_worker_set_plugins(worker, plugins[0].id);
 *   doca_ctx_start(doca_urom_worker_as_ctx(worker));        // STARTING; progress both engines until it is RUNNING
 *
 *   doca_urom_worker_cmd_task_allocate_init(worker, plugins[0].id, &task);
 *   doca_buf_get_data(doca_urom_worker_cmd_task_get_payload(task), &place);   // the plugin's host half packs its command there
 *   doca_buf_set_data(doca_urom_worker_cmd_task_get_payload(task), place, packed);
 *   doca_urom_worker_cmd_task_set_cb(task, done);
 *   doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
 * @endcode
 *
 * To end: stop every domain and worker and progress until they are IDLE, then stop the service. A worker context needs its
 * service's engine to be progressed, by the same or another thread, while it starts and stops, not in between.
 *
 * When a worker process dies, its contexts go to STOPPING, their tasks fail with DOCA_ERROR_CONNECTION_ABORTED, and once these
 * are released they are IDLE; when the service dies or is unreachable, its context does the same, and may be started again.
 *
 * Threads: each context belongs to the thread of its progress engine. A service may be named by workers of other threads.
 * (UROM guide, "DOCA UROM")
 */
#ifndef DOCA_UROM_H_
#define DOCA_UROM_H_

#include <ucs/type/cpu_set.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#include <doca_urom_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_task;

/** A set of processors, of 1,024. */
typedef ucs_cpu_set_t doca_cpu_set_t;

/** Empties a set. */
#define DOCA_CPU_ZERO(_cpusetp) UCS_CPU_ZERO(_cpusetp)
/** Adds a processor to a set. */
#define DOCA_CPU_SET(_cpu, _cpusetp) UCS_CPU_SET(_cpu, _cpusetp)
/** Is a processor in a set? */
#define doca_cpu_is_set(_cpu, _cpusetp) ucs_cpu_is_set(_cpu, _cpusetp)

/** The service chooses the worker's id. */
#define DOCA_UROM_WORKER_ID_ANY -1ULL

/* ---- service ---- */

/** A UROM service, as a program sees it: an object with a context (doca_urom_service_as_ctx). */
struct doca_urom_service;

/** A task that asks a service which workers are of a group. */
struct doca_urom_service_get_workers_by_gid_task;

/**
 * Told when a get-workers task ended, from doca_pe_progress() of the service's engine. The task stays the program's.
 *
 * @param task the task; doca_task_get_status() says how it ended
 * @param task_user_data the task's
 * @param ctx_user_data the service context's
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task")
 */
typedef void (*doca_urom_service_get_workers_by_gid_task_completion_cb_t)(struct doca_urom_service_get_workers_by_gid_task *task,
									  union doca_data task_user_data,
									  union doca_data ctx_user_data);

/**
 * Creates a service context, IDLE.
 *
 * @param service_ctx set to it; end it with doca_urom_service_destroy()
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: service_ctx is NULL
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_service_create")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_create(struct doca_urom_service **service_ctx);

/**
 * Destroys an IDLE service context.
 *
 * @param service_ctx the service
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_NOT_PERMITTED: service_ctx is NULL
 * - DOCA_ERROR_IN_USE: it is not IDLE, or a worker context names it
 * (UROM guide, "doca_urom_service_destroy")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_destroy(struct doca_urom_service *service_ctx);

/**
 * Sets the bytes of the largest command or notification, UROM's own header included: 4,096 if not set. The service may have a
 * lower limit of its own, with which start fails.
 *
 * @param service_ctx the service, IDLE
 * @param msg_size 256 bytes to 64 MiB
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: service_ctx is NULL, or the size is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "doca_urom_service_set_max_comm_msg_size")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_max_comm_msg_size(struct doca_urom_service *service_ctx, size_t msg_size);

/**
 * Sets how many worker contexts may name this service at a time: 64 if not set.
 *
 * @param service_ctx the service, IDLE
 * @param max_workers a power of two, at most 4,096
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: service_ctx is NULL, or the number is none of these
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "Initializing UROM Service Context")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_max_workers(struct doca_urom_service *service_ctx, uint32_t max_workers);

/**
 * Sets the device behind which the DPU is. Its PCI address is what start looks up in the file that DOCA_UROM_SERVICE_FILE names.
 *
 * @param service_ctx the service, IDLE
 * @param dev an open device, until the service is destroyed
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_NOT_SUPPORTED: DOCA_UROM_SERVICE_FILE is not set
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "DOCA_UROM_SERVICE_FILE")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_dev(struct doca_urom_service *service_ctx, struct doca_dev *dev);

/**
 * The context of a service. doca_ctx_start() looks the service up, connects and authenticates: it blocks until that is done, two
 * seconds at most, and the context is RUNNING. Of a name's addresses the first eight are tried, in the resolver's order, each for
 * its share of that time. It answers
 * - DOCA_ERROR_NOT_FOUND: there is no service file to read, none of its lines is for this host and device, or the line's host or
 *   net devices do not exist
 * - DOCA_ERROR_CONNECTION_ABORTED: no service is there: nobody listens, or who does is none
 * - DOCA_ERROR_TIME_OUT: an address says nothing: it cannot be reached, or who listens there does not answer; or the resolver of
 *   the host's name says nothing
 * - DOCA_ERROR_NOT_PERMITTED: the service's secret is another, or there is none (UROM_SECRET_FILE)
 * - DOCA_ERROR_UNSUPPORTED_VERSION: the service speaks another version of the protocol
 * - DOCA_ERROR_TOO_BIG: the service takes no messages of that size
 * - DOCA_ERROR_BAD_STATE: no device is set
 * - DOCA_ERROR_NO_MEMORY: also for a service file of more than 1 MiB
 * - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor
 * - DOCA_ERROR_DRIVER: OpenSSL cannot be set up
 *
 * @param service_ctx the service, or NULL
 * @return the context, or NULL
 * (UROM guide, "doca_urom_service_as_ctx")
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_service_as_ctx(struct doca_urom_service *service_ctx);

/**
 * The plugins that the service offers.
 *
 * @param service_ctx the service, RUNNING
 * @param plugins set to the first of an array, which is the service's and stays until it is IDLE
 * @param plugins_count set to their number
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NOT_FOUND: there are none
 * (UROM guide, "doca_urom_service_get_plugins_list")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_plugins_list(struct doca_urom_service *service_ctx,
						const struct doca_urom_service_plugin_info **plugins, size_t *plugins_count);

/**
 * The processors that the service gives to workers.
 *
 * @param service_ctx the service, RUNNING
 * @param cpuset set to them
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * (UROM guide, "doca_urom_service_get_cpuset")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_cpuset(struct doca_urom_service *service_ctx, doca_cpu_set_t *cpuset);

/**
 * Takes a get-workers task from the service, with neither group nor callback yet.
 *
 * @param service_ctx the service, RUNNING
 * @param task set to the task
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all 32 are out
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_allocate_init")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_allocate(struct doca_urom_service *service_ctx,
								struct doca_urom_service_get_workers_by_gid_task **task);

/**
 * Takes a get-workers task from the service.
 *
 * @param service_ctx the service, RUNNING
 * @param gid the group
 * @param cb called when it ended
 * @param task set to the task
 * @return as doca_urom_service_get_workers_by_gid_task_allocate(); DOCA_ERROR_INVALID_VALUE for a NULL cb too
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_allocate_init")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_allocate_init(struct doca_urom_service *service_ctx, uint32_t gid,
								     doca_urom_service_get_workers_by_gid_task_completion_cb_t cb,
								     struct doca_urom_service_get_workers_by_gid_task **task);

/**
 * Gives a task back. Its answer goes with it.
 *
 * @param task the task, not in flight
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_NOT_PERMITTED: it is NULL, or in flight
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_release")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_release(struct doca_urom_service_get_workers_by_gid_task *task);

/**
 * Sets the group.
 *
 * @param task the task, not in flight
 * @param gid the group
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_set_gid")
 */
DOCA_EXPERIMENTAL
void doca_urom_service_get_workers_by_gid_task_set_gid(struct doca_urom_service_get_workers_by_gid_task *task, uint32_t gid);

/**
 * Sets the callback.
 *
 * @param task the task, not in flight
 * @param cb called when it ended
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_set_cb")
 */
DOCA_EXPERIMENTAL
void doca_urom_service_get_workers_by_gid_task_set_cb(struct doca_urom_service_get_workers_by_gid_task *task,
						      doca_urom_service_get_workers_by_gid_task_completion_cb_t cb);

/**
 * The task as doca_task_submit() takes it, which answers
 * - DOCA_ERROR_INVALID_VALUE: it has no callback
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task is in flight
 * - DOCA_ERROR_AGAIN: too much waits for the service: progress, and try again
 * - DOCA_ERROR_NOT_CONNECTED: the service is gone
 * - DOCA_ERROR_NO_MEMORY
 *
 * It ends with DOCA_SUCCESS; DOCA_ERROR_BAD_STATE when the context was stopped, DOCA_ERROR_CONNECTION_ABORTED when the service is
 * gone.
 *
 * @param task the task, or NULL
 * @return it, or NULL
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_as_task")
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_urom_service_get_workers_by_gid_task_as_task(struct doca_urom_service_get_workers_by_gid_task *task);

/**
 * How many workers the group has, after success.
 *
 * @param task the task
 * @return their number
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_get_workers_count")
 */
DOCA_EXPERIMENTAL
size_t doca_urom_service_get_workers_by_gid_task_get_workers_count(struct doca_urom_service_get_workers_by_gid_task *task);

/**
 * The ids of the group's workers, after success.
 *
 * @param task the task
 * @return the first of an array, which is the task's until it is released or submitted again; NULL when there are none
 * (UROM guide, "doca_urom_service_get_workers_by_gid_task_get_worker_ids")
 */
DOCA_EXPERIMENTAL
const uint64_t *doca_urom_service_get_workers_by_gid_task_get_worker_ids(struct doca_urom_service_get_workers_by_gid_task *task);

/* ---- worker ---- */

/** A worker process, as a program sees it: an object with a context (doca_urom_worker_as_ctx). */
struct doca_urom_worker;

/** A task that takes a command to a plugin of a worker. */
struct doca_urom_worker_cmd_task;

/**
 * Told when a command was answered, or cannot be, from doca_pe_progress() of the worker's engine. The plugin's host half reads
 * the response here, and releases the task.
 *
 * @param task the task; doca_task_get_status() is what the notification says
 * @param task_user_data the task's
 * @param ctx_user_data the worker context's
 * (UROM guide, "doca_urom_worker_cmd_task_completion_cb_t")
 */
typedef void (*doca_urom_worker_cmd_task_completion_cb_t)(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * Creates a worker context, IDLE.
 *
 * @param worker_ctx set to it; end it with doca_urom_worker_destroy()
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_worker_create")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_create(struct doca_urom_worker **worker_ctx);

/**
 * Destroys an IDLE worker context.
 *
 * @param worker_ctx the worker
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL
 * - DOCA_ERROR_IN_USE: it is not IDLE
 * (UROM guide, "doca_urom_worker_destroy")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_destroy(struct doca_urom_worker *worker_ctx);

/**
 * Says on which service's DPU the worker is.
 *
 * @param worker_ctx the worker, IDLE
 * @param service_ctx the service, until the worker is destroyed or names another
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the worker is not IDLE, or the service has its doca_urom_service_set_max_workers() workers
 * (UROM guide, "doca_urom_worker_set_service")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_service(struct doca_urom_worker *worker_ctx, struct doca_urom_service *service_ctx);

/**
 * Sets the worker's id: DOCA_UROM_WORKER_ID_ANY if not set. With the id of a worker process that is there, start connects to that
 * one; else it makes one of that id.
 *
 * @param worker_ctx the worker, IDLE
 * @param worker_id the id
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "doca_urom_worker_set_id")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_id(struct doca_urom_worker *worker_ctx, uint64_t worker_id);

/**
 * Sets the plugins that the process is to load.
 *
 * @param worker_ctx the worker, IDLE
 * @param plugins their ids, or-ed
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL, or plugins 0 or with a bit above the 62nd
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "doca_urom_worker_set_plugins")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_plugins(struct doca_urom_worker *worker_ctx, uint64_t plugins);

/**
 * Sets the processors that the process may run on: those of the service if not set. When the machine has none of them, the start
 * ends in IDLE, with DOCA_ERROR_OPERATING_SYSTEM in the log. A process that runs already keeps those that it has.
 *
 * @param worker_ctx the worker, IDLE
 * @param cpuset the processors
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL, or the set empty
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "Initializing UROM Worker Context")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_cpuset(struct doca_urom_worker *worker_ctx, doca_cpu_set_t cpuset);

/**
 * Puts the process into a group: a new process. A context that joins one which runs already is in that one's group, as
 * doca_urom_worker_get_gid() then says.
 *
 * @param worker_ctx the worker, IDLE
 * @param gid the group
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "doca_urom_worker_set_gid")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_gid(struct doca_urom_worker *worker_ctx, uint32_t gid);

/**
 * Sets how many commands may be in flight: 128 if not set.
 *
 * @param worker_ctx the worker, IDLE
 * @param max_tasks a power of two, at most 16,384
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: worker_ctx is NULL, or the number is none of these
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "Initializing UROM Worker Context")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_max_inflight_tasks(struct doca_urom_worker *worker_ctx, uint32_t max_tasks);

/**
 * Sets environment variables of the process to be. When a process of that id is there already, the start ends in IDLE, with
 * DOCA_ERROR_NOT_PERMITTED in the log.
 *
 * @param worker_ctx the worker, IDLE
 * @param env entries "NAME=value" without blanks; copied
 * @param count their number, at most 256 and 32 KiB
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no such entry, or too many
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_worker_set_env")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_env(struct doca_urom_worker *worker_ctx, char *const env[], size_t count);

/**
 * The worker's id: what was set, or what the service chose, once the context is RUNNING.
 *
 * @param worker_ctx the worker
 * @param worker_id set to it
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * (UROM guide, "doca_urom_worker_set_id")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_get_id(struct doca_urom_worker *worker_ctx, uint64_t *worker_id);

/**
 * The worker's group: what was set, or that of the process which the context joined.
 *
 * @param worker_ctx the worker
 * @param worker_gid set to it
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, or it is in no group
 * (UROM guide, "doca_urom_worker_set_gid")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_get_gid(struct doca_urom_worker *worker_ctx, uint32_t *worker_gid);

/**
 * The context of a worker. doca_ctx_start() answers DOCA_ERROR_IN_PROGRESS: the context is STARTING, and RUNNING when the process
 * is there and takes commands; IDLE again, with a line in the log that says why, when it cannot be: the service gives the process
 * ten seconds to be there, and the context gives it ten more to let it in.
 * doca_ctx_stop() answers DOCA_ERROR_IN_PROGRESS too: the process ends when the last context that names it has stopped. It
 * answers at once
 * - DOCA_ERROR_BAD_STATE: no service is set, or no plugins are
 * - DOCA_ERROR_NO_MEMORY
 * - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor
 * - DOCA_ERROR_DRIVER: OpenSSL cannot be set up
 *
 * @param worker_ctx the worker, or NULL
 * @return the context, or NULL
 * (UROM guide, "doca_urom_worker_as_ctx")
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_worker_as_ctx(struct doca_urom_worker *worker_ctx);

/**
 * Takes a command task from the worker, with neither plugin nor callback yet.
 *
 * @param worker_ctx the worker, RUNNING
 * @param task set to the task
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all doca_urom_worker_set_max_inflight_tasks() are out
 * (UROM guide, "doca_urom_worker_cmd_task_allocate_init")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_allocate(struct doca_urom_worker *worker_ctx, struct doca_urom_worker_cmd_task **task);

/**
 * Takes a command task from the worker.
 *
 * @param worker_ctx the worker, RUNNING
 * @param plugin the plugin's id
 * @param task set to the task
 * @return as doca_urom_worker_cmd_task_allocate()
 * (UROM guide, "doca_urom_worker_cmd_task_allocate_init")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_allocate_init(struct doca_urom_worker *worker_ctx, uint64_t plugin,
						     struct doca_urom_worker_cmd_task **task);

/**
 * Gives a task back; its buffers go with it.
 *
 * @param task the task, not in flight
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_NOT_PERMITTED: it is NULL, or in flight
 * (UROM guide, "doca_urom_worker_cmd_task_release")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_release(struct doca_urom_worker_cmd_task *task);

/**
 * Sets the plugin. Submit answers DOCA_ERROR_INVALID_VALUE for one that the worker was not asked to load.
 *
 * @param task the task, not in flight
 * @param plugin the plugin's id
 * (UROM guide, "doca_urom_worker_cmd_task_set_plugin")
 */
DOCA_EXPERIMENTAL
void doca_urom_worker_cmd_task_set_plugin(struct doca_urom_worker_cmd_task *task, uint64_t plugin);

/**
 * Sets the callback.
 *
 * @param task the task, not in flight
 * @param cb called when it ended
 * (UROM guide, "doca_urom_worker_cmd_task_set_cb")
 */
DOCA_EXPERIMENTAL
void doca_urom_worker_cmd_task_set_cb(struct doca_urom_worker_cmd_task *task, doca_urom_worker_cmd_task_completion_cb_t cb);

/**
 * The command's bytes: a buffer whose data section is, at first, the largest message's size. The plugin's host half packs its
 * command there and says how long it is by doca_buf_set_data(). Submit answers DOCA_ERROR_TOO_BIG when it, with UROM's header of
 * 24 bytes, is longer than doca_urom_service_set_max_comm_msg_size().
 *
 * @param task the task
 * @return the buffer, which is the task's
 * (UROM guide, "doca_urom_worker_cmd_task_get_payload")
 */
DOCA_EXPERIMENTAL
struct doca_buf *doca_urom_worker_cmd_task_get_payload(struct doca_urom_worker_cmd_task *task);

/**
 * The notification's bytes, without UROM's header.
 *
 * @param task the task, in its callback or later
 * @return the buffer, which is the task's until it is released or submitted again; NULL when there was no notification
 * (UROM guide, "doca_urom_worker_cmd_task_get_response")
 */
DOCA_EXPERIMENTAL
struct doca_buf *doca_urom_worker_cmd_task_get_response(struct doca_urom_worker_cmd_task *task);

/**
 * 32 bytes in the task for the plugin's host half.
 *
 * @param task the task
 * @return the first, aligned to 8
 * (UROM guide, "doca_urom_worker_cmd_task_get_user_data")
 */
DOCA_EXPERIMENTAL
void *doca_urom_worker_cmd_task_get_user_data(struct doca_urom_worker_cmd_task *task);

/**
 * The task as doca_task_submit() takes it, which answers
 * - DOCA_ERROR_INVALID_VALUE: it has no callback, or a plugin that the worker was not asked to load
 * - DOCA_ERROR_TOO_BIG: see doca_urom_worker_cmd_task_get_payload()
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task is in flight
 * - DOCA_ERROR_AGAIN: too much waits for the process: progress, and try again; in a callback of this
 *   worker's tasks, try again
 * - DOCA_ERROR_NOT_CONNECTED: the process is gone
 * - DOCA_ERROR_NO_MEMORY
 *
 * It ends with what the plugin's notification says (DOCA_ERROR_UNEXPECTED when that is no doca_error_t), or with
 * - DOCA_ERROR_BAD_STATE: the context was stopped
 * - DOCA_ERROR_CONNECTION_ABORTED: the process is gone
 * - DOCA_ERROR_SHUTDOWN: the service is being ended, and the worker takes no more commands
 * - DOCA_ERROR_FULL: 16,384 commands of this context wait in the worker
 * - DOCA_ERROR_NO_MEMORY: the worker has none for it
 * - DOCA_ERROR_TOO_BIG: the plugin's notification is larger than a message
 *
 * @param task the task, or NULL
 * @return it, or NULL
 * (UROM guide, "doca_urom_worker_cmd_task_as_task")
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_urom_worker_cmd_task_as_task(struct doca_urom_worker_cmd_task *task);

/* ---- domain ---- */

/** Workers that know each other: an object with a context (doca_urom_domain_as_ctx). */
struct doca_urom_domain;

/**
 * Starts to gather: every participant's sbuf goes to all, that of participant i to rbuf + i * msglen.
 *
 * @param sbuf msglen bytes, until req_test says that it is done
 * @param rbuf msglen bytes for each participant
 * @param msglen the same with all
 * @param coll_info that of struct doca_urom_domain_oob_coll
 * @param req set to a mark for the two others
 * @return DOCA_SUCCESS, or an error that fails the domain's start
 * (UROM guide, "doca_urom_domain_allgather_cb_t")
 */
typedef doca_error_t (*doca_urom_domain_allgather_cb_t)(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req);

/**
 * Is a gathering done?
 *
 * @param req its mark
 * @return DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS, or an error that fails the domain's start
 * (UROM guide, "doca_urom_domain_req_test_cb_t")
 */
typedef doca_error_t (*doca_urom_domain_req_test_cb_t)(void *req);

/**
 * Frees what a gathering used. Called once for each that was started: when it is done or has failed, and when the domain is
 * stopped in the middle of it. Then it is to be abandoned: sbuf and rbuf are gone when this function returns.
 *
 * @param req its mark
 * @return DOCA_SUCCESS, or an error, which is logged
 * (UROM guide, "doca_urom_domain_req_free_cb_t")
 */
typedef doca_error_t (*doca_urom_domain_req_free_cb_t)(void *req);

/** How the processes of a domain exchange what they must know of each other: by means of their own, MPI's for one. The callbacks run
 *  in doca_ctx_start(), doca_pe_progress() and doca_ctx_stop() of the domain, and must not stop it or destroy it. */
struct doca_urom_domain_oob_coll {
	doca_urom_domain_allgather_cb_t allgather; /**< starts a gathering */
	doca_urom_domain_req_test_cb_t req_test;   /**< asks for its end */
	doca_urom_domain_req_free_cb_t req_free;   /**< frees it */
	void *coll_info;			   /**< for allgather */
	uint32_t n_oob_indexes;			   /**< participants */
	uint32_t oob_index;			   /**< this one: 0 to n_oob_indexes - 1, each once */
};

/**
 * Creates a domain context, IDLE.
 *
 * @param domain_ctx set to it; end it with doca_urom_domain_destroy()
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: domain_ctx is NULL
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_domain_create")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_create(struct doca_urom_domain **domain_ctx);

/**
 * Destroys an IDLE domain context.
 *
 * @param domain_ctx the domain
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_NOT_PERMITTED: domain_ctx is NULL
 * - DOCA_ERROR_IN_USE: it is not IDLE
 * (UROM guide, "doca_urom_domain_destroy")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_destroy(struct doca_urom_domain *domain_ctx);

/**
 * Sets how many buffers this process will share. Buffers added before are forgotten.
 *
 * @param domain_ctx the domain, IDLE
 * @param buffers_cnt their number, at most 1,024
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: domain_ctx is NULL, or the number 0 or too large
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "Initializing UROM Domain Context")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_buffers_count(struct doca_urom_domain *domain_ctx, size_t buffers_cnt);

/**
 * Shares a buffer of this process with all workers of the domain, which find it by doca_urom_worker_domain_seg_lookup().
 *
 * @param domain_ctx the domain, IDLE
 * @param buffer its first byte
 * @param buf_len its bytes
 * @param memh its packed memory handle, copied
 * @param memh_len the handle's bytes, at most 65,536
 * @param mkey its packed remote key, copied
 * @param mkey_len the key's bytes, at most 65,536
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, a length of 0, or a handle or key that is too long
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE, or no count is set
 * - DOCA_ERROR_FULL: that many are there already
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_domain_add_buffer")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_add_buffer(struct doca_urom_domain *domain_ctx, void *buffer, size_t buf_len, void *memh,
					 size_t memh_len, void *mkey, size_t mkey_len);

/**
 * Sets how the processes exchange.
 *
 * @param domain_ctx the domain, IDLE
 * @param oob copied
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument or callback, or oob_index is not below n_oob_indexes, or that above 1,048,576
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * (UROM guide, "doca_urom_domain_set_oob")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_oob(struct doca_urom_domain *domain_ctx, struct doca_urom_domain_oob_coll *oob);

/**
 * Sets this process's workers in the domain.
 *
 * @param domain_ctx the domain, IDLE
 * @param domain_worker_ids the workers' ids in the domain, each once in all of it; copied
 * @param workers the workers, RUNNING when the domain starts
 * @param workers_cnt the number of both
 * @return DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a NULL argument, no workers or more than 65,536, or an id or a worker twice
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NO_MEMORY
 * (UROM guide, "doca_urom_domain_set_workers")
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_workers(struct doca_urom_domain *domain_ctx, uint64_t *domain_worker_ids,
					  struct doca_urom_worker **workers, size_t workers_cnt);

/**
 * The context of a domain. doca_ctx_start() answers DOCA_ERROR_IN_PROGRESS: progress of its engine gathers, and the context is
 * RUNNING when every worker of this process knows all. It answers at once
 * - DOCA_ERROR_BAD_STATE: no workers or no exchange are set, or a worker is not RUNNING
 * - DOCA_ERROR_NO_MEMORY
 * - DOCA_ERROR_IO_FAILED, or whatever else the exchange's allgather answered
 * Whatever fails later, a gathering, two workers of one id, a worker that ends meanwhile, makes the context IDLE again, and the
 * log says why. A worker that ends later leaves the domain RUNNING for the others; what they send to it fails. For a domain with
 * a new run of that worker, every process stops its domain, and starts it again once the worker is RUNNING. doca_ctx_stop()
 * answers DOCA_SUCCESS, and the domain may be destroyed right after.
 *
 * @param domain_ctx the domain, or NULL
 * @return the context, or NULL
 * (UROM guide, "doca_urom_domain_as_ctx")
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_domain_as_ctx(struct doca_urom_domain *domain_ctx);

#ifdef __cplusplus
}
#endif

#endif
