/* SPDX-License-Identifier: BSD-3-Clause */
/* Write, read and atomics through a connection: access.c executes them, the owner's agent executes the rest, and poll reports. */
#include "fabric/shm/access.h"
#include "fabric/shm/conn.h"

#include <string.h>

#include "base/log.h"
#include "fabric/shm/submit.h"
#include "fabric/shm/trace.h"

/* The receive of a write with a header. The header is published once the bytes are written. */
static void write_notify(struct shm_conn *conn, const struct sf_op *op, doca_error_t status)
{
	const struct shm_claim *claim = &conn->transfer.claim;
	bool good = status == DOCA_SUCCESS;
	struct shm_head head = {.kind = good ? SHM_RECORD_WRITE : SHM_RECORD_RELEASE,
				.header_len = good ? op->header_len : 0,
				.slot = claim->slot,
				.ticket = claim->ticket};

	if (op->kind != SF_OP_WRITE || op->header_len == 0)
		return;
	memcpy(shm_tx_next(&conn->tx)->bytes, op->header, head.header_len);
	sf_shm_conn_publish(conn, &head, NULL);
}

void sf_shm_conn_job_progress(struct shm_conn *conn)
{
	struct shm_job *job = &conn->job;

	if (!atomic_load_explicit(&job->finished, memory_order_acquire))
		return;
	conn->busy = SHM_BUSY_NOT;
	write_notify(conn, job->op, job->status);
	shm_conn_complete(conn, job->op, job->status);
}

static void start_job(struct shm_conn *conn, struct sf_op *op, const struct shm_attach *attach, uint64_t len)
{
	conn->job.op = op;
	conn->job.peer = attach->peer;
	conn->job.region = attach->region;
	conn->job.len = len;
	sf_shm_accept_busy(conn, op, SHM_BUSY_JOB);
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_job_start(&conn->job);
	pthread_mutex_unlock(&sf_control_lock);
}

doca_error_t sf_shm_conn_submit_one_sided(struct shm_conn *conn, struct sf_op *op, uint64_t len)
{
	const struct shm_attach *attach;
	doca_error_t status;

	if (!op->region->imported) {
		SF_LOG_ERR("a one-sided operation names the process's own memory; import it, or use its address");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (op->kind == SF_OP_WRITE && op->header_len != 0) {
		if (!shm_tx_room(&conn->tx, shm_record_lines(op->header_len, 0)))
			return DOCA_ERROR_AGAIN;
		status = sf_shm_conn_claim_recv(conn, 0, false, &conn->transfer.claim);
		if (status != DOCA_SUCCESS)
			return sf_shm_unclaimed(op, status);
	}
	attach = shm_import(op->region)->attach;
	shm_trace_send(conn, op, op->header_len != 0 ? conn->transfer.claim.ticket : SHM_NO_TICKET, len);

	enum shm_reach reach = sf_shm_attach_access(attach, op, len);

	if (reach == SHM_UNREACHED) {
		start_job(conn, op, attach, len);
		return DOCA_SUCCESS;
	}
	status = reach == SHM_REACHED ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
	write_notify(conn, op, status);
	sf_shm_accept_done(conn, op, status);
	return DOCA_SUCCESS;
}
