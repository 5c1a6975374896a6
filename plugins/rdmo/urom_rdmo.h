/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of the rdmo plugin: remote direct memory operations. A worker on the target's DPU carries out what initiators
 * ask for, in memory of the target's program, which need not run any code for it but UCX's progress.
 *
 * Target, with a UROM worker and a UCX worker (features RMA and AMO64) of its own:
 *
 *   urom_rdmo_init(plugin id, version);
 *   urom_rdmo_task_client_init(worker, cookie, id, UCX address, its bytes, finished);    // gives the UROM worker's UCX address
 *   urom_rdmo_task_mr_register(worker, cookie, va, len, packed key, its bytes, finished); // gives a region's number
 *   urom_rdmo_task_rq_create(worker, cookie, initiator's UCX address, its bytes, finished); // gives a queue's number
 *   loop: doca_pe_progress(pe); ucp_worker_progress(own);
 *
 * and tells the initiator its id, the worker's address, the queue's and the regions' numbers, by any way of its own.
 *
 * Initiator, with a UCX worker (feature AM) of its own:
 *
 *   urom_rdmo_initiator_create(own, &initiator);
 *   urom_rdmo_queue_open(initiator, address, id, queue's number, &queue);
 *   urom_rdmo_append(queue, 0, ...); urom_rdmo_scatter(queue, 0, ...);
 *   urom_rdmo_flush(queue, cookie, finished);     // called when all of it is in the target's memory
 *   loop: ucp_worker_progress(own);
 *
 * A worker of a service for its own machine is reached by shared memory. UCX 1.13 notices the end of a peer there only in a
 * context with MM_ERROR_HANDLING y (UCX_MM_ERROR_HANDLING=y): without, an initiator is not told that its target's worker has
 * ended.
 *
 * UCX 1.13 over TCP ends the program when a connection is reset while it sends from the program's memory. An initiator that is to
 * outlive its target's worker opens its UCX context with ZCOPY_THRESH inf (UCX_ZCOPY_THRESH=inf), as our workers do.
 */
#ifndef UROM_RDMO_H
#define UROM_RDMO_H

#include <ucp/api/ucp.h>

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Call it first on the target, with the id and version that doca_urom_service_get_plugins_list() has of "worker_rdmo". One id for
 * the process: a program of several services needs the plugin to have the same one in all of them. UNSUPPORTED_VERSION: the
 * plugin in the service is of another release than this half.
 */
doca_error_t urom_rdmo_init(uint64_t plugin_id, uint64_t version);

/* ---- target ---- */

/*
 * The functions named urom_rdmo_task_... are commands. The worker context is RUNNING and has the plugin's id among its plugins;
 * the call belongs to the thread of its progress engine. What is given is copied. cookie is handed to finished, which is called
 * once, from doca_pe_progress(), if the function returns DOCA_SUCCESS, else not. They return INVALID_VALUE: no function is given,
 * or bytes of nothing; TOO_BIG: an address or key does not fit into a command; otherwise what
 * doca_urom_worker_cmd_task_allocate_init() and doca_task_submit() return.
 *
 * finished is given, besides what is said at each function, BAD_STATE: the worker was stopped; CONNECTION_ABORTED: its process is
 * gone, or UCX cannot reach the address; NOT_SUPPORTED, IO_FAILED: UCX cannot use the address or key; NO_MEMORY: in the worker;
 * UNEXPECTED: what came back is no answer of this plugin's.
 */

/* addr, addr_len bytes of it, is the worker's UCX address, there until the function returns; NULL on failure. */
typedef void (*urom_rdmo_client_init_finished)(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len);
/* number is the queue's or region's that was made or removed; 0 on failure. */
typedef void (*urom_rdmo_finished)(doca_error_t result, union doca_data cookie, uint64_t number);

/*
 * First of all, once for a worker context. addr: the address of the program's UCX worker, whose progress lets the worker reach
 * its memory. id: what initiators call this program. It all ends, queues and regions too, when the worker context stops; what
 * has been begun may land after that, or be cut off, over which UCX 1.13 may end the program: so remove regions that are written
 * first. finished: ALREADY_EXIST: the worker has another client of that id, or this context has done it; FULL: it has 256
 * clients; INVALID_VALUE: no address.
 */
doca_error_t urom_rdmo_task_client_init(struct doca_urom_worker *worker, union doca_data cookie, uint64_t id, const void *addr,
					uint64_t addr_len, urom_rdmo_client_init_finished finished);

/*
 * Makes a queue: lets the initiator whose UCX worker has the address addr ask for operations. The number is a secret: who knows
 * it may ask. finished: BAD_STATE: urom_rdmo_task_client_init() comes first; FULL: the program has 4,096 queues; INVALID_VALUE:
 * no address.
 */
doca_error_t urom_rdmo_task_rq_create(struct doca_urom_worker *worker, union doca_data cookie, const void *addr,
				      uint64_t addr_len, urom_rdmo_finished finished);

/*
 * Removes a queue. Flushes that wait there are answered with NOT_FOUND; what was asked for before is still carried out.
 * finished: NOT_FOUND: there is no such queue; BAD_STATE: as above.
 */
doca_error_t urom_rdmo_task_rq_destroy(struct doca_urom_worker *worker, union doca_data cookie, uint64_t queue,
				       urom_rdmo_finished finished);

/*
 * Makes len bytes at va a region, where operations may write. rkey, rkey_len bytes of it: from ucp_rkey_pack(). The memory stays
 * mapped until the region is removed. finished: FULL: the program has 4,096 regions; INVALID_VALUE: no key, no bytes, or more
 * than there can be at va; BAD_STATE: as above.
 */
doca_error_t urom_rdmo_task_mr_register(struct doca_urom_worker *worker, union doca_data cookie, uint64_t va, uint64_t len,
					const void *rkey, uint64_t rkey_len, urom_rdmo_finished finished);

/*
 * Removes a region. What has been asked for and not been begun fails with NOT_FOUND. What the worker has begun is in the memory
 * before finished is called: so the program has to progress its UCX worker until then, and nobody writes there afterwards.
 * finished: NOT_FOUND: there is no such region; BAD_STATE: as above; CONNECTION_ABORTED: the region is removed, but the worker
 * has lost the program's UCX worker, and what was under way there may still land while that is progressed; NO_MEMORY: in the
 * worker, and the region is still there.
 */
doca_error_t urom_rdmo_task_mr_deregister(struct doca_urom_worker *worker, union doca_data cookie, uint64_t region,
					  urom_rdmo_finished finished);

/* ---- initiator ---- */

/* All calls belong to the thread of the UCX worker. It needs no UROM worker, and no urom_rdmo_init(). */
struct urom_rdmo_initiator;
struct urom_rdmo_queue;

#define UROM_RDMO_FENCE 1u /* a request's flag: what was asked for before is in memory first */

/*
 * One for a UCX worker, which stays the caller's to progress; it takes active message 2 of it.
 * INVALID_VALUE: a NULL argument; NO_MEMORY; DRIVER: UCX takes no handler, for it has no feature AM.
 */
doca_error_t urom_rdmo_initiator_create(ucp_worker_h worker, struct urom_rdmo_initiator **initiator);
/* After its queues, and before the UCX worker. */
void urom_rdmo_initiator_destroy(struct urom_rdmo_initiator *initiator);

/*
 * Opens a queue: addr is the UCX address of the target's worker, id the target's, number that of a queue which the target made
 * for this initiator, and which is opened once. INVALID_VALUE: a NULL argument; NO_MEMORY; CONNECTION_ABORTED: UCX cannot reach
 * the address.
 */
doca_error_t urom_rdmo_queue_open(struct urom_rdmo_initiator *initiator, const void *addr, uint64_t id, uint64_t number,
				  struct urom_rdmo_queue **queue);
/* Not from a flush's function. Flushes that are not answered end with CONNECTION_ABORTED before it returns; it progresses UCX. */
void urom_rdmo_queue_close(struct urom_rdmo_queue *queue);

/*
 * Appends, scatters and flushes are carried out in their order. They return DOCA_SUCCESS when the request is on its way; what
 * becomes of it is the next flush's to say. Data are copied. INVALID_VALUE: a NULL argument, nothing to write, or a flag that
 * there is not; TOO_BIG: as said below; NO_MEMORY; CONNECTION_ABORTED: the target's worker is gone. Then the queue is of no more
 * use but to be closed.
 */

/*
 * Writes len bytes, at most 1 MiB, to where the word of 8 bytes at pointer points, and moves it behind them. pointer is an
 * address in the target's process, of 8 bytes' alignment, in pointer_region; where the word points is in data_region. The word is
 * moved when a flush is answered, at the latest, and until then it belongs to the worker.
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
 * Told once how a flush ended, from ucp_worker_progress() or urom_rdmo_queue_close(). DOCA_SUCCESS: all that this queue has asked
 * for is in the target's memory. Otherwise the first thing that went wrong since the flush before: NOT_FOUND: no such region, or
 * the queue or its target has left; INVALID_VALUE: a place outside its region, or a pointer that is not aligned; IN_USE: somebody
 * else moved a pointer; FULL: more than the worker keeps, 65,536 requests or 256 MiB of them, or 4,096 pointers between two
 * flushes; NO_MEMORY: in the worker; NOT_SUPPORTED: the network brings requests by rendezvous only; UNEXPECTED: a request before
 * was lost or refused, or the queue's number is opened twice; CONNECTION_ABORTED: the target or the worker is gone; IO_FAILED:
 * what else UCX says.
 */
typedef void (*urom_rdmo_flush_finished)(doca_error_t result, union doca_data cookie);

/* cookie is handed to finished, which is called if this returns DOCA_SUCCESS, else not. */
doca_error_t urom_rdmo_flush(struct urom_rdmo_queue *queue, union doca_data cookie, urom_rdmo_flush_finished finished);

#ifdef __cplusplus
}
#endif

#endif
