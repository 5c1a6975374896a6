/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses the bytes of a region: by loads and stores if its pages are mapped, else by a system call, else by the owner's agent.
 * In the first two cases the owner is not involved, and may be stopped.
 */
#include "fabric/shm/access.h"

#include <assert.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/iov.h"
#include "fabric/shm/peer_memory.h"
#include "fabric/shm/region.h"

#define AGENT_LIMIT_NS UINT64_C(1000000000) /* of its silence */
#define CALL_IOV_MAX 16
#define CALL_LEN_MAX (UINT64_C(1) << 30) /* bytes of one system call: the kernel moves at most a page less than 2 GiB */

/* One range of the region and the matching local piece. */
static void copy_here(const struct sf_op *op, uint8_t *remote, uint64_t at, uint64_t len)
{
	if (op->kind == SF_OP_READ && op->iov_num == 1) {
		sf_bytes_read((uint8_t *)op->iov[0].addr + at, remote, len);
	} else if (op->kind == SF_OP_READ) {
		sf_iov_scatter(op->iov, op->iov_num, at, remote, len);
	} else if (op->iov_num == 1) {
		sf_bytes_write(remote, (const uint8_t *)op->iov[0].addr + at, len);
	} else if (len != 0) { /* the last byte is written last here too */
		sf_iov_gather(remote, op->iov, op->iov_num, at, len - 1);
		SHM_FENCE(memory_order_release);
		sf_iov_gather(remote + len - 1, op->iov, op->iov_num, at + len - 1, 1);
	}
}

static int local_pieces(const struct sf_op *op, uint64_t at, uint64_t *len, struct iovec *local)
{
	uint64_t taken = 0;
	int num = 0;

	for (uint32_t i = 0; i < op->iov_num && taken < *len && num < CALL_IOV_MAX; i++) {
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

static enum shm_reach copy_by_call(const struct sf_op *op, struct shm_peer *peer, uint64_t at, uint64_t *len)
{
	struct iovec local[CALL_IOV_MAX];

	if (*len > CALL_LEN_MAX)
		*len = CALL_LEN_MAX;

	int num = local_pieces(op, at, len, local);

	switch (sf_shm_peer_memory_copy(peer, local, num, op->remote_addr + at, len, op->kind == SF_OP_WRITE)) {
	case SHM_MEMORY_DONE:
		return SHM_REACHED;
	case SHM_MEMORY_GONE:
		return SHM_ENDED;
	default:
		return SHM_UNREACHED;
	}
}

static enum shm_reach bytes_copy(const struct sf_op *op, const struct shm_attach *attach, uint64_t len)
{
	uint64_t part;

	for (uint64_t at = 0; at < len; at += part) {
		part = len - at;

		uint8_t *remote = shm_attach_at(attach, op->remote_addr + at, &part);

		if (remote != NULL) {
			copy_here(op, remote, at, part);
			continue;
		}

		enum shm_reach reach = copy_by_call(op, attach->peer, at, &part);

		if (reach != SHM_REACHED)
			return reach;
	}
	return SHM_REACHED;
}

static enum shm_reach word_atomic(const struct sf_op *op, const struct shm_attach *attach)
{
	uint64_t len = sizeof(uint64_t);
	uint64_t *word = (uint64_t *)(void *)shm_attach_at(attach, op->remote_addr, &len);

	if (word == NULL)
		return SHM_UNREACHED;
	sf_op_atomic_run(op, word);
	return SHM_REACHED;
}

enum shm_reach sf_shm_attach_access(const struct shm_attach *attach, const struct sf_op *op, uint64_t len)
{
	enum shm_reach reach;

	assert(shm_attach_ready(attach));
	if (!sf_shm_attach_enter(attach))
		return SHM_ENDED;
	reach = op->kind == SF_OP_WRITE || op->kind == SF_OP_READ ? bytes_copy(op, attach, len) : word_atomic(op, attach);
	return sf_shm_attach_leave(attach) ? reach : SHM_ENDED;
}

static void job_notify(struct shm_job *job)
{
	pthread_cond_broadcast(&sf_control_changed);
}

static bool job_stands(const struct shm_job *job, uint64_t at)
{
	return !atomic_load_explicit(&job->finished, memory_order_relaxed) && job->at == at;
}

/* Asks the owner's agent and waits, as long as the agent makes progress. */
static doca_error_t by_agent(const struct shm_attach *attach, struct sf_op *op, uint64_t len)
{
	struct shm_job job = {.peer = attach->peer, .op = op, .region = attach->region, .len = len, .notify = job_notify};

	pthread_mutex_lock(&sf_control_lock);
	sf_shm_job_start(&job);
	while (!atomic_load_explicit(&job.finished, memory_order_relaxed)) {
		uint64_t at = job.at;
		struct sf_liveness answering;

		sf_liveness_begin(&answering);
		while (job_stands(&job, at) && sf_control_await(attach->peer->channel, &answering, AGENT_LIMIT_NS))
			;
		if (job_stands(&job, at)) {
			SF_LOG_ERR_LIMITED(
				"process %d does not answer for %lu bytes of its memory at 0x%lx that only it can access; is it "
				"stopped?",
				attach->peer->pid, (unsigned long)len, (unsigned long)op->remote_addr);
			sf_shm_job_cancel(&job);
			job.status = DOCA_ERROR_TIME_OUT;
			break;
		}
	}
	pthread_mutex_unlock(&sf_control_lock);
	return job.status;
}

doca_error_t sf_shm_region_access(struct sf_region *region, struct sf_op *op)
{
	const struct shm_attach *attach;
	uint64_t len;
	doca_error_t error = sf_access_check(region, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (!region->imported) {
		if (op->kind == SF_OP_WRITE || op->kind == SF_OP_READ)
			copy_here(op, (uint8_t *)(uintptr_t)op->remote_addr, 0, len);
		else
			sf_op_atomic_run(op, (uint64_t *)(uintptr_t)op->remote_addr);
		return DOCA_SUCCESS;
	}
	attach = shm_import(region)->attach;
	switch (sf_shm_attach_access(attach, op, len)) {
	case SHM_REACHED:
		return DOCA_SUCCESS;
	case SHM_UNREACHED:
		return by_agent(attach, op, len);
	default:
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}
