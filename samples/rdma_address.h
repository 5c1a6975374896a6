/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting by address (-cm): the responder listens to a port, the requester calls an address of the responder's device, and
 * what else there is to tell, the descriptor of the responder's memory or event, crosses by RDMA itself.
 */
#ifndef SAMPLES_RDMA_ADDRESS_H
#define SAMPLES_RDMA_ADDRESS_H

#include "rdma_side.h"

/* Before start: the callbacks, and the task for the descriptor. */
doca_error_t address_configure(struct side *side);
/* Until all connections stand, and the descriptor is where it is needed. */
doca_error_t address_connect(struct side *side);
/* Until the peer has ended a connection. */
doca_error_t address_wait_for_end(struct side *side);
void address_disconnect(struct side *side);

#endif
