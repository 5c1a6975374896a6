/* SPDX-License-Identifier: BSD-3-Clause */
/*
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

/*
 * Must be called first on the target, with the id and version of "worker_rdmo" from doca_urom_service_get_plugins_list(). The
 * id holds for the process: in a program with several services the plugin must have the same id in all. UNSUPPORTED_VERSION:
 * the plugin in the service has another release than this half.
 */
doca_error_t urom_rdmo_init(uint64_t plugin_id, uint64_t version);

/* ---- target ---- */

/*
 * The functions named urom_rdmo_task_... are commands. The worker context must be RUNNING and have the plugin's id among its
 * plugins; the call belongs to the thread of its progress engine. Arguments are copied. finished is called once with cookie,
 * from doca_pe_progress(), but only if the function returns DOCA_SUCCESS. They return INVALID_VALUE: finished is NULL, or a
 * NULL address or key with a length; TOO_BIG: an address or key does not fit into a command; otherwise errors of
 * doca_urom_worker_cmd_task_allocate_init() and doca_task_submit().
 *
 * finished gets, besides the results named at each function, BAD_STATE: the worker was stopped; CONNECTION_ABORTED: its
 * process has ended, or UCX cannot connect to the address; NOT_SUPPORTED, IO_FAILED: UCX cannot use the address or key;
 * NO_MEMORY: in the worker; UNEXPECTED: the answer is not one of this plugin.
 */

/* addr, of addr_len bytes, is the worker's UCX address, valid until the function returns; NULL on failure. */
typedef void (*urom_rdmo_client_init_finished)(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len);
/* number: the queue or region that was created or removed; 0 on failure. */
typedef void (*urom_rdmo_finished)(doca_error_t result, union doca_data cookie, uint64_t number);

/*
 * Must be called first, once for a worker context. addr: the address of the program's UCX worker, whose progress lets the
 * worker access its memory. id: the name of this program for initiators. Stopping the worker context also removes queues and
 * regions. Operations in flight may then still write to memory, or be aborted, whereupon UCX 1.13 may abort the program: so
 * remove regions in use first. finished: ALREADY_EXIST: the worker has another client with that id, or this context was
 * initialized already; FULL: it has 256 clients; INVALID_VALUE: no address.
 */
doca_error_t urom_rdmo_task_client_init(struct doca_urom_worker *worker, union doca_data cookie, uint64_t id, const void *addr,
					uint64_t addr_len, urom_rdmo_client_init_finished finished);

/*
 * Creates a queue for the initiator whose UCX worker has the address addr. Its number is a secret: every process that knows
 * it may send requests. finished: BAD_STATE: urom_rdmo_task_client_init() was not called; FULL: the program has 4,096 queues;
 * INVALID_VALUE: no address.
 */
doca_error_t urom_rdmo_task_rq_create(struct doca_urom_worker *worker, union doca_data cookie, const void *addr,
				      uint64_t addr_len, urom_rdmo_finished finished);

/*
 * Removes a queue. Its pending flushes end with NOT_FOUND; earlier requests are still executed. finished: NOT_FOUND: no such
 * queue; BAD_STATE: as above.
 */
doca_error_t urom_rdmo_task_rq_destroy(struct doca_urom_worker *worker, union doca_data cookie, uint64_t queue,
				       urom_rdmo_finished finished);

/*
 * Registers len bytes at va as a region, where operations may write. rkey, of rkey_len bytes: from ucp_rkey_pack(). The
 * memory must stay mapped until the region is removed. finished: FULL: the program has 4,096 regions; INVALID_VALUE: no key,
 * no bytes, or va + len overflows; BAD_STATE: as above.
 */
doca_error_t urom_rdmo_task_mr_register(struct doca_urom_worker *worker, union doca_data cookie, uint64_t va, uint64_t len,
					const void *rkey, uint64_t rkey_len, urom_rdmo_finished finished);

/*
 * Removes a region. Requests that the worker has not begun fail with NOT_FOUND. Those that it has begun are in memory before
 * finished is called: so the program must progress its UCX worker until then. Afterwards the worker writes nothing there.
 * finished: NOT_FOUND: no such region; BAD_STATE: as above; CONNECTION_ABORTED: the region is removed, but the worker has
 * lost the program's UCX worker, and operations in flight may still write while that is progressed; NO_MEMORY: in the worker,
 * and the region still exists.
 */
doca_error_t urom_rdmo_task_mr_deregister(struct doca_urom_worker *worker, union doca_data cookie, uint64_t region,
					  urom_rdmo_finished finished);

/* ---- initiator ---- */

/* All calls belong to the thread of the UCX worker. It needs no UROM worker, and no urom_rdmo_init(). */
struct urom_rdmo_initiator;
struct urom_rdmo_queue;

#define UROM_RDMO_FENCE 1u /* flag of a request: earlier requests are in memory first */

/*
 * Creates the initiator of a UCX worker, which the caller must progress; it uses active message id 2 of it. INVALID_VALUE: a
 * NULL argument; NO_MEMORY; DRIVER: UCX rejects the handler, because the worker lacks the feature AM.
 */
doca_error_t urom_rdmo_initiator_create(ucp_worker_h worker, struct urom_rdmo_initiator **initiator);
/* Must be called after closing its queues and before destroying the UCX worker. */
void urom_rdmo_initiator_destroy(struct urom_rdmo_initiator *initiator);

/*
 * Opens a queue: addr is the UCX address of the target's worker, id the target's id, number that of a queue which the target
 * created for this initiator. A queue can be opened only once. INVALID_VALUE: a NULL argument; NO_MEMORY; CONNECTION_ABORTED:
 * UCX cannot connect to the address.
 */
doca_error_t urom_rdmo_queue_open(struct urom_rdmo_initiator *initiator, const void *addr, uint64_t id, uint64_t number,
				  struct urom_rdmo_queue **queue);
/* Must not be called from a flush's callback. Progresses UCX. Pending flushes end with CONNECTION_ABORTED before it returns. */
void urom_rdmo_queue_close(struct urom_rdmo_queue *queue);

/*
 * Appends, scatters and flushes are executed in order. They return DOCA_SUCCESS when the request is sent; the next flush
 * reports its result. Data are copied. INVALID_VALUE: a NULL argument, nothing to write, or an unknown flag; TOO_BIG: see
 * below; NO_MEMORY; CONNECTION_ABORTED: the target's worker has ended. Then the queue can only be closed.
 */

/*
 * Writes len bytes, at most 1 MiB, to the address in the 8-byte word at pointer, and advances that word by len. pointer is an
 * address in the target's process, aligned to 8 bytes, in pointer_region; the word must point into data_region. The word is
 * updated at the latest when a flush is answered; until then it belongs to the worker.
 */
doca_error_t urom_rdmo_append(struct urom_rdmo_queue *queue, uint32_t flags, uint64_t pointer, uint64_t pointer_region,
			      uint64_t data_region, const void *data, size_t len);

struct urom_rdmo_piece {
	uint64_t address, region; /* in the target's process */
	const void *data;
	size_t len; /* bytes, at least 1 */
};

/* Writes each piece to its place: at most 1 MiB, with 24 bytes for each piece. */
doca_error_t urom_rdmo_scatter(struct urom_rdmo_queue *queue, uint32_t flags, const struct urom_rdmo_piece *pieces,
			       size_t num_pieces);

/*
 * Called once with the result of a flush, from ucp_worker_progress() or urom_rdmo_queue_close(). DOCA_SUCCESS: all requests
 * of this queue are in the target's memory. Otherwise the first error since the previous flush: NOT_FOUND: no such region, or
 * the queue or its target has left; INVALID_VALUE: an address outside its region, or an unaligned pointer; IN_USE: another
 * writer changed a pointer; FULL: more than the worker keeps, 65,536 requests or 256 MiB of them, or 4,096 pointers between
 * two flushes; NO_MEMORY: in the worker; NOT_SUPPORTED: the network delivers requests by rendezvous only; UNEXPECTED: an
 * earlier request was lost or rejected, or the queue is opened twice; CONNECTION_ABORTED: the target or the worker has ended;
 * IO_FAILED: other errors of UCX.
 */
typedef void (*urom_rdmo_flush_finished)(doca_error_t result, union doca_data cookie);

/* Passes cookie to finished, which is called only if this returns DOCA_SUCCESS. */
doca_error_t urom_rdmo_flush(struct urom_rdmo_queue *queue, union doca_data cookie, urom_rdmo_flush_finished finished);

#ifdef __cplusplus
}
#endif

#endif
