/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file urom_rdmo.h
 * The host's half of the rdmo plugin: remote direct memory operations. A worker on the target's DPU executes requests of
 * initiators in memory of the target's program, which needs to run only UCX's progress.
 *
 * Target, with its own UROM worker and UCX worker (features RMA and AMO64):
 *
 *   urom_rdmo_init(plugin id, version);
 *   urom_rdmo_task_client_init(worker, cookie, id, UCX address, its bytes, finished);    // returns the UROM worker's UCX address
 *   urom_rdmo_task_mr_register(worker, cookie, va, len, packed key, its bytes, finished); // returns a region's number
 *   urom_rdmo_task_rq_create(worker, cookie, initiator's UCX address, its bytes, finished); // returns a queue's number
 *   loop: doca_pe_progress(pe); ucp_worker_progress(own);
 *
 * and sends its id, the worker's address, and the numbers of queue and regions to the initiator, by any means.
 *
 * Initiator, with its own UCX worker (feature AM):
 *
 *   urom_rdmo_initiator_create(own, &initiator);
 *   urom_rdmo_queue_open(initiator, address, id, queue's number, &queue);
 *   urom_rdmo_append(queue, 0, ...); urom_rdmo_scatter(queue, 0, ...);
 *   urom_rdmo_flush(queue, cookie, finished);     // called when all of it is in the target's memory
 *   loop: ucp_worker_progress(own);
 *
 * UCX uses shared memory to a worker on the same machine. There UCX 1.13 detects the end of a peer only in a context with
 * MM_ERROR_HANDLING y (UCX_MM_ERROR_HANDLING=y): without it an initiator does not learn that its target's worker has ended.
 *
 * UCX 1.13 over TCP aborts the program if a connection is reset during a zero-copy send. An initiator that must outlive its
 * target's worker opens its UCX context with ZCOPY_THRESH inf (UCX_ZCOPY_THRESH=inf), as our workers do.
 */
#ifndef UROM_RDMO_H
#define UROM_RDMO_H

#include <ucp/api/ucp.h>

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Remembers the plugin's id. Must be called first on the target. The id holds for the process: in a program with several services
 * the plugin must have the same id in all.
 * @param plugin_id id of "worker_rdmo" in doca_urom_service_get_plugins_list()
 * @param version its version there
 * @retval DOCA_ERROR_UNSUPPORTED_VERSION the plugin in the service has another release than this half
 */
doca_error_t urom_rdmo_init(uint64_t plugin_id, uint64_t version);

/* ---- target ---- */

/** addr, of addr_len bytes, is the worker's UCX address, valid until the function returns; NULL on failure. */
typedef void (*urom_rdmo_client_init_finished)(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len);
/** number: the queue or region that was created or removed; 0 on failure. */
typedef void (*urom_rdmo_finished)(doca_error_t result, union doca_data cookie, uint64_t number);

/**
 * @name Commands of the target
 * The call belongs to the thread of the worker's progress engine. Arguments are copied. finished is called once, from
 * doca_pe_progress(). It gets, besides the results named at each function, BAD_STATE: the worker was stopped; CONNECTION_ABORTED:
 * its process has ended, or UCX cannot connect to the address; NOT_SUPPORTED, IO_FAILED: UCX cannot use the address or key;
 * NO_MEMORY: in the worker; UNEXPECTED: the answer is not one of this plugin.
 * @param worker a RUNNING worker context that has the plugin's id among its plugins
 * @param cookie passed to finished
 * @param finished called only if the function returns DOCA_SUCCESS
 * @return DOCA_SUCCESS, or an error below, or one of doca_urom_worker_cmd_task_allocate_init() or doca_task_submit()
 * @retval DOCA_ERROR_INVALID_VALUE finished is NULL, or a NULL address or key with a length
 * @retval DOCA_ERROR_TOO_BIG an address or key does not fit into a command
 * @{
 */

/**
 * Makes this program a client of the worker. Must be called first, once for a worker context. Stopping the worker context also
 * removes queues and regions. Operations in flight may then still write to memory, or be aborted, whereupon UCX 1.13 may abort
 * the program: so remove regions in use first. finished: ALREADY_EXIST: the worker has another client with that id, or this
 * context was initialized already; FULL: it has 256 clients; INVALID_VALUE: no address.
 * @param id the name of this program for initiators
 * @param addr the address of the program's UCX worker, whose progress lets the worker access its memory
 * @param addr_len its bytes
 */
doca_error_t urom_rdmo_task_client_init(struct doca_urom_worker *worker, union doca_data cookie, uint64_t id, const void *addr,
					uint64_t addr_len, urom_rdmo_client_init_finished finished);

/**
 * Creates a queue for an initiator. Its number is a secret: every process that knows it may send requests. finished: BAD_STATE:
 * urom_rdmo_task_client_init() was not called; FULL: the program has 4,096 queues; INVALID_VALUE: no address.
 * @param addr the address of the initiator's UCX worker
 * @param addr_len its bytes
 */
doca_error_t urom_rdmo_task_rq_create(struct doca_urom_worker *worker, union doca_data cookie, const void *addr,
				      uint64_t addr_len, urom_rdmo_finished finished);

/**
 * Removes a queue. Its pending flushes end with NOT_FOUND; earlier requests are still executed. finished: NOT_FOUND: no such
 * queue; BAD_STATE: urom_rdmo_task_client_init() was not called.
 * @param queue its number
 */
doca_error_t urom_rdmo_task_rq_destroy(struct doca_urom_worker *worker, union doca_data cookie, uint64_t queue,
				       urom_rdmo_finished finished);

/**
 * Registers memory as a region, where operations may write. finished: FULL: the program has 4,096 regions; INVALID_VALUE: no key,
 * no bytes, or va + len overflows; BAD_STATE: urom_rdmo_task_client_init() was not called.
 * @param va its address; it must stay mapped until the region is removed
 * @param len its bytes
 * @param rkey its key, from ucp_rkey_pack()
 * @param rkey_len bytes of the key
 */
doca_error_t urom_rdmo_task_mr_register(struct doca_urom_worker *worker, union doca_data cookie, uint64_t va, uint64_t len,
					const void *rkey, uint64_t rkey_len, urom_rdmo_finished finished);

/**
 * Removes a region. Requests that the worker has not begun fail with NOT_FOUND. Those that it has begun are in memory before
 * finished is called: so the program must progress its UCX worker until then. Afterwards the worker writes nothing there.
 * finished: NOT_FOUND: no such region; BAD_STATE: urom_rdmo_task_client_init() was not called; CONNECTION_ABORTED: the region is
 * removed, but the worker has lost the program's UCX worker, and operations in flight may still write while that is progressed;
 * NO_MEMORY: in the worker, and the region still exists.
 * @param region its number
 */
doca_error_t urom_rdmo_task_mr_deregister(struct doca_urom_worker *worker, union doca_data cookie, uint64_t region,
					  urom_rdmo_finished finished);

/** @} */

/* ---- initiator ---- */

/** An initiator. All calls belong to the thread of the UCX worker. It needs no UROM worker, and no urom_rdmo_init(). */
struct urom_rdmo_initiator;
/** A queue, of an initiator. */
struct urom_rdmo_queue;

#define UROM_RDMO_FENCE 1u /**< flag of a request: earlier requests are in memory first */

/**
 * Creates the initiator of a UCX worker. It uses active message id 2 of the worker.
 * @param worker the UCX worker, which the caller must progress
 * @param initiator the new initiator
 * @retval DOCA_ERROR_INVALID_VALUE a NULL argument
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_DRIVER UCX rejects the handler, because the worker lacks the feature AM
 */
doca_error_t urom_rdmo_initiator_create(ucp_worker_h worker, struct urom_rdmo_initiator **initiator);
/**
 * Destroys an initiator. Must be called after closing its queues and before destroying the UCX worker.
 * @param initiator the initiator
 */
void urom_rdmo_initiator_destroy(struct urom_rdmo_initiator *initiator);

/**
 * Opens a queue, which is possible only once.
 * @param initiator its initiator
 * @param addr the UCX address of the target's worker
 * @param id the target's id
 * @param number that of a queue which the target created for this initiator
 * @param queue the opened queue
 * @retval DOCA_ERROR_INVALID_VALUE a NULL argument
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_CONNECTION_ABORTED UCX cannot connect to the address
 */
doca_error_t urom_rdmo_queue_open(struct urom_rdmo_initiator *initiator, const void *addr, uint64_t id, uint64_t number,
				  struct urom_rdmo_queue **queue);
/**
 * Closes a queue. Must not be called from a flush's callback. Progresses UCX. Pending flushes end with CONNECTION_ABORTED before
 * it returns.
 * @param queue the queue
 */
void urom_rdmo_queue_close(struct urom_rdmo_queue *queue);

/** A piece of a scatter. */
struct urom_rdmo_piece {
	uint64_t address, region; /* in the target's process */
	const void *data;
	size_t len; /* bytes, at least 1 */
};

/**
 * @name Requests of the initiator
 * They are executed in order. DOCA_SUCCESS: the request is sent; the next flush reports its result. Data are copied.
 * @param queue an open queue
 * @param flags UROM_RDMO_FENCE or 0
 * @retval DOCA_ERROR_INVALID_VALUE a NULL argument, nothing to write, or an unknown flag
 * @retval DOCA_ERROR_TOO_BIG urom_rdmo_append, urom_rdmo_scatter: more than 1 MiB
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_CONNECTION_ABORTED the target's worker has ended: the queue can only be closed
 * @{
 */

/**
 * Writes to the address in the 8-byte word at pointer, and advances that word by len. It is updated at the latest when a flush is
 * answered; until then it belongs to the worker.
 * @param pointer the word's address in the target's process, aligned to 8 bytes
 * @param pointer_region the region of the word
 * @param data_region the region that the word points into
 * @param data what is written
 * @param len its bytes, at most 1 MiB
 */
doca_error_t urom_rdmo_append(struct urom_rdmo_queue *queue, uint32_t flags, uint64_t pointer, uint64_t pointer_region,
			      uint64_t data_region, const void *data, size_t len);

/**
 * Writes each piece to its place: at most 1 MiB, with 24 bytes for each piece.
 * @param pieces what is written
 * @param num_pieces how many
 */
doca_error_t urom_rdmo_scatter(struct urom_rdmo_queue *queue, uint32_t flags, const struct urom_rdmo_piece *pieces,
			       size_t num_pieces);

/**
 * Called once with the result of a flush, from ucp_worker_progress() or urom_rdmo_queue_close(). DOCA_SUCCESS: all requests
 * of this queue are in the target's memory. Otherwise the first error since the previous flush: NOT_FOUND: no such region, or
 * the queue or its target has left; INVALID_VALUE: an address outside its region, or an unaligned pointer; IN_USE: another
 * writer changed a pointer; FULL: more than the worker keeps, 65,536 requests or 256 MiB of them, or 4,096 pointers between
 * two flushes; NO_MEMORY: in the worker; NOT_SUPPORTED: the network delivers requests by rendezvous only; UNEXPECTED: an
 * earlier request was lost or rejected, or the queue is opened twice; CONNECTION_ABORTED: the target or the worker has ended;
 * IO_FAILED: other errors of UCX.
 */
typedef void (*urom_rdmo_flush_finished)(doca_error_t result, union doca_data cookie);

/**
 * Reports when the requests before it are in the target's memory.
 * @param cookie passed to finished
 * @param finished called only if this returns DOCA_SUCCESS
 */
doca_error_t urom_rdmo_flush(struct urom_rdmo_queue *queue, union doca_data cookie, urom_rdmo_flush_finished finished);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
