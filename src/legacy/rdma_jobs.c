/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA jobs: each is one of today's tasks, which a slot takes from the instance's pool and keeps until its next job. */
#include <stdlib.h>

#include <doca_buf.h>

#include "legacy/rdma.h"
#include "legacy/workq.h"

enum { WORD_TYPE }; /* the pool of the slot's task */

/* struct doca_rdma_result of the 2.2 header, which cannot be included: its names clash with today's. */
struct rdma_result {
	doca_error_t result;
	int opcode;
	uint32_t length;
	void *rdma_peer_addr;
	doca_be32_t immediate_data;
};

static struct legacy_rdma *rdma_of(const struct legacy_slot *slot)
{
	return (struct legacy_rdma *)slot->entry.lane->ctx;
}

/* ---- pools ---- */

doca_error_t legacy_rdma_pools_init(struct legacy_rdma *rdma)
{
	for (uint32_t i = 0; i < LEGACY_RDMA_TYPES; i++) {
		struct legacy_rdma_pool *pool = &rdma->pools[i];

		*pool = (struct legacy_rdma_pool){.max = i == 0 ? rdma->recv_queue_size : rdma->send_queue_size};
		pool->free = calloc(pool->max, sizeof(struct doca_task *));
		if (pool->free == NULL) {
			SF_LOG_ERR("no memory for an RDMA instance with queues of %u and %u", rdma->send_queue_size,
				   rdma->recv_queue_size);
			legacy_rdma_pools_fini(rdma);
			return DOCA_ERROR_NO_MEMORY;
		}
	}
	return DOCA_SUCCESS;
}

void legacy_rdma_pools_fini(struct legacy_rdma *rdma)
{
	for (uint32_t i = 0; i < LEGACY_RDMA_TYPES; i++) {
		struct legacy_rdma_pool *pool = &rdma->pools[i];

		while (pool->num_free > 0)
			doca_task_free(pool->free[--pool->num_free]);
		free(pool->free);
		*pool = (struct legacy_rdma_pool){.free = NULL};
	}
}

void legacy_rdma_task_give_back(struct legacy_slot *slot)
{
	struct legacy_rdma_pool *pool = &rdma_of(slot)->pools[slot->words[WORD_TYPE]];

	if (slot->task != NULL)
		pool->free[pool->num_free++] = slot->task;
	slot->task = NULL;
}

/* Takes back the tasks that free slots have kept from their last job. */
static void pool_refill(struct legacy_lane *lane)
{
	for (struct legacy_entry *entry = lane->free; entry != NULL; entry = entry->next)
		legacy_rdma_task_give_back((struct legacy_slot *)entry);
}

static doca_error_t task_alloc(struct legacy_rdma *rdma, int type, struct doca_task **task)
{
	const union doca_data none = {.u64 = 0};
	struct doca_rdma_connection *connection = rdma->connection;

	/* A pointer to a task of any type also points to its struct doca_task, as today's headers guarantee. */
	switch (type) {
	case DOCA_RDMA_JOB_RECV:
		return doca_rdma_task_receive_allocate_init(rdma->rdma, NULL, none, (struct doca_rdma_task_receive **)task);
	case DOCA_RDMA_JOB_SEND:
		return doca_rdma_task_send_allocate_init(rdma->rdma, connection, NULL, none, (struct doca_rdma_task_send **)task);
	case DOCA_RDMA_JOB_SEND_IMM:
		return doca_rdma_task_send_imm_allocate_init(rdma->rdma, connection, NULL, 0, none,
							     (struct doca_rdma_task_send_imm **)task);
	case DOCA_RDMA_JOB_READ:
		return doca_rdma_task_read_allocate_init(rdma->rdma, connection, NULL, NULL, none,
							 (struct doca_rdma_task_read **)task);
	case DOCA_RDMA_JOB_WRITE:
		return doca_rdma_task_write_allocate_init(rdma->rdma, connection, NULL, NULL, none,
							  (struct doca_rdma_task_write **)task);
	case DOCA_RDMA_JOB_WRITE_IMM:
		return doca_rdma_task_write_imm_allocate_init(rdma->rdma, connection, NULL, NULL, 0, none,
							      (struct doca_rdma_task_write_imm **)task);
	case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
		return doca_rdma_task_atomic_cmp_swp_allocate_init(rdma->rdma, connection, NULL, NULL, 0, 0, none,
								   (struct doca_rdma_task_atomic_cmp_swp **)task);
	default:
		return doca_rdma_task_atomic_fetch_add_allocate_init(rdma->rdma, connection, NULL, NULL, 0, none,
								     (struct doca_rdma_task_atomic_fetch_add **)task);
	}
}

/* Gets a task for a slot. NO_MEMORY if the type's queue is full of jobs in flight. */
static doca_error_t task_take(struct legacy_slot *slot, int type)
{
	struct legacy_rdma *rdma = rdma_of(slot);
	struct legacy_rdma_pool *pool = &rdma->pools[type - DOCA_RDMA_JOB_RECV];
	doca_error_t result;

	legacy_rdma_task_give_back(slot);
	if (pool->num_free == 0 && pool->num == pool->max)
		pool_refill(slot->entry.lane);
	slot->words[WORD_TYPE] = (uint64_t)(type - DOCA_RDMA_JOB_RECV);
	if (pool->num_free > 0) {
		slot->task = pool->free[--pool->num_free];
		doca_task_set_user_data(slot->task, (union doca_data){.ptr = slot});
		return DOCA_SUCCESS;
	}
	if (pool->num == pool->max)
		return DOCA_ERROR_NO_MEMORY;
	result = task_alloc(rdma, type, &slot->task);
	if (result != DOCA_SUCCESS) {
		slot->task = NULL;
		return result;
	}
	pool->num++;
	doca_task_set_user_data(slot->task, (union doca_data){.ptr = slot});
	return DOCA_SUCCESS;
}

/* ---- jobs ---- */

/* NVIDIA's sample that receives immediate data posts a buf that is full of data, and expects the message at its start. */
static void room_make(struct doca_buf *buf)
{
	size_t len = 0, data_len = 0;
	void *head, *data;

	if (buf == NULL || doca_buf_get_head(buf, &head) != DOCA_SUCCESS || doca_buf_get_len(buf, &len) != DOCA_SUCCESS ||
	    doca_buf_get_data(buf, &data) != DOCA_SUCCESS || doca_buf_get_data_len(buf, &data_len) != DOCA_SUCCESS)
		return;
	if (data_len != 0 && (uint8_t *)data + data_len == (uint8_t *)head + len)
		doca_buf_set_data(buf, data, 0);
}

static void load_recv(struct legacy_slot *slot, const struct doca_rdma_job_recv *job)
{
	room_make(job->dst_buff);
	doca_rdma_task_receive_set_dst_buf((struct doca_rdma_task_receive *)slot->task, job->dst_buff);
}

static void load_send(struct legacy_slot *slot, const struct doca_rdma_job_send *job)
{
	if (job->base.type == DOCA_RDMA_JOB_SEND) {
		doca_rdma_task_send_set_src_buf((struct doca_rdma_task_send *)slot->task, job->src_buff);
		return;
	}
	doca_rdma_task_send_imm_set_src_buf((struct doca_rdma_task_send_imm *)slot->task, job->src_buff);
	doca_rdma_task_send_imm_set_immediate_data((struct doca_rdma_task_send_imm *)slot->task, job->immediate_data);
}

static void load_read_write(struct legacy_slot *slot, const struct doca_rdma_job_read_write *job)
{
	switch (job->base.type) {
	case DOCA_RDMA_JOB_READ:
		doca_rdma_task_read_set_src_buf((struct doca_rdma_task_read *)slot->task, job->src_buff);
		doca_rdma_task_read_set_dst_buf((struct doca_rdma_task_read *)slot->task, job->dst_buff);
		break;
	case DOCA_RDMA_JOB_WRITE:
		doca_rdma_task_write_set_src_buf((struct doca_rdma_task_write *)slot->task, job->src_buff);
		doca_rdma_task_write_set_dst_buf((struct doca_rdma_task_write *)slot->task, job->dst_buff);
		break;
	default:
		doca_rdma_task_write_imm_set_src_buf((struct doca_rdma_task_write_imm *)slot->task, job->src_buff);
		doca_rdma_task_write_imm_set_dst_buf((struct doca_rdma_task_write_imm *)slot->task, job->dst_buff);
		doca_rdma_task_write_imm_set_immediate_data((struct doca_rdma_task_write_imm *)slot->task, job->immediate_data);
	}
}

static void load_atomic(struct legacy_slot *slot, const struct doca_rdma_job_atomic *job)
{
	if (job->base.type == DOCA_RDMA_JOB_ATOMIC_CMP_SWP) {
		struct doca_rdma_task_atomic_cmp_swp *task = (struct doca_rdma_task_atomic_cmp_swp *)slot->task;

		doca_rdma_task_atomic_cmp_swp_set_dst_buf(task, job->cmp_or_add_dest_buff);
		doca_rdma_task_atomic_cmp_swp_set_result_buf(task, job->result_buff);
		doca_rdma_task_atomic_cmp_swp_set_cmp_data(task, job->cmp_data);
		doca_rdma_task_atomic_cmp_swp_set_swap_data(task, job->swap_or_add_data);
	} else {
		struct doca_rdma_task_atomic_fetch_add *task = (struct doca_rdma_task_atomic_fetch_add *)slot->task;

		doca_rdma_task_atomic_fetch_add_set_dst_buf(task, job->cmp_or_add_dest_buff);
		doca_rdma_task_atomic_fetch_add_set_result_buf(task, job->result_buff);
		doca_rdma_task_atomic_fetch_add_set_add_data(task, job->swap_or_add_data);
	}
}

doca_error_t legacy_rdma_load(struct legacy_slot *slot, const struct doca_job *job)
{
	doca_error_t result;

	if (job->type != DOCA_RDMA_JOB_RECV && rdma_of(slot)->state == LEGACY_RDMA_INIT) {
		SF_LOG_ERR("RDMA job of type 0x%x: the instance is not connected: call doca_rdma_connect first",
			   (unsigned int)job->type);
		return DOCA_ERROR_BAD_STATE;
	}
	result = task_take(slot, job->type);
	if (result != DOCA_SUCCESS)
		return result;
	switch (job->type) {
	case DOCA_RDMA_JOB_RECV:
		load_recv(slot, (const struct doca_rdma_job_recv *)job);
		break;
	case DOCA_RDMA_JOB_SEND:
	case DOCA_RDMA_JOB_SEND_IMM:
		load_send(slot, (const struct doca_rdma_job_send *)job);
		break;
	case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
	case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
		load_atomic(slot, (const struct doca_rdma_job_atomic *)job);
		break;
	default:
		load_read_write(slot, (const struct doca_rdma_job_read_write *)job);
	}
	return DOCA_SUCCESS;
}

/* Writes the result to the program's result.ptr, unless that is NULL. */
void legacy_rdma_report(const struct legacy_slot *slot, union doca_data *result)
{
	const struct doca_rdma_task_receive *task = (const struct doca_rdma_task_receive *)slot->task;
	struct rdma_result *to = result->ptr;

	if (to == NULL)
		return;
	*to = (struct rdma_result){.result = slot->entry.status};
	if (slot->entry.type != DOCA_RDMA_JOB_RECV || slot->entry.status != DOCA_SUCCESS)
		return;
	to->opcode = (int)doca_rdma_task_receive_get_result_opcode(task);
	to->length = doca_rdma_task_receive_get_result_len(task);
	to->immediate_data = doca_rdma_task_receive_get_result_immediate_data(task);
}
