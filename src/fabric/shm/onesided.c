/* SPDX-License-Identifier: BSD-3-Clause */
/* Write, read and atomics through a link: access.c does them, the owner's agent what it cannot, and poll reports. */
#include "fabric/shm/access.h"
#include "fabric/shm/link.h"

#include <string.h>

#include "base/log.h"
#include "fabric/shm/submit.h"

/* The receive that a write with a header takes; its header is told when the bytes are there. */
static void tell(struct shm_link *link, const struct sf_op *op, doca_error_t status)
{
	const struct shm_claim *claim = &link->transfer.claim;
	bool good = status == DOCA_SUCCESS;
	struct shm_head head = {.kind = good ? SHM_RECORD_WRITE : SHM_RECORD_RELEASE,
				.header_len = good ? op->header_len : 0,
				.slot = claim->slot,
				.ticket = claim->ticket};

	if (op->kind != SF_OP_WRITE || op->header_len == 0)
		return;
	memcpy(shm_tx_next(&link->tx)->bytes, op->header, head.header_len);
	sf_shm_publish(link, &head, NULL);
}

void sf_shm_link_job_progress(struct shm_link *link)
{
	struct shm_job *job = &link->job;

	if (!atomic_load_explicit(&job->finished, memory_order_acquire))
		return;
	link->busy = SHM_BUSY_NOT;
	tell(link, job->op, job->status);
	shm_link_complete(link, job->op, job->status);
}

static void start_job(struct shm_link *link, struct sf_op *op, const struct shm_attach *attach, uint64_t len)
{
	link->job.op = op;
	link->job.peer = attach->peer;
	link->job.region = attach->region;
	link->job.len = len;
	sf_shm_accept_busy(link, op, SHM_BUSY_JOB);
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_job_start(&link->job);
	pthread_mutex_unlock(&sf_control_lock);
}

doca_error_t sf_shm_link_submit_one_sided(struct shm_link *link, struct sf_op *op, uint64_t len)
{
	const struct shm_attach *attach;
	doca_error_t status;

	if (!op->region->imported) {
		SF_LOG_ERR("a one-sided operation names memory of the process's own; import it, or use its address");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (op->kind == SF_OP_WRITE && op->header_len != 0) {
		if (!shm_tx_room(&link->tx, shm_record_lines(op->header_len, 0)))
			return DOCA_ERROR_AGAIN;
		status = sf_shm_claim(link, 0, false, &link->transfer.claim);
		if (status != DOCA_SUCCESS)
			return sf_shm_unclaimed(op, status);
	}
	attach = shm_import(op->region)->attach;

	enum shm_reach reach = sf_shm_attach_access(attach, op, len);

	if (reach == SHM_UNREACHED) {
		start_job(link, op, attach, len);
		return DOCA_SUCCESS;
	}
	status = reach == SHM_REACHED ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
	tell(link, op, status);
	sf_shm_accept_done(link, op, status);
	return DOCA_SUCCESS;
}
