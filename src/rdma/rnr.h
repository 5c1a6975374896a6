/* SPDX-License-Identifier: BSD-3-Clause */
/* RNR (receiver not ready): limits how long an operation waits for a receive of the peer. */
#ifndef RDMA_RNR_H
#define RDMA_RNR_H

#include "base/clock.h"
#include "rdma/connection.h"
#include "rdma/rdma.h"

/*
 * After a submit that returned AGAIN with that status in its operation: has the peer posted no receive for as long as the retry
 * count allows? *since is when the first operation in the queue began to wait for a receive, ns, or 0.
 */
static inline bool rdma_rnr_is_over(const struct doca_rdma_connection *connection, doca_error_t status, uint64_t *since)
{
	const uint32_t count = connection->rdma->rnr_retry_count;

	if (count == RDMA_RNR_MAX || connection->num_out != 0 || connection->state != RDMA_CONNECTION_CONNECTED)
		return false;
	if (status != DOCA_ERROR_EMPTY) { /* it waits for another reason: the peer is slow or stopped */
		*since = 0;
		return false;
	}
	const uint64_t now = sf_now_ns();
	if (*since == 0)
		*since = now;
	return now - *since >= (count + 1) * RDMA_RNR_WAIT_NS;
}

#endif
