/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file urom_allreduce.h
 * The host's half of the allreduce plugin: the workers reduce the ranks' vectors, and each rank gets the result, while its
 * own thread does other work and calls doca_pe_progress() at times.
 *
 *   urom_allreduce_init(id, version);                  from the service's plugin list: "worker_allreduce"
 *   ... workers RUNNING, in a RUNNING domain in which they have the ids 0 to n-1: their ranks ...
 *   urom_allreduce_comm_create(worker, rank, n, UROM_ALLREDUCE_DEPTH, &comm);
 *   urom_allreduce_task(comm, cookie, &args, finished);
 *   ... doca_pe_progress() ...
 *   urom_allreduce_comm_destroy(comm);
 *
 * A vector of 16 KiB or more stays in place if the rank's worker can access the rank's memory (see docs/urom_allreduce.md):
 * this takes one small command and one answer. Otherwise commands of the channel's message size carry the vectors. All ranks
 * must set the same size; larger messages (doca_urom_service_set_max_comm_msg_size, for example 64 KiB) make the allreduce
 * faster then. All calls belong to the thread of the worker's progress engine.
 */
#ifndef UROM_ALLREDUCE_H
#define UROM_ALLREDUCE_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UROM_ALLREDUCE_INFLIGHT_MAX 8 /**< allreduces in flight of one comm */
#define UROM_ALLREDUCE_DEPTH 64	      /**< default for commands in flight of one comm */

enum urom_allreduce_type {
	UROM_ALLREDUCE_FLOAT,
	UROM_ALLREDUCE_DOUBLE,
	UROM_ALLREDUCE_INT32, /**< sums wrap around */
	UROM_ALLREDUCE_INT64,
};

enum urom_allreduce_op { UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_MIN, UROM_ALLREDUCE_MAX };

enum urom_allreduce_algorithm {
	UROM_ALLREDUCE_AUTO,   /**< by the size */
	UROM_ALLREDUCE_TREE,   /**< few messages: for small vectors */
	UROM_ALLREDUCE_RING,   /**< each worker reduces its share and passes it on: for large vectors */
	UROM_ALLREDUCE_DIRECT, /**< each worker reduces its share in the memories of all ranks, up to 64: the fastest */
};

/** How the vectors of a comm get to its worker. The comm asks when it is created, and knows after some progress. */
enum urom_allreduce_way {
	UROM_ALLREDUCE_BY_UNKNOWN, /**< not known yet: allreduces of 16 KiB or more wait */
	UROM_ALLREDUCE_BY_MEMORY,  /**< the worker reads and writes this process's memory */
	UROM_ALLREDUCE_BY_COMMANDS,
};

/** An allreduce. tag, count, type, op and algorithm are the same on all ranks. */
struct urom_allreduce_args {
	uint64_t tag; /**< identifies the allreduce: must differ from those in flight, and from those of these workers that have
			 failed */
	const void *send;
	void *receive; /**< may equal send, but not overlap it otherwise; the plugin owns both until the end */
	size_t count;  /**< elements, at least 1 */
	enum urom_allreduce_type type;
	enum urom_allreduce_op op;
	enum urom_allreduce_algorithm algorithm;
};

/**
 * Called once from doca_pe_progress() with the result of an allreduce; it may start another. DOCA_SUCCESS: receive holds the
 * result. Otherwise its contents are undefined. In any case no worker accesses send or receive any more: if one still does,
 * doca_pe_progress() waits for it, two seconds at most.
 *
 * CONNECTION_ABORTED: a worker's process has ended. INVALID_VALUE: the ranks' arguments differ, or the worker has another id
 * in the domain. NOT_FOUND: a rank is not in the domain. NOT_SUPPORTED: UROM_ALLREDUCE_DIRECT was requested, and not all
 * workers can access all ranks' memories. NO_MEMORY: a worker keeps 128 MiB of others' pieces or 1,024 vectors that its rank
 * has not begun, or is out of memory. BAD_STATE: the worker context was stopped. UNEXPECTED: the answer is not one of this
 * plugin. An allreduce that waited while the way was UNKNOWN may also end with an error of urom_allreduce_task().
 */
typedef void (*urom_allreduce_finished)(doca_error_t result, union doca_data cookie);

/** A rank's handle for allreduces among some ranks. */
struct urom_allreduce_comm;

/**
 * Remembers the plugin's id. Must be called first. The id holds for the process: in a program with several services the plugin
 * must have the same id in all.
 * @param plugin_id id of "worker_allreduce" in doca_urom_service_get_plugins_list()
 * @param version its version there
 * @retval DOCA_ERROR_UNSUPPORTED_VERSION the plugin in the service has another release than this half
 */
doca_error_t urom_allreduce_init(uint64_t plugin_id, uint64_t version);

/**
 * Creates a comm. It submits one command immediately, to find its way.
 * @param worker a RUNNING worker context that has the plugin's id among its plugins, is in a RUNNING domain, and exists until the
 * comm is destroyed
 * @param rank this rank: the worker's id in the domain
 * @param num_ranks at most 65,536
 * @param depth the comm's commands in flight, at most the worker's doca_urom_worker_set_max_inflight_tasks(), which the program's
 * own tasks and other comms share
 * @param comm the new comm
 * @return DOCA_SUCCESS, or an error below, or one of doca_urom_worker_cmd_task_allocate_init() or doca_task_submit()
 * @retval DOCA_ERROR_INVALID_VALUE a NULL argument, rank not below num_ranks, too many ranks, or depth 0
 * @retval DOCA_ERROR_BAD_STATE the worker context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY out of memory, or all tasks of the worker are allocated
 */
doca_error_t urom_allreduce_comm_create(struct doca_urom_worker *worker, uint32_t rank, uint32_t num_ranks, uint32_t depth,
					struct urom_allreduce_comm **comm);

/**
 * Destroys a comm. Must be called before the worker context is destroyed.
 * @param comm the comm
 * @retval DOCA_ERROR_INVALID_VALUE comm is NULL
 * @retval DOCA_ERROR_IN_USE an allreduce is in flight
 */
doca_error_t urom_allreduce_comm_destroy(struct urom_allreduce_comm *comm);

/**
 * Tells how vectors get to the worker.
 * @param comm the comm
 * @return UROM_ALLREDUCE_BY_UNKNOWN for NULL too, UROM_ALLREDUCE_BY_COMMANDS for a single rank
 */
enum urom_allreduce_way urom_allreduce_comm_get_way(const struct urom_allreduce_comm *comm);

/**
 * Starts an allreduce.
 * @param comm the comm
 * @param cookie passed to finished
 * @param args copied, but not the vectors
 * @param finished called only if this returns DOCA_SUCCESS
 * @return DOCA_SUCCESS, or an error below, or one of doca_urom_worker_cmd_task_allocate_init() or doca_task_submit()
 * @retval DOCA_ERROR_INVALID_VALUE a NULL argument or vector, no elements, an unknown type, op or algorithm, or the tag of an
 * allreduce in flight
 * @retval DOCA_ERROR_AGAIN UROM_ALLREDUCE_INFLIGHT_MAX of the comm, or its depth if that is less, are in flight
 * @retval DOCA_ERROR_NOT_SUPPORTED UROM_ALLREDUCE_DIRECT with more than 64 ranks
 * @retval DOCA_ERROR_TOO_BIG the channel's messages are too small for any piece
 * @retval DOCA_ERROR_NO_MEMORY out of memory, or all tasks of the worker are allocated
 */
doca_error_t urom_allreduce_task(struct urom_allreduce_comm *comm, union doca_data cookie, const struct urom_allreduce_args *args,
				 urom_allreduce_finished finished);

#ifdef __cplusplus
}
#endif

#endif
