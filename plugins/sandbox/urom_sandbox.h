/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of the sandbox plugin: tagged messages between workers of a domain. A message travels inside a command to the
 * sender's worker, from there by UCX to the receiver's worker, and inside a notification to the receiver.
 */
#ifndef UROM_SANDBOX_H
#define UROM_SANDBOX_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Told once how a send ended, from doca_pe_progress(). DOCA_SUCCESS says that the data has left, not that it has been received.
 * NOT_FOUND: no such worker in the domain; CONNECTION_ABORTED: the other worker, or this one's process, is gone; BAD_STATE: the
 * worker was stopped.
 */
typedef void (*urom_sandbox_send_finished)(doca_error_t result, union doca_data cookie);

/*
 * Told once how a receive ended. data, len bytes of it, is there until the function returns; tag is the message's. TOO_BIG: the
 * message has more bytes than were asked for; CONNECTION_ABORTED and BAD_STATE as above. On failure data is NULL.
 */
typedef void (*urom_sandbox_receive_finished)(doca_error_t result, union doca_data cookie, const void *data, size_t len,
					      uint64_t tag);

/*
 * Call it first, with the id and version that doca_urom_service_get_plugins_list() has of "worker_sandbox". UNSUPPORTED_VERSION:
 * the plugin in the service is of another release than this half.
 */
doca_error_t urom_sandbox_init(uint64_t plugin_id, uint64_t version);

/*
 * Both of the following want a worker that is RUNNING in a RUNNING domain, and belong to the thread of its progress engine.
 * finished is called if they return DOCA_SUCCESS, else not. Besides what is said below they return what
 * doca_urom_worker_cmd_task_allocate_init() and doca_task_submit() do.
 */

/* Sends len bytes, which are copied, to the worker that has the id peer in the domain. TOO_BIG: they do not fit
 * into a command. */
doca_error_t urom_sandbox_task_send(struct doca_urom_worker *worker, union doca_data cookie, uint64_t peer, uint64_t tag,
				    const void *data, size_t len, urom_sandbox_send_finished finished);

/* Receives the next message whose tag agrees in the mask's bits, of at most len_max bytes. TOO_BIG: as many would not fit into a
 * notification. */
doca_error_t urom_sandbox_task_receive(struct doca_urom_worker *worker, union doca_data cookie, uint64_t tag, uint64_t tag_mask,
				       size_t len_max, urom_sandbox_receive_finished finished);

#ifdef __cplusplus
}
#endif

#endif
