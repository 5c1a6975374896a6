/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of the sandbox plugin: tagged messages between workers of a domain. A message travels inside a command to the
 * sender's worker, from there by UCX to the receiver's worker, and inside a notification to the receiver.
 */
#ifndef UROM_SANDBOX_H
#define UROM_SANDBOX_H

#include <doca_urom.h>

/* Told how a send ended: DOCA_SUCCESS says that the data has left, not that it has been received. NOT_FOUND: no such worker in the
 * domain. CONNECTION_ABORTED: the other worker is gone. */
typedef void (*urom_sandbox_send_finished)(doca_error_t result, union doca_data cookie);

/* Told how a receive ended. data is there until the function returns. TOO_BIG: the message has more bytes than were asked for. */
typedef void (*urom_sandbox_receive_finished)(doca_error_t result, union doca_data cookie, const void *data, size_t len, uint64_t tag);

/* From the service's plugin list: the id and version of "worker_sandbox". UNSUPPORTED_VERSION: the halves do not belong together. */
doca_error_t urom_sandbox_init(uint64_t plugin_id, uint64_t version);

/* Sends len bytes to the worker that has the id peer in the domain of this worker. TOO_BIG: they do not fit into a command. */
doca_error_t urom_sandbox_task_send(struct doca_urom_worker *worker, union doca_data cookie, uint64_t peer, uint64_t tag,
				    const void *data, size_t len, urom_sandbox_send_finished finished);

/* Receives the next message whose tag agrees in the mask's bits, of at most len_max bytes. TOO_BIG: as many would not fit. */
doca_error_t urom_sandbox_task_receive(struct doca_urom_worker *worker, union doca_data cookie, uint64_t tag, uint64_t tag_mask,
				       size_t len_max, urom_sandbox_receive_finished finished);

#endif
