/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on a region without a connection: by the import's own queue pair, one thread at a time; memory of this process is
 * accessed directly. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/verbs/import.h"
#include "fabric/verbs/mr.h"
#include "fabric/verbs/region.h"

#define BOUNCE_SIZE ((size_t)64 << 10)	    /* for bytes that are in no region */
#define STALL_LIMIT_NS UINT64_C(1000000000) /* for the device, which gives up earlier by itself */
#define DRAIN_LIMIT_NS UINT64_C(100000000)

/* ---- our own memory ---- */

static doca_error_t own_access(const struct sf_op *op)
{
	char *remote = (char *)(uintptr_t)op->remote_addr; // NOLINT: the address was checked to lie in the region
	uint64_t *word = (uint64_t *)remote, old = op->compare;

	if (op->kind == SF_OP_CAS || op->kind == SF_OP_FAA) {
		if (op->kind == SF_OP_FAA)
			old = __atomic_fetch_add(word, op->value, __ATOMIC_SEQ_CST);
		else
			__atomic_compare_exchange_n(word, &old, op->value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		memcpy(op->iov[0].addr, &old, sizeof(old));
		return DOCA_SUCCESS;
	}
	for (uint32_t i = 0; i < op->iov_num; i++) {
		if (op->iov[i].len == 0)
			continue;
		if (op->kind == SF_OP_WRITE)
			memmove(remote, op->iov[i].addr, op->iov[i].len);
		else
			memmove(op->iov[i].addr, remote, op->iov[i].len);
		remote += op->iov[i].len;
	}
	return DOCA_SUCCESS;
}

/* ---- through the device ---- */

/* The queue pair is unusable; posted work is flushed when this returns. */
static void give_up(struct vb_import *import)
{
	uint64_t limit = sf_now_ns() + DRAIN_LIMIT_NS;
	struct ibv_wc wc;

	import->broken = true;
	sf_verbs_qp_fail(import->qp);
	while (ibv_poll_cq(import->cq, 1, &wc) == 0 && sf_now_ns() < limit)
		;
}

static doca_error_t wait_done(struct vb_import *import)
{
	uint64_t limit = sf_now_ns() + STALL_LIMIT_NS;
	struct ibv_wc wc;
	int num;

	while ((num = ibv_poll_cq(import->cq, 1, &wc)) == 0) {
		if (!atomic_load_explicit(&import->dead, memory_order_relaxed) && sf_now_ns() < limit)
			continue;
		give_up(import);
		if (atomic_load(&import->dead))
			return DOCA_ERROR_CONNECTION_ABORTED;
		SF_LOG_ERR_LIMITED("the RDMA device got no answer for a second");
		return DOCA_ERROR_TIME_OUT;
	}
	if (num == 1 && wc.status == IBV_WC_SUCCESS)
		return DOCA_SUCCESS;
	import->broken = true;
	SF_LOG_ERR_LIMITED("cannot access the owner's memory: %s",
			   num == 1 ? sf_verbs_lib.wc_status_str(wc.status) : "no completion");
	return DOCA_ERROR_CONNECTION_ABORTED;
}

static doca_error_t access_post(struct vb_import *import, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(import->qp, wr, &bad) != 0) {
		import->broken = true;
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	return wait_done(import);
}

static doca_error_t access_transfer(struct vb_import *import, enum sf_op_kind kind, uint64_t remote, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {.sg_list = sge, .num_sge = 1};

	wr.opcode = kind == SF_OP_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = import->rkey;
	return access_post(import, &wr);
}

static doca_error_t access_direct(struct vb_import *import, enum sf_op_kind kind, uint64_t remote, const struct sf_iov *piece,
				  const struct vb_mr *mr)
{
	uint32_t split = vb_domain(import->base.domain)->split;
	doca_error_t error = DOCA_SUCCESS;

	for (size_t at = 0; at < piece->len && error == DOCA_SUCCESS; at += split) {
		struct ibv_sge sge = {.addr = (uintptr_t)piece->addr + at, .lkey = mr->mr->lkey};

		sge.length = (uint32_t)(piece->len - at < split ? piece->len - at : split);
		error = access_transfer(import, kind, remote + at, &sge);
	}
	return error;
}

static doca_error_t access_bounced(struct vb_import *import, enum sf_op_kind kind, uint64_t remote, const struct sf_iov *piece)
{
	doca_error_t error = DOCA_SUCCESS;

	for (size_t at = 0, len; at < piece->len && error == DOCA_SUCCESS; at += len) {
		struct ibv_sge sge = {.addr = (uintptr_t)import->bounce, .lkey = import->bounce_mr->mr->lkey};

		len = piece->len - at < BOUNCE_SIZE ? piece->len - at : BOUNCE_SIZE;
		sge.length = (uint32_t)len;
		if (kind == SF_OP_WRITE)
			memcpy(import->bounce, (char *)piece->addr + at, len);
		error = access_transfer(import, kind, remote + at, &sge);
		if (error == DOCA_SUCCESS && kind == SF_OP_READ)
			memcpy((char *)piece->addr + at, import->bounce, len);
	}
	return error;
}

static doca_error_t sided_access(struct vb_import *import, const struct sf_op *op)
{
	uint64_t remote = op->remote_addr;
	doca_error_t error = DOCA_SUCCESS;

	for (uint32_t i = 0; i < op->iov_num && error == DOCA_SUCCESS; i++) {
		const struct sf_iov *piece = &op->iov[i];
		struct vb_mr *mr = NULL;

		if (piece->len == 0)
			continue;
		if (piece->len > sizeof(uint64_t)) /* copying a word is faster than looking up its registration */
			mr = sf_verbs_mr_find(vb_domain(import->base.domain), piece->addr, piece->len);
		error = mr != NULL ? access_direct(import, op->kind, remote, piece, mr)
				   : access_bounced(import, op->kind, remote, piece);
		sf_verbs_mr_put(mr);
		remote += piece->len;
	}
	return error;
}

static doca_error_t atomic_access(struct vb_import *import, const struct sf_op *op)
{
	struct ibv_sge sge = {(uintptr_t)import->bounce, sizeof(uint64_t), import->bounce_mr->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1};
	doca_error_t error;

	wr.opcode = op->kind == SF_OP_CAS ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = op->remote_addr;
	wr.wr.atomic.rkey = import->rkey;
	wr.wr.atomic.compare_add = op->kind == SF_OP_CAS ? op->compare : op->value;
	wr.wr.atomic.swap = op->value;
	error = access_post(import, &wr);
	if (error == DOCA_SUCCESS)
		memcpy(op->iov[0].addr, import->bounce, sizeof(uint64_t));
	return error;
}

static doca_error_t bounce_open(struct vb_import *import)
{
	if (import->bounce_mr != NULL)
		return DOCA_SUCCESS;
	if (import->bounce == NULL)
		import->bounce = aligned_alloc(4096, BOUNCE_SIZE);
	if (import->bounce == NULL)
		return DOCA_ERROR_NO_MEMORY;
	import->bounce_mr = sf_verbs_mr_make(vb_domain(import->base.domain), import->bounce, BOUNCE_SIZE, IBV_ACCESS_LOCAL_WRITE);
	return import->bounce_mr != NULL ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static doca_error_t import_access(struct vb_import *import, const struct sf_op *op)
{
	doca_error_t error;

	pthread_mutex_lock(&import->access);
	error = sf_verbs_import_enter(import);
	if (error == DOCA_SUCCESS) {
		error = import->broken ? DOCA_ERROR_CONNECTION_ABORTED : bounce_open(import);
		if (error == DOCA_SUCCESS)
			error = op->kind == SF_OP_CAS || op->kind == SF_OP_FAA ? atomic_access(import, op)
									       : sided_access(import, op);
		if (op->kind != SF_OP_READ)
			sf_verbs_import_moved(import);
		sf_verbs_import_leave(import);
	}
	pthread_mutex_unlock(&import->access);
	return error;
}

doca_error_t sf_verbs_region_access(struct sf_region *region, struct sf_op *op)
{
	uint64_t len;
	doca_error_t error = sf_access_check(region, op, &len);

	if (error != DOCA_SUCCESS)
		return error;
	if (vb_domain(region->domain)->generation != sf_control_generation())
		return DOCA_ERROR_CONNECTION_ABORTED; /* the parent's */
	return region->imported ? import_access((struct vb_import *)region, op) : own_access(op);
}
