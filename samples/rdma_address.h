/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting by address (-cm): the responder listens on a port, the requester connects to an address of the responder's
 * device, and RDMA itself transfers the descriptor of the responder's memory or event.
 */
#ifndef SAMPLES_RDMA_ADDRESS_H
#define SAMPLES_RDMA_ADDRESS_H

#include "rdma_side.h"

/* Called before start: sets the callbacks and the task for the descriptor. */
doca_error_t address_configure(struct side *side);
/* Waits until all connections are established and the descriptor is received. */
doca_error_t address_connect(struct side *side);
/* Waits until the peer has closed a connection. */
doca_error_t address_wait_for_end(struct side *side);
void address_disconnect(struct side *side);

#endif
