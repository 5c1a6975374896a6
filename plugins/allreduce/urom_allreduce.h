/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of the allreduce plugin: the workers reduce the ranks' vectors, and each rank gets the result, while its own
 * thread does something else and calls doca_pe_progress() now and then.
 *
 *   urom_allreduce_init(id, version);                  from the service's plugin list: "worker_allreduce"
 *   ... workers RUNNING, in a RUNNING domain in which they have the ids 0 to n-1: their ranks ...
 *   urom_allreduce_comm_create(worker, rank, n, UROM_ALLREDUCE_DEPTH, &comm);
 *   urom_allreduce_task(comm, cookie, &args, finished);
 *   ... doca_pe_progress() ...
 *   urom_allreduce_comm_destroy(comm);
 *
 * A vector of 16 KiB or more stays where it is if the rank's worker reaches the rank's memory (docs/urom_allreduce.md says when):
 * one small command goes there and one answer comes back. Otherwise vectors travel in commands of the channel's message size,
 * which all ranks must have set alike: larger messages (doca_urom_service_set_max_comm_msg_size, 64 KiB say) make a faster
 * allreduce then. All calls belong to the thread of the worker's progress engine.
 */
#ifndef UROM_ALLREDUCE_H
#define UROM_ALLREDUCE_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UROM_ALLREDUCE_INFLIGHT_MAX 8 /* allreduces of one comm under way at once */
#define UROM_ALLREDUCE_DEPTH 64	      /* commands of one comm under way at once, where the program has no other wish */

enum urom_allreduce_type {
	UROM_ALLREDUCE_FLOAT,
	UROM_ALLREDUCE_DOUBLE,
	UROM_ALLREDUCE_INT32, /* sums wrap around */
	UROM_ALLREDUCE_INT64,
};

enum urom_allreduce_op { UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_MIN, UROM_ALLREDUCE_MAX };

enum urom_allreduce_algorithm {
	UROM_ALLREDUCE_AUTO,   /* by the size */
	UROM_ALLREDUCE_TREE,   /* few messages: for small vectors */
	UROM_ALLREDUCE_RING,   /* each worker reduces its share, and passes it round: for large ones */
	UROM_ALLREDUCE_DIRECT, /* each worker reduces its share straight in the memories of all ranks, up to 64: where it can, the
				  fastest */
};

/* How the vectors of a comm get to its worker. It is asked when the comm is created, and known after some progress. */
enum urom_allreduce_way {
	UROM_ALLREDUCE_BY_UNKNOWN, /* not yet: allreduces of 16 KiB or more wait */
	UROM_ALLREDUCE_BY_MEMORY,  /* the worker reads and writes this process's memory */
	UROM_ALLREDUCE_BY_COMMANDS,
};

/* tag, count, type, op and algorithm are the same on all ranks. */
struct urom_allreduce_args {
	uint64_t tag; /* which allreduce this is: no other that is under way, nor one of these workers' that has failed, has the
			 same */
	const void *send;
	void *receive; /* may be send, but not overlap it otherwise; both are the plugin's until the end */
	size_t count;  /* elements, at least 1 */
	enum urom_allreduce_type type;
	enum urom_allreduce_op op;
	enum urom_allreduce_algorithm algorithm;
};

/*
 * Told once how an allreduce ended, from doca_pe_progress(); it may begin another. DOCA_SUCCESS: receive holds the result.
 * Otherwise what it holds is not said; but nobody touches send or receive any more, whatever the reason: should a worker be at
 * them in that moment, doca_pe_progress() waits for it, two seconds at most.
 *
 * CONNECTION_ABORTED: a worker of it, or this one's process, is gone. INVALID_VALUE: the ranks do not agree on it, or the worker
 * has another id in the domain. NOT_FOUND: a rank is not in the domain. NOT_SUPPORTED: it was to be a direct one, and not all
 * workers reach all ranks' memories. NO_MEMORY: a worker keeps 128 MiB of others' pieces, 1,024 vectors that its rank has not
 * begun, or has no memory. BAD_STATE: the worker context was stopped. UNEXPECTED: what came back is no answer of this plugin's.
 * One that had to wait for the way ends with what urom_allreduce_task() returns otherwise.
 */
typedef void (*urom_allreduce_finished)(doca_error_t result, union doca_data cookie);

/* A rank's part in the allreduces of some ranks. */
struct urom_allreduce_comm;

/*
 * Call it first, with the id and version that doca_urom_service_get_plugins_list() has of "worker_allreduce". One id for the
 * process: a program of several services needs the plugin to have the same one in all of them. UNSUPPORTED_VERSION: the plugin in
 * the service is of another release than this half.
 */
doca_error_t urom_allreduce_init(uint64_t plugin_id, uint64_t version);

/*
 * Makes a comm of num_ranks ranks, at most 65,536, of which this is rank. The worker context is RUNNING, has the plugin's id
 * among its plugins, and is in a RUNNING domain with the id rank; it stays until the comm is destroyed. depth: commands of the
 * comm that may be under way at once, at most the worker's doca_urom_worker_set_max_inflight_tasks(); the program's own tasks and
 * other comms share those. The comm takes a command from the worker at once, to find its way. INVALID_VALUE: a NULL argument,
 * rank not below num_ranks, too many ranks, or depth 0. BAD_STATE: the worker context is not RUNNING (yet, or any more).
 * NO_MEMORY: also when all tasks of the worker are out. Other errors are those of doca_urom_worker_cmd_task_allocate_init() and
 * doca_task_submit().
 */
doca_error_t urom_allreduce_comm_create(struct doca_urom_worker *worker, uint32_t rank, uint32_t num_ranks, uint32_t depth,
					struct urom_allreduce_comm **comm);

/* Before the worker context is destroyed. INVALID_VALUE: no comm is given; IN_USE: an allreduce is under way. */
doca_error_t urom_allreduce_comm_destroy(struct urom_allreduce_comm *comm);

/* How its vectors go; UROM_ALLREDUCE_BY_UNKNOWN for NULL too. A comm of one rank has the way UROM_ALLREDUCE_BY_COMMANDS. */
enum urom_allreduce_way urom_allreduce_comm_get_way(const struct urom_allreduce_comm *comm);

/*
 * Begins one; args are copied, the vectors are not. cookie is handed to finished, which is called if this returns DOCA_SUCCESS,
 * else not. INVALID_VALUE: a NULL argument or vector, no elements, a type, op or algorithm that there is not, or the tag of one
 * that is under way. AGAIN: UROM_ALLREDUCE_INFLIGHT_MAX of the comm, or its depth if that is less, are under way. NOT_SUPPORTED:
 * a direct one among more than 64 ranks. TOO_BIG: the channel's messages are too small for any piece. NO_MEMORY: also when all
 * tasks of the worker are out. Other errors are those of doca_urom_worker_cmd_task_allocate_init() and doca_task_submit().
 */
doca_error_t urom_allreduce_task(struct urom_allreduce_comm *comm, union doca_data cookie, const struct urom_allreduce_args *args,
				 urom_allreduce_finished finished);

#ifdef __cplusplus
}
#endif

#endif
