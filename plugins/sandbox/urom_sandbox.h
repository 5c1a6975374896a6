/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file urom_sandbox.h
 * The host's half of the sandbox plugin: tagged messages between workers of a domain. A message travels inside a command to the
 * sender's worker, from there by UCX to the receiver's worker, and inside a notification to the receiver.
 */
#ifndef UROM_SANDBOX_H
#define UROM_SANDBOX_H

#include <doca_urom.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Called once with the result of a send, from doca_pe_progress(). DOCA_SUCCESS: the data was sent, but perhaps not received
 * yet. NOT_FOUND: no such worker in the domain; CONNECTION_ABORTED: the process of either worker has ended; BAD_STATE: the
 * worker was stopped.
 */
typedef void (*urom_sandbox_send_finished)(doca_error_t result, union doca_data cookie);

/**
 * Called once with the result of a receive. data, of len bytes, is valid until the function returns; tag is the message's.
 * TOO_BIG: the message has more than len_max bytes; CONNECTION_ABORTED and BAD_STATE as above. On failure data is NULL.
 */
typedef void (*urom_sandbox_receive_finished)(doca_error_t result, union doca_data cookie, const void *data, size_t len,
					      uint64_t tag);

/**
 * Remembers the plugin's id. Must be called first.
 * @param plugin_id id of "worker_sandbox" in doca_urom_service_get_plugins_list()
 * @param version its version there
 * @retval DOCA_ERROR_UNSUPPORTED_VERSION the plugin in the service has another release than this half
 */
doca_error_t urom_sandbox_init(uint64_t plugin_id, uint64_t version);

/**
 * @name Messages
 * The calls belong to the thread of the worker's progress engine.
 * @param worker a worker that is RUNNING in a RUNNING domain
 * @param cookie passed to finished
 * @param finished called only if the function returns DOCA_SUCCESS
 * @return DOCA_SUCCESS, or an error below, or one of doca_urom_worker_cmd_task_allocate_init() or doca_task_submit()
 * @{
 */

/**
 * Sends bytes, which are copied.
 * @param peer the receiver's id in the domain
 * @param tag the message's tag
 * @param data what is sent
 * @param len bytes of data
 * @retval DOCA_ERROR_TOO_BIG they do not fit into a command
 */
doca_error_t urom_sandbox_task_send(struct doca_urom_worker *worker, union doca_data cookie, uint64_t peer, uint64_t tag,
				    const void *data, size_t len, urom_sandbox_send_finished finished);

/**
 * Receives the next message whose tag matches.
 * @param tag the tag to wait for
 * @param tag_mask the bits of the tag that must match
 * @param len_max bytes that the message may have
 * @retval DOCA_ERROR_TOO_BIG len_max bytes do not fit into a notification
 */
doca_error_t urom_sandbox_task_receive(struct doca_urom_worker *worker, union doca_data cookie, uint64_t tag, uint64_t tag_mask,
				       size_t len_max, urom_sandbox_receive_finished finished);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
