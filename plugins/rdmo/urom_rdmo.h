/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of the rdmo plugin: remote direct memory operations. A worker on the target's DPU carries out what initiators ask
 * for, in memory of the target's program, which need not run any code for it but UCX's progress.
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
 *   urom_rdmo_flush(queue, cookie, finished);     // told when all of it is in the target's memory
 *   loop: ucp_worker_progress(own);
 */
#ifndef UROM_RDMO_H
#define UROM_RDMO_H

#include <ucp/api/ucp.h>

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From the service's plugin list: the id and version of "worker_rdmo". UNSUPPORTED_VERSION: the halves do not belong together. */
doca_error_t urom_rdmo_init(uint64_t plugin_id, uint64_t version);

/* ---- target ---- */

/* addr is the worker's UCX address, there until the function returns. */
typedef void (*urom_rdmo_client_init_finished)(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len);
/* number is the queue's or region's that was made or removed. */
typedef void (*urom_rdmo_finished)(doca_error_t result, union doca_data cookie, uint64_t number);

/* First of all. addr: of the program's UCX worker, whose progress lets the worker reach its memory. id: what initiators call this
 * program; ALREADY_EXIST: the worker has another client of that id. */
doca_error_t urom_rdmo_task_client_init(struct doca_urom_worker *worker, union doca_data cookie, uint64_t id, const void *addr,
					uint64_t addr_len, urom_rdmo_client_init_finished finished);

/* Lets the initiator that has that UCX worker ask for operations. The number is a secret: who knows it may ask. */
doca_error_t urom_rdmo_task_rq_create(struct doca_urom_worker *worker, union doca_data cookie, const void *addr, uint64_t addr_len,
				      urom_rdmo_finished finished);
doca_error_t urom_rdmo_task_rq_destroy(struct doca_urom_worker *worker, union doca_data cookie, uint64_t queue, urom_rdmo_finished finished);

/* Memory for operations: rkey from ucp_rkey_pack. */
doca_error_t urom_rdmo_task_mr_register(struct doca_urom_worker *worker, union doca_data cookie, uint64_t va, uint64_t len,
					const void *rkey, uint64_t rkey_len, urom_rdmo_finished finished);
/* What has been asked for before and not been done fails. */
doca_error_t urom_rdmo_task_mr_deregister(struct doca_urom_worker *worker, union doca_data cookie, uint64_t region,
					  urom_rdmo_finished finished);

/* ---- initiator ---- */

struct urom_rdmo_initiator;
struct urom_rdmo_queue;

#define UROM_RDMO_FENCE 1u /* a request's flag: what was asked for before is in memory first */

/* One for a UCX worker, which is the caller's to progress; takes active message 2 of it. */
doca_error_t urom_rdmo_initiator_create(ucp_worker_h worker, struct urom_rdmo_initiator **initiator);
/* After its queues. */
void urom_rdmo_initiator_destroy(struct urom_rdmo_initiator *initiator);

doca_error_t urom_rdmo_queue_open(struct urom_rdmo_initiator *initiator, const void *addr, uint64_t id, uint64_t number,
				  struct urom_rdmo_queue **queue);
/* Flushes that are not answered end with CONNECTION_ABORTED. */
void urom_rdmo_queue_close(struct urom_rdmo_queue *queue);

/* Writes len bytes to where the word of 8 bytes at pointer points, and moves it behind them: the word is moved when a flush is
 * answered, at the latest, and until then it belongs to the worker. TOO_BIG: more than 1 MiB. */
doca_error_t urom_rdmo_append(struct urom_rdmo_queue *queue, uint32_t flags, uint64_t pointer, uint64_t pointer_region,
			      uint64_t data_region, const void *data, size_t len);

struct urom_rdmo_piece {
	uint64_t address, region;
	const void *data;
	size_t len;
};

/* Writes each piece to its place. TOO_BIG: more than 1 MiB with 24 bytes for each piece. */
doca_error_t urom_rdmo_scatter(struct urom_rdmo_queue *queue, uint32_t flags, const struct urom_rdmo_piece *pieces, size_t num_pieces);

/* DOCA_SUCCESS: all that this queue has asked for is in the target's memory. Otherwise the first thing that went wrong since the
 * flush before: NOT_FOUND, no such region; INVALID_VALUE, a place outside its region; IN_USE, somebody else moved a pointer;
 * CONNECTION_ABORTED, the target or the worker is gone. */
typedef void (*urom_rdmo_flush_finished)(doca_error_t result, union doca_data cookie);
doca_error_t urom_rdmo_flush(struct urom_rdmo_queue *queue, union doca_data cookie, urom_rdmo_flush_finished finished);

#ifdef __cplusplus
}
#endif

#endif
