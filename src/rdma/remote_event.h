/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the tasks of remote sync events: the event's word as remote operand, and the doorbell after a change.
 *
 * The word is read and set through a staging word in the request, so it is one load or one store whatever the program's list of
 * buffers. The doorbell rings on completion, and also in the submit: the fabric may have finished already, and a sleeping waiter
 * should not wait for our next progress call.
 */
#ifndef RDMA_REMOTE_EVENT_H
#define RDMA_REMOTE_EVENT_H

#include "rdma/request.h"

/* For rdma_verb.resolve: the remote operand. INVALID_VALUE, logged: no event, or one of another device. */
doca_error_t rdma_remote_event_resolve(struct rdma_request *request);
/* The staging word, request->value, as the local operand. */
void rdma_remote_event_land(struct rdma_request *request);

/* cls.submit and rdma_verb.settle of verbs that change the word. */
doca_error_t rdma_remote_event_submit(struct doca_task *base, uint32_t flags);
void rdma_remote_event_ring(struct rdma_request *request);

#endif
