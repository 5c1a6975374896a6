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

/* What the link and the region must be for a step at once; no answer means that the long way finds out why. */
static inline uint8_t *reach_at_once(const struct sf_op *op, const struct shm_attach *attach, uint64_t *len)
{
	static const uint8_t need[] = {[SF_OP_WRITE] = SF_RIGHT_WRITE,
				       [SF_OP_READ] = SF_RIGHT_READ,
				       [SF_OP_CAS] = SF_RIGHT_ATOMIC,
				       [SF_OP_FAA] = SF_RIGHT_ATOMIC};
	const struct sf_region *region = op->region;
	uint64_t wanted = *len;

	if (op->kind > SF_OP_FAA || (region->rights & need[op->kind]) == 0 || wanted - 1 >= SF_TRANSFER_MAX ||
	    !sf_range_inside(op->remote_addr, wanted, region->addr, region->len) || attach->peer->self ||
	    !shm_attach_valid(attach))
		return NULL;
	uint8_t *remote = shm_attach_at(attach, op->remote_addr, len);
	return *len == wanted ? remote : NULL;
}

bool sf_shm_one_sided_at_once(struct shm_link *link, struct sf_op *op)
{
	const struct shm_attach *attach;
	uint64_t len = op->iov[0].len;
	uint8_t *remote;

	if (op->region == NULL || !op->region->imported)
		return false;
	attach = shm_import(op->region)->attach;
	remote = reach_at_once(op, attach, &len);
	if (remote == NULL)
		return false;
	if (op->kind == SF_OP_WRITE)
		sf_bytes_write(remote, op->iov[0].addr, len);
	else if (op->kind == SF_OP_READ)
		sf_bytes_read(op->iov[0].addr, remote, len);
	else if (len == sizeof(uint64_t) && op->remote_addr % sizeof(uint64_t) == 0)
		shm_atomic_here(op, (uint64_t *)(void *)remote);
	else
		return false;
	SHM_FENCE(memory_order_acquire);
	op->link = &link->base;
	link->in_flight++;
	shm_link_complete(link, op, shm_attach_valid(attach) ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED);
	return true;
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
