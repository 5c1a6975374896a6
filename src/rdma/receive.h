/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive task: posted on the instance's endpoint, for the messages of all connections. */
#ifndef RDMA_RECEIVE_H
#define RDMA_RECEIVE_H

#include "rdma/rdma.h"

struct doca_rdma_task_receive {
	struct doca_task base;
	struct doca_buf *dst;
	const struct doca_rdma_connection *connection;
	enum doca_rdma_opcode opcode;
	uint32_t result_len;
	bool mapped; /* dst is another process's memory, mapped or bounced */
	doca_be32_t immediate;
	uint64_t region_of; /* sf_mmap_id of the memory map of the cached region, or 0 */
	struct sf_region *region;
	struct sf_recv recv;
	struct sf_iov iov[RDMA_RECV_LIST_MAX];
};

/* Parses a message's header, which is untrusted; false, logged, if it is not RDMA's. */
bool rdma_header_read(const struct sf_recv *recv, enum doca_rdma_opcode *opcode, doca_be32_t *immediate);

#endif
