/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Write, read and atomics on an imported region: loads and stores where its pages are mapped, process_vm_* where they are
 * not, and the owner's agent for the rest. The owner's program takes no part, and may be stopped, in the first two cases.
 */
#include "fabric/shm/link.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/log.h"
#include "fabric/shm/submit.h"

#define VM_IOV_MAX 16

enum reach {
	REACHED,
	UNREACHED, /* not from here: the agent must do it */
	ENDED,	   /* the owner's memory is not there any more */
};

/* One stretch of the region and the local piece it meets. */
static void copy_mapped(const struct sf_op *op, uint8_t *remote, uint64_t at, uint64_t len)
{
	if (op->kind == SF_OP_WRITE)
		sf_shm_iov_gather(remote, op->iov, op->iov_num, at, len);
	else
		sf_shm_iov_scatter(op->iov, op->iov_num, at, remote, len);
}

static int local_pieces(const struct sf_op *op, uint64_t at, uint64_t *len, struct iovec *local)
{
	uint64_t taken = 0;
	int num = 0;

	for (uint32_t i = 0; i < op->iov_num && taken < *len && num < VM_IOV_MAX; i++) {
		if (at >= op->iov[i].len) {
			at -= op->iov[i].len;
			continue;
		}
		uint64_t part = op->iov[i].len - at < *len - taken ? op->iov[i].len - at : *len - taken;

		local[num++] = (struct iovec){.iov_base = (uint8_t *)op->iov[i].addr + at, .iov_len = part};
		taken += part;
		at = 0;
	}
	*len = taken;
	return num;
}

static enum reach copy_vm(const struct sf_op *op, struct shm_peer *peer, uint64_t at, uint64_t *len)
{
	struct iovec local[VM_IOV_MAX], remote = {.iov_base = (void *)(uintptr_t)(op->remote_addr + at)};
	int num = local_pieces(op, at, len, local);
	ssize_t done;

	if (peer->pid == 0 || atomic_load_explicit(&peer->no_vm, memory_order_relaxed))
		return UNREACHED;
	remote.iov_len = *len;
	if (op->kind == SF_OP_WRITE)
		done = process_vm_writev(peer->pid, local, (unsigned long)num, &remote, 1, 0);
	else
		done = process_vm_readv(peer->pid, local, (unsigned long)num, &remote, 1, 0);
	if (done == (ssize_t)*len)
		return REACHED;
	if (done < 0 && errno == ESRCH)
		return ENDED;
	if (done < 0 && errno != EFAULT && !atomic_exchange(&peer->no_vm, true))
		SF_LOG_INFO("cannot reach into process %d directly (%s): memory that is not whole pages is left to its agent",
			    peer->pid, strerror(errno));
	return UNREACHED;
}

static enum reach copy(const struct sf_op *op, const struct shm_attach *attach, uint64_t len)
{
	uint64_t part;

	for (uint64_t at = 0; at < len; at += part) {
		part = len - at;

		uint8_t *remote = shm_attach_at(attach, op->remote_addr + at, &part);

		if (remote != NULL) {
			copy_mapped(op, remote, at, part);
			continue;
		}

		enum reach reach = copy_vm(op, attach->peer, at, &part);

		if (reach != REACHED)
			return reach;
	}
	return REACHED;
}

static enum reach atomic(const struct sf_op *op, const struct shm_attach *attach)
{
	uint64_t len = sizeof(uint64_t), old = op->compare;
	uint64_t *word = (uint64_t *)(void *)shm_attach_at(attach, op->remote_addr, &len);

	if (word == NULL)
		return UNREACHED;
	if (op->kind == SF_OP_FAA)
		old = __atomic_fetch_add(word, op->value, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &old, op->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	memcpy(op->iov[0].addr, &old, sizeof(old));
	return REACHED;
}

static enum reach touch(const struct sf_op *op, const struct shm_attach *attach, uint64_t len)
{
	enum reach reach;

	if (!sf_shm_attach_enter(attach))
		return ENDED;
	reach = op->kind == SF_OP_WRITE || op->kind == SF_OP_READ ? copy(op, attach, len) : atomic(op, attach);
	return sf_shm_attach_leave(attach) ? reach : ENDED;
}

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
	pthread_mutex_lock(&sf_shm_lock);
	sf_shm_job_start(&link->job);
	pthread_mutex_unlock(&sf_shm_lock);
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
			return status;
	}
	attach = shm_import(op->region)->attach;

	enum reach reach = touch(op, attach, len);

	if (reach == UNREACHED) {
		start_job(link, op, attach, len);
		return DOCA_SUCCESS;
	}
	status = reach == REACHED ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
	tell(link, op, status);
	sf_shm_accept_done(link, op, status);
	return DOCA_SUCCESS;
}
