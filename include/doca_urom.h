/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_urom.h
 * UROM: a program on a host offloads work to worker processes on its DPU.
 *
 * A *service* context represents the UROM service (doca_urom_daemon) of the DPU behind a device. It lists plugins, and starts and
 * ends workers. A *worker* context represents one worker process. Command tasks go to its plugins, whose notifications complete
 * them. A *domain* context joins workers of several hosts' processes, as an MPI communicator does.
 *
 *     doca_urom_service_create(&service);
 *     doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service));
 *     doca_urom_service_set_max_workers(service, 4);
 *     doca_urom_service_set_dev(service, dev);
 *     doca_ctx_start(doca_urom_service_as_ctx(service));      // finds the service and connects: it is RUNNING
 *     doca_urom_service_get_plugins_list(service, &plugins, &num);
 *
 *     doca_urom_worker_create(&worker);
 *     doca_pe_connect_ctx(worker_pe, doca_urom_worker_as_ctx(worker));
 *     doca_urom_worker_set_service(worker, service);
 *     doca_urom_worker_set_id(worker, DOCA_UROM_WORKER_ID_ANY);
 *     doca_urom_worker_set_max_inflight_tasks(worker, 8);
 *     doca_urom_worker_set_plugins(worker, plugins[0].id);
 *     doca_ctx_start(doca_urom_worker_as_ctx(worker));        // STARTING; progress both engines until it is RUNNING
 *
 *     doca_urom_worker_cmd_task_allocate_init(worker, plugins[0].id, &task);
 *     doca_buf_get_data(doca_urom_worker_cmd_task_get_payload(task), &place);   // the plugin's host half packs its command here
 *     doca_buf_set_data(doca_urom_worker_cmd_task_get_payload(task), place, packed);
 *     doca_urom_worker_cmd_task_set_cb(task, done);
 *     doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
 *
 * To end: stop every domain and worker, progress until they are IDLE, then stop the service. While a worker starts and stops,
 * its service's engine must be progressed, by this or another thread.
 *
 * If a worker process dies, its contexts go to STOPPING, their tasks fail with DOCA_ERROR_CONNECTION_ABORTED, and they are IDLE
 * once these are released. A service that dies or cannot be reached does the same to its context, which may be started again.
 *
 * Each context belongs to the thread of its progress engine. Workers of other threads may use a service. A *_release function
 * returns a task with its results. (UROM guide, "DOCA UROM", and its sections named as the functions)
 *
 * @retval DOCA_ERROR_NO_MEMORY *_create, *_allocate, *_allocate_init, *_set_env, *_set_buffers_count, *_add_buffer,
 *   *_set_workers: out of memory, or all tasks are allocated
 * @retval DOCA_ERROR_IN_USE *_destroy: the context is not IDLE
 * @retval DOCA_ERROR_NOT_PERMITTED *_service_destroy, *_domain_destroy, *_release: the object is NULL
 * @retval DOCA_ERROR_BAD_STATE doca_urom_service_set_*, doca_urom_worker_set_*, doca_urom_domain_set_*, *_add_buffer: the
 *   context is not IDLE
 * @retval DOCA_ERROR_BAD_STATE *_get_plugins_list, *_get_cpuset, *_allocate, *_allocate_init: the context is not RUNNING
 * @retval DOCA_ERROR_NOT_PERMITTED *_release: the task is in flight
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

/** A set of up to 1,024 processors. */
typedef ucs_cpu_set_t doca_cpu_set_t;

/** Empties a set. */
#define DOCA_CPU_ZERO(_cpusetp) UCS_CPU_ZERO(_cpusetp)
/** Adds a processor to a set. */
#define DOCA_CPU_SET(_cpu, _cpusetp) UCS_CPU_SET(_cpu, _cpusetp)
/** Whether a processor is in a set. */
#define doca_cpu_is_set(_cpu, _cpusetp) ucs_cpu_is_set(_cpu, _cpusetp)

/** The service chooses the worker's id. */
#define DOCA_UROM_WORKER_ID_ANY -1ULL

/** A UROM service: an object with a context (doca_urom_service_as_ctx). */
struct doca_urom_service;

/** A task that asks a service for the workers of a group. */
struct doca_urom_service_get_workers_by_gid_task;

/**
 * @name Services
 * @{
 */

typedef void (*doca_urom_service_get_workers_by_gid_task_completion_cb_t)(struct doca_urom_service_get_workers_by_gid_task *task,
									  union doca_data task_user_data,
									  union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_create(struct doca_urom_service **service_ctx);

/** @retval DOCA_ERROR_IN_USE a worker context uses it */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_destroy(struct doca_urom_service *service_ctx);

/**
 * Start fails if the service's own limit is lower.
 * @param msg_size 256 to 64 MiB, with UROM's header; 4,096 by default
 * @retval DOCA_ERROR_INVALID_VALUE out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_max_comm_msg_size(struct doca_urom_service *service_ctx, size_t msg_size);

/**
 * @param max_workers worker contexts at a time: a power of two up to 4,096; 64 by default
 * @retval DOCA_ERROR_INVALID_VALUE another number
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_max_workers(struct doca_urom_service *service_ctx, uint32_t max_workers);

/**
 * The DPU is behind this device. Start looks its PCI address up in the file that DOCA_UROM_SERVICE_FILE names. The device cannot
 * be closed before the service is destroyed.
 * @retval DOCA_ERROR_NOT_SUPPORTED DOCA_UROM_SERVICE_FILE is not set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_set_dev(struct doca_urom_service *service_ctx, struct doca_dev *dev);

/**
 * The context of a service. doca_ctx_start() connects and authenticates. It blocks for at most two seconds, which the first
 * eight addresses of the service's name share, and the context is RUNNING. It fails with
 *
 * - DOCA_ERROR_NOT_FOUND: no service file, no line for this host and device, or the line's host or net devices do not exist
 * - DOCA_ERROR_CONNECTION_ABORTED: no UROM service listens there
 * - DOCA_ERROR_TIME_OUT: no reply from an address, or no DNS reply for the name
 * - DOCA_ERROR_NOT_PERMITTED: another secret, or none (UROM_SECRET_FILE)
 * - DOCA_ERROR_UNSUPPORTED_VERSION: another version of the protocol
 * - DOCA_ERROR_TOO_BIG: the service's messages are smaller
 * - DOCA_ERROR_BAD_STATE: no device is set
 * - DOCA_ERROR_NO_MEMORY: out of memory, or a service file over 1 MiB
 * - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor
 * - DOCA_ERROR_DRIVER: OpenSSL cannot be set up
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_service_as_ctx(struct doca_urom_service *service_ctx);

/**
 * @param plugins array of the service, valid until it is IDLE
 * @retval DOCA_ERROR_NOT_FOUND there are no plugins
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_plugins_list(struct doca_urom_service *service_ctx,
						const struct doca_urom_service_plugin_info **plugins, size_t *plugins_count);

/**
 * The processors that the service offers to workers: those of its machine and at least 0 to 7, as on every card, or as many as
 * the topology states for its node. A processor that the machine lacks is mapped to one that it has.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_cpuset(struct doca_urom_service *service_ctx, doca_cpu_set_t *cpuset);

/** Allocates one of 32 tasks, without group and callback. */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_allocate(struct doca_urom_service *service_ctx,
								struct doca_urom_service_get_workers_by_gid_task **task);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_allocate_init(struct doca_urom_service *service_ctx, uint32_t gid,
								     doca_urom_service_get_workers_by_gid_task_completion_cb_t cb,
								     struct doca_urom_service_get_workers_by_gid_task **task);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_service_get_workers_by_gid_task_release(struct doca_urom_service_get_workers_by_gid_task *task);

DOCA_EXPERIMENTAL
void doca_urom_service_get_workers_by_gid_task_set_gid(struct doca_urom_service_get_workers_by_gid_task *task, uint32_t gid);

DOCA_EXPERIMENTAL
void doca_urom_service_get_workers_by_gid_task_set_cb(struct doca_urom_service_get_workers_by_gid_task *task,
						      doca_urom_service_get_workers_by_gid_task_completion_cb_t cb);

/**
 * The task for doca_task_submit(), which fails with DOCA_ERROR_INVALID_VALUE without a callback, DOCA_ERROR_BAD_STATE if the
 * context is not RUNNING or the task is in flight, DOCA_ERROR_AGAIN until progress sends earlier tasks, DOCA_ERROR_NOT_CONNECTED
 * if the service is gone, or DOCA_ERROR_NO_MEMORY. The task fails with DOCA_ERROR_BAD_STATE if the context is stopped, and
 * DOCA_ERROR_CONNECTION_ABORTED if the service is gone.
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_urom_service_get_workers_by_gid_task_as_task(struct doca_urom_service_get_workers_by_gid_task *task);

DOCA_EXPERIMENTAL
size_t doca_urom_service_get_workers_by_gid_task_get_workers_count(struct doca_urom_service_get_workers_by_gid_task *task);

/** Array of the task, until it is released or submitted again; NULL if there are none. */
DOCA_EXPERIMENTAL
const uint64_t *doca_urom_service_get_workers_by_gid_task_get_worker_ids(struct doca_urom_service_get_workers_by_gid_task *task);

/** @} */

/** A worker process: an object with a context (doca_urom_worker_as_ctx). */
struct doca_urom_worker;

/** A task that sends a command to a plugin of a worker. */
struct doca_urom_worker_cmd_task;

/** Called when a command was answered, or has failed. The plugin's host half reads the response here and releases the task. */
typedef void (*doca_urom_worker_cmd_task_completion_cb_t)(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data,
							  union doca_data ctx_user_data);

/**
 * @name Workers
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_create(struct doca_urom_worker **worker_ctx);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_destroy(struct doca_urom_worker *worker_ctx);

/**
 * The worker runs on this service's DPU. The service cannot be destroyed meanwhile.
 * @retval DOCA_ERROR_BAD_STATE the service has doca_urom_service_set_max_workers() workers
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_service(struct doca_urom_worker *worker_ctx, struct doca_urom_service *service_ctx);

/** Start connects to the worker process of this id, or creates it. DOCA_UROM_WORKER_ID_ANY by default. */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_id(struct doca_urom_worker *worker_ctx, uint64_t worker_id);

/**
 * @param plugins the ids of the plugins to load, or-ed
 * @retval DOCA_ERROR_INVALID_VALUE 0, or a bit above the 62nd
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_plugins(struct doca_urom_worker *worker_ctx, uint64_t plugins);

/**
 * The processors of a new process: all of the service's by default. If the machine has none of them, the start ends in IDLE and
 * logs DOCA_ERROR_OPERATING_SYSTEM.
 * @retval DOCA_ERROR_INVALID_VALUE an empty set
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_cpuset(struct doca_urom_worker *worker_ctx, doca_cpu_set_t cpuset);

/** The group of a new process. A context that joins a running process is in that one's group. */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_gid(struct doca_urom_worker *worker_ctx, uint32_t gid);

/**
 * @param max_tasks a power of two up to 16,384; 128 by default
 * @retval DOCA_ERROR_INVALID_VALUE another number
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_max_inflight_tasks(struct doca_urom_worker *worker_ctx, uint32_t max_tasks);

/**
 * Environment variables of a new process. If a process of that id is running, the start ends in IDLE and logs
 * DOCA_ERROR_NOT_PERMITTED.
 * @param env entries "NAME=value" without blanks, at most 256 and 32 KiB; copied
 * @retval DOCA_ERROR_INVALID_VALUE another form, or too many
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_set_env(struct doca_urom_worker *worker_ctx, char *const env[], size_t count);

/** The id that was set, or once the context is RUNNING the one that the service chose. */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_get_id(struct doca_urom_worker *worker_ctx, uint64_t *worker_id);

/**
 * The group that was set, or the group of the process that the context joined.
 * @retval DOCA_ERROR_INVALID_VALUE the worker is in no group
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_get_gid(struct doca_urom_worker *worker_ctx, uint32_t *worker_gid);

/** @} */

/**
 * The context of a worker. doca_ctx_start() and doca_ctx_stop() return DOCA_ERROR_IN_PROGRESS. The context is RUNNING once the
 * process accepts commands. If that fails it is IDLE, and the log says why; the process has ten seconds to start, and ten more to
 * accept the context. The process ends when its last context has stopped. doca_ctx_start() fails immediately with
 * DOCA_ERROR_BAD_STATE if no service or no plugins are set, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_OPERATING_SYSTEM without a file
 * descriptor, or DOCA_ERROR_DRIVER if OpenSSL cannot be set up.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_worker_as_ctx(struct doca_urom_worker *worker_ctx);

/**
 * @name Command tasks
 * @{
 */

/** Allocates a task without plugin and callback. */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_allocate(struct doca_urom_worker *worker_ctx, struct doca_urom_worker_cmd_task **task);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_allocate_init(struct doca_urom_worker *worker_ctx, uint64_t plugin,
						     struct doca_urom_worker_cmd_task **task);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_worker_cmd_task_release(struct doca_urom_worker_cmd_task *task);

DOCA_EXPERIMENTAL
void doca_urom_worker_cmd_task_set_plugin(struct doca_urom_worker_cmd_task *task, uint64_t plugin);

DOCA_EXPERIMENTAL
void doca_urom_worker_cmd_task_set_cb(struct doca_urom_worker_cmd_task *task, doca_urom_worker_cmd_task_completion_cb_t cb);

/**
 * The command: a buffer of the task. Its data section is the largest message at first; set the command's length by
 * doca_buf_set_data(). Submit returns DOCA_ERROR_TOO_BIG if the command and UROM's header of 24 bytes exceed
 * doca_urom_service_set_max_comm_msg_size().
 */
DOCA_EXPERIMENTAL
struct doca_buf *doca_urom_worker_cmd_task_get_payload(struct doca_urom_worker_cmd_task *task);

/**
 * The notification without UROM's header: a buffer of the task, in its callback or later, until the task is released or
 * submitted again. NULL if there was no notification.
 */
DOCA_EXPERIMENTAL
struct doca_buf *doca_urom_worker_cmd_task_get_response(struct doca_urom_worker_cmd_task *task);

/** 32 bytes in the task for the plugin's host half, aligned to 8. */
DOCA_EXPERIMENTAL
void *doca_urom_worker_cmd_task_get_user_data(struct doca_urom_worker_cmd_task *task);

/**
 * The task for doca_task_submit(), which fails with
 *
 * - DOCA_ERROR_INVALID_VALUE: no callback, or a plugin that is not in doca_urom_worker_set_plugins()
 * - DOCA_ERROR_TOO_BIG: see doca_urom_worker_cmd_task_get_payload()
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task is in flight
 * - DOCA_ERROR_AGAIN: too much data waits to be sent: progress, or in a callback of this worker just try again
 * - DOCA_ERROR_NOT_CONNECTED: the process is gone
 * - DOCA_ERROR_NO_MEMORY: out of memory
 *
 * The task ends with the status in the plugin's notification (DOCA_ERROR_UNEXPECTED if that is not a doca_error_t), or fails with
 *
 * - DOCA_ERROR_BAD_STATE: the context was stopped
 * - DOCA_ERROR_CONNECTION_ABORTED: the process is gone
 * - DOCA_ERROR_SHUTDOWN: the service ends, and the worker accepts no more commands
 * - DOCA_ERROR_FULL: 16,384 commands of this context wait in the worker
 * - DOCA_ERROR_NO_MEMORY: the worker is out of memory
 * - DOCA_ERROR_TOO_BIG: the plugin's notification is larger than a message
 */
DOCA_EXPERIMENTAL
struct doca_task *doca_urom_worker_cmd_task_as_task(struct doca_urom_worker_cmd_task *task);

/** @} */

/** Workers that know each other: an object with a context (doca_urom_domain_as_ctx). */
struct doca_urom_domain;

/**
 * Starts an allgather: each participant's sbuf goes to all, that of participant i to rbuf + i * msglen.
 * @param sbuf valid, as rbuf is, until req_test() says that it is done
 * @param req set to a handle for req_test() and req_free()
 * @return DOCA_SUCCESS, or an error that fails the domain's start
 */
typedef doca_error_t (*doca_urom_domain_allgather_cb_t)(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req);

/**
 * Whether an allgather is done.
 * @return DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS, or an error that fails the domain's start
 */
typedef doca_error_t (*doca_urom_domain_req_test_cb_t)(void *req);

/**
 * Frees an allgather, once: when it is done, has failed, or the domain is stopped. In the last case it must be cancelled, as
 * sbuf and rbuf are freed when this function returns.
 * @return DOCA_SUCCESS, or an error, which is logged
 */
typedef doca_error_t (*doca_urom_domain_req_free_cb_t)(void *req);

/**
 * How the processes of a domain exchange their entries: by the program's own means, such as MPI. The callbacks run
 * in doca_ctx_start(), doca_pe_progress() and doca_ctx_stop() of the domain, and must not stop or destroy it.
 */
struct doca_urom_domain_oob_coll {
	doca_urom_domain_allgather_cb_t allgather; /**< starts an allgather */
	doca_urom_domain_req_test_cb_t req_test;   /**< whether it is done */
	doca_urom_domain_req_free_cb_t req_free;   /**< frees it */
	void *coll_info;			   /**< for allgather */
	uint32_t n_oob_indexes;			   /**< participants */
	uint32_t oob_index;			   /**< this one: 0 to n_oob_indexes - 1, each once */
};

/**
 * @name Domains
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_create(struct doca_urom_domain **domain_ctx);

DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_destroy(struct doca_urom_domain *domain_ctx);

/**
 * Drops the buffers that were added.
 * @param buffers_cnt of this process, 1 to 1,024
 * @retval DOCA_ERROR_INVALID_VALUE out of range
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_buffers_count(struct doca_urom_domain *domain_ctx, size_t buffers_cnt);

/**
 * Shares a buffer with all workers of the domain, for doca_urom_worker_domain_seg_lookup(). Copies the packed memory handle and
 * remote key.
 * @param memh_len 1 to 65,536, as mkey_len
 * @retval DOCA_ERROR_INVALID_VALUE a length is out of range
 * @retval DOCA_ERROR_BAD_STATE no count is set
 * @retval DOCA_ERROR_FULL that many buffers were added
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_add_buffer(struct doca_urom_domain *domain_ctx, void *buffer, size_t buf_len, void *memh,
					 size_t memh_len, void *mkey, size_t mkey_len);

/**
 * @param oob copied
 * @retval DOCA_ERROR_INVALID_VALUE a callback is NULL, oob_index is not below n_oob_indexes, or that is above 1,048,576
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_oob(struct doca_urom_domain *domain_ctx, struct doca_urom_domain_oob_coll *oob);

/**
 * @param domain_worker_ids the workers' ids, unique in the domain; copied
 * @param workers must be RUNNING when the domain starts
 * @retval DOCA_ERROR_INVALID_VALUE no workers or more than 65,536, or an id or a worker twice
 */
DOCA_EXPERIMENTAL
doca_error_t doca_urom_domain_set_workers(struct doca_urom_domain *domain_ctx, uint64_t *domain_worker_ids,
					  struct doca_urom_worker **workers, size_t workers_cnt);

/** @} */

/**
 * The context of a domain. doca_ctx_start() returns DOCA_ERROR_IN_PROGRESS; progress exchanges, and the context is RUNNING once
 * every worker of this process knows all others. It fails immediately with DOCA_ERROR_BAD_STATE if workers or exchange are not
 * set or a worker is not RUNNING, DOCA_ERROR_NO_MEMORY, or DOCA_ERROR_IO_FAILED or another error of allgather. A later failure
 * makes the context IDLE, and the log says why. If a worker ends later, the domain stays RUNNING for the others. To include a
 * new run of that worker, every process stops its domain and starts it again. doca_ctx_stop() returns DOCA_SUCCESS.
 */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_urom_domain_as_ctx(struct doca_urom_domain *domain_ctx);

#ifdef __cplusplus
}
#endif

#endif
