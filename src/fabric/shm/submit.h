/* SPDX-License-Identifier: BSD-3-Clause */
/* What all kinds of operations share: claiming a receive, publishing a record, accepting an operation. */
#ifndef SF_FABRIC_SHM_SUBMIT_H
#define SF_FABRIC_SHM_SUBMIT_H

#include "fabric/shm/conn.h"

/* Claims the peer's first receive if it holds len bytes; pieces: also reads their addresses. AGAIN, TOO_BIG. */
doca_error_t sf_shm_conn_claim_recv(struct shm_conn *conn, uint64_t len, bool pieces, struct shm_claim *claim);
/* The result of a submit whose claim ended so: a missing receive and missing room are different kinds of AGAIN. */
static inline doca_error_t sf_shm_unclaimed(struct sf_op *op, doca_error_t error)
{
	if (error == DOCA_ERROR_AGAIN)
		op->status = DOCA_ERROR_EMPTY;
	return error;
}

/* Publishes the record at shm_tx_next to the peer, and wakes the peer if it waits. */
void sf_shm_conn_publish(struct shm_conn *conn, const struct shm_head *head, const uint8_t *first);

/* Accepts the operation: it is done from the next poll, or when the work that keeps the connection busy is done. */
void sf_shm_accept_done(struct shm_conn *conn, struct sf_op *op, doca_error_t status);
void sf_shm_accept_busy(struct shm_conn *conn, struct sf_op *op, enum shm_conn_busy busy);

/* transfer.c: a message that fits into no record. AGAIN if it cannot begin. */
doca_error_t sf_shm_conn_send_long(struct shm_conn *conn, struct sf_op *op, uint64_t len);

#endif
