/* SPDX-License-Identifier: BSD-3-Clause */
/* All limits of RDMA. The capability calls return them. */
#ifndef RDMA_LIMITS_H
#define RDMA_LIMITS_H

#include <stdint.h>

#define RDMA_TASKS_MAX 65536 /* of one type in one instance */
#define RDMA_QUEUE_MAX 32768 /* largest queue size that can be set */
#define RDMA_QUEUE_DEFAULT 128
#define RDMA_LIST_MAX 16		     /* buffers of a local list */
#define RDMA_RECV_LIST_MAX 6		     /* buffers of a receive, as in the fabric */
#define RDMA_MESSAGE_MAX (UINT32_C(1) << 31) /* bytes */
#define RDMA_HEADER_SIZE 5		     /* sent with an immediate: its four bytes, and the receive's opcode */
#define RDMA_CONNECTIONS_MAX 1024	     /* of one instance */
#define RDMA_LISTENERS_MAX 16		     /* ports of one instance */
#define RDMA_CALLS_MAX 1024		     /* pending requests of peers */
#define RDMA_CALL_WAIT_NS UINT64_C(50000000) /* how long a request waits for a free slot */
#define RDMA_GUESTS_MAX 1024		     /* further peers of an instance's DC exports */
#define RDMA_REQUEST_TIMEOUT_MS 10000	     /* default, of a connect by address */
#define RDMA_SL_MAX 15
#define RDMA_GIDS_MAX 4
#define RDMA_RNR_MAX 7			    /* retry count without limit */
#define RDMA_RNR_WAIT_NS UINT64_C(10000000) /* of one retry */
#define RDMA_RETRY_NS 1000000		    /* interval at which a sleeping progress engine retries waiting tasks */
/* A caller may be ahead of its listener: on hardware, resolving addresses and routes takes a while. */
#define RDMA_CM_GRACE_NS UINT64_C(100000000)
#define RDMA_CM_AGAIN_NS UINT64_C(1000000) /* retry interval of a connect */
#define RDMA_NOT_POLLED_MAX 3		   /* consecutive progress calls that complete tasks and skip the fabric */
#define RDMA_POLL_BUDGET 64		   /* completions of one progress call */

#endif
