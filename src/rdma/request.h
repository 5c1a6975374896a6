/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all task types that use a connection, and its allocation. */
#ifndef RDMA_REQUEST_H
#define RDMA_REQUEST_H

#include "rdma/connection.h"
#include "rdma/rdma.h"

/* A task that uses a connection: the beginning of every type but the receive. */
struct rdma_request {
	struct doca_task base;
	struct doca_rdma_connection *connection;
	const struct doca_buf *src;
	struct doca_buf *dst; /* an atomic's remote operand too */
	struct doca_buf *result;
	const struct sf_reg *local_reg, *remote_reg;	/* for sf_reg_known_by */
	const struct doca_sync_event_remote_net *event; /* the remote operand of tasks of sync events */
	doca_be32_t immediate;
	uint64_t compare, value;
	uint32_t result_len;
	uint64_t len;
	bool mapped;	      /* the local operand is another process's memory, mapped or bounced */
	doca_error_t verdict; /* not SUCCESS: it completes with this after earlier tasks */
	uint8_t header[RDMA_HEADER_SIZE];
	struct sf_op op;
	struct sf_iov iov[RDMA_LIST_MAX];
};

struct rdma_verb {
	struct sf_task_class cls;
	enum sf_op_kind kind;
	bool immediate;
	uint32_t need; /* the right that the peer's instance must grant, or 0 */
	/* For a verb whose remote operand is not a buffer. resolve fills op's region and address, iov and len for the
	 * kind, and rejects invalid tasks; settle follows a success. In between, if the local operand is mapped, land
	 * writes the data there. */
	doca_error_t (*resolve)(struct rdma_request *request);
	void (*land)(struct rdma_request *request);
	void (*settle)(struct rdma_request *request);
};

static inline const struct rdma_verb *rdma_request_verb(const struct rdma_request *request)
{
	return (const struct rdma_verb *)request->base.cls;
}
static inline struct doca_rdma *rdma_request_rdma(const struct rdma_request *request)
{
	return (struct doca_rdma *)request->base.ctx;
}

/* For *_allocate_init: base and connection are set, all else is 0. */
doca_error_t rdma_request_alloc(struct doca_rdma *rdma, enum rdma_pool pool, struct doca_rdma_connection *connection,
				union doca_data user_data, const void *place, struct rdma_request **request);
/* For *_set_conf. */
doca_error_t rdma_pool_configure(struct doca_rdma *rdma, enum rdma_pool pool, const struct sf_task_class *cls,
				 doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks);

/* For sf_task_class.inspect. */
void rdma_request_inspect(const struct doca_task *base);

#endif
