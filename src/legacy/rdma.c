/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy/rdma.h"

#include <stdlib.h>

#include "legacy/workq.h"

#define RDMA_SLOTS_MAX 8192
#define QUEUE_SIZE_DEFAULT 128
#define CALLBACK(type) (doca_rdma_task_##type##_completion_cb_t) legacy_task_ended

/* ---- today's instance ---- */

static doca_error_t tasks_configure(const struct legacy_rdma *rdma)
{
	uint32_t num = rdma->send_queue_size;
	doca_error_t result =
		doca_rdma_task_receive_set_conf(rdma->rdma, CALLBACK(receive), CALLBACK(receive), rdma->recv_queue_size);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_receive_set_dst_buf_list_len(rdma->rdma, rdma->recv_list_len);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_send_set_conf(rdma->rdma, CALLBACK(send), CALLBACK(send), num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_send_imm_set_conf(rdma->rdma, CALLBACK(send_imm), CALLBACK(send_imm), num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_read_set_conf(rdma->rdma, CALLBACK(read), CALLBACK(read), num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_write_set_conf(rdma->rdma, CALLBACK(write), CALLBACK(write), num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_write_imm_set_conf(rdma->rdma, CALLBACK(write_imm), CALLBACK(write_imm), num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_atomic_cmp_swp_set_conf(rdma->rdma, CALLBACK(atomic_cmp_swp), CALLBACK(atomic_cmp_swp),
								num);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_atomic_fetch_add_set_conf(rdma->rdma, CALLBACK(atomic_fetch_add),
								  CALLBACK(atomic_fetch_add), num);
	return result;
}

/* Jobs may have lists of the device's maximum length. */
static doca_error_t properties_apply(const struct legacy_rdma *rdma)
{
	uint32_t list_len = 1;
	doca_error_t result = doca_rdma_cap_get_max_send_buf_list_len(doca_dev_as_devinfo(rdma->ctx.dev), &list_len);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_max_send_buf_list_len(rdma->rdma, list_len);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_send_queue_size(rdma->rdma, rdma->send_queue_size);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_permissions(rdma->rdma, rdma->permissions);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_mtu(rdma->rdma, rdma->mtu);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_gid_index(rdma->rdma, rdma->gid_index);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_sl(rdma->rdma, rdma->sl);
	return result;
}

static void connection_over(struct doca_rdma_connection *connection, union doca_data connection_user_data,
			    union doca_data ctx_user_data)
{
	struct legacy_rdma *rdma = ctx_user_data.ptr;

	(void)connection_user_data;
	if (connection == rdma->connection)
		rdma->state = LEGACY_RDMA_ERROR;
}

static void connection_made(struct doca_rdma_connection *connection, union doca_data connection_user_data,
			    union doca_data ctx_user_data)
{
	(void)connection;
	(void)connection_user_data;
	(void)ctx_user_data;
}

static doca_error_t instance_start(struct legacy_rdma *rdma)
{
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma->rdma);
	doca_error_t result = properties_apply(rdma);

	if (result == DOCA_SUCCESS)
		result = tasks_configure(rdma);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, (union doca_data){.ptr = rdma});
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_connection_state_callbacks(rdma->rdma, NULL, connection_made, connection_over,
								  connection_over);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(rdma->pe, ctx);
	return result == DOCA_SUCCESS ? doca_ctx_start(ctx) : result;
}

static void instance_end(struct legacy_rdma *rdma)
{
	if (rdma->rdma != NULL)
		doca_rdma_destroy(rdma->rdma);
	if (rdma->pe != NULL)
		doca_pe_destroy(rdma->pe);
	rdma->rdma = NULL;
	rdma->pe = NULL;
	rdma->connection = NULL;
	rdma->details = NULL;
	rdma->state = LEGACY_RDMA_RESET;
}

/* ---- as a context ---- */

static doca_error_t rdma_start(struct legacy_ctx *ctx)
{
	struct legacy_rdma *rdma = (struct legacy_rdma *)ctx;
	doca_error_t result = doca_pe_create(&rdma->pe);

	if (result != DOCA_SUCCESS) {
		rdma->pe = NULL;
		return result;
	}
	result = doca_rdma_create(ctx->dev, &rdma->rdma);
	if (result == DOCA_SUCCESS)
		result = instance_start(rdma);
	if (result == DOCA_SUCCESS) {
		result = legacy_rdma_pools_init(rdma);
		if (result != DOCA_SUCCESS)
			legacy_ctx_end(rdma->pe, doca_rdma_as_ctx(rdma->rdma));
	}
	if (result != DOCA_SUCCESS) {
		instance_end(rdma);
		return result;
	}
	rdma->state = LEGACY_RDMA_INIT;
	return DOCA_SUCCESS;
}

static doca_error_t rdma_stop(struct legacy_ctx *ctx)
{
	struct legacy_rdma *rdma = (struct legacy_rdma *)ctx;

	legacy_rdma_pools_fini(rdma);
	legacy_ctx_end(rdma->pe, doca_rdma_as_ctx(rdma->rdma));
	instance_end(rdma);
	return DOCA_SUCCESS;
}

static doca_error_t rdma_open(struct legacy_lane *lane)
{
	doca_notification_handle_t handle;
	doca_error_t result;

	lane->pe = ((struct legacy_rdma *)lane->ctx)->pe;
	lane->object = ((struct legacy_rdma *)lane->ctx)->rdma;
	result = doca_pe_get_notification_handle(lane->pe, &handle);
	return result == DOCA_SUCCESS ? sf_ctx_watch_fd(&lane->workq->base, handle) : result;
}

static void rdma_close(struct legacy_lane *lane)
{
	doca_notification_handle_t handle;

	for (uint32_t i = 0; i < lane->num_slots; i++)
		legacy_rdma_task_give_back(&lane->slots[i]);
	if (doca_pe_get_notification_handle(lane->pe, &handle) == DOCA_SUCCESS)
		sf_ctx_unwatch_fd(&lane->workq->base, handle);
}

/* A slot gets its task at load, because the job determines the task's type and connection. */
static doca_error_t rdma_slot_init(struct legacy_lane *lane, struct legacy_slot *slot)
{
	(void)lane;
	slot->task = NULL;
	return DOCA_SUCCESS;
}

static doca_error_t rdma_check_dev(const struct doca_devinfo *devinfo)
{
	return doca_rdma_cap_task_send_is_supported(devinfo);
}

static const struct legacy_ctx_ops rdma_ops = {
	.name = "RDMA",
	.first_type = DOCA_RDMA_JOB_RECV,
	.last_type = DOCA_RDMA_JOB_ATOMIC_FETCH_ADD,
	.slots_max = RDMA_SLOTS_MAX,
	.needs_dev = true,
	.one_queue = true,
	.check_dev = rdma_check_dev,
	.start = rdma_start,
	.stop = rdma_stop,
	.open = rdma_open,
	.close = rdma_close,
	.slot_init = rdma_slot_init,
	.load = legacy_rdma_load,
	.report = legacy_rdma_report,
};

/* ---- create and destroy ---- */

LEGACY_API doca_error_t doca_2_2_rdma_create(struct legacy_rdma **rdma)
{
	doca_error_t result = legacy_check("doca_rdma_create", rdma, rdma);
	struct legacy_rdma *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for an RDMA instance");
		return DOCA_ERROR_NO_MEMORY;
	}
	legacy_ctx_init(&created->ctx, &rdma_ops);
	created->send_queue_size = created->recv_queue_size = QUEUE_SIZE_DEFAULT;
	created->recv_list_len = 1;
	created->mtu = DOCA_MTU_SIZE_1K_BYTES;
	*rdma = created;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_rdma_destroy(struct legacy_rdma *rdma)
{
	doca_error_t result = legacy_check("doca_rdma_destroy", rdma, rdma);

	if (result == DOCA_SUCCESS && legacy_ctx_fini(&rdma->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	if (result == DOCA_SUCCESS)
		free(rdma);
	return result;
}

/* ---- connection ---- */

static doca_error_t check_started(const struct legacy_rdma *rdma, const char *function)
{
	if (rdma->ctx.started)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the RDMA context is not started: call doca_ctx_start first", function);
	return DOCA_ERROR_BAD_STATE;
}

static doca_error_t connection_make(struct legacy_rdma *rdma)
{
	return rdma->connection != NULL ? DOCA_SUCCESS
					: doca_rdma_export(rdma->rdma, &rdma->details, &rdma->details_len, &rdma->connection);
}

LEGACY_API doca_error_t doca_2_2_rdma_export(struct legacy_rdma *rdma, const void **details, size_t *details_len)
{
	doca_error_t result = legacy_check("doca_rdma_export", rdma, details);

	if (result == DOCA_SUCCESS)
		result = legacy_check("doca_rdma_export", rdma, details_len);
	if (result == DOCA_SUCCESS)
		result = check_started(rdma, "doca_rdma_export");
	if (result == DOCA_SUCCESS)
		result = connection_make(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	*details = rdma->details;
	*details_len = rdma->details_len;
	return DOCA_SUCCESS;
}

LEGACY_API doca_error_t doca_2_2_rdma_connect(struct legacy_rdma *rdma, const void *details, size_t details_len)
{
	doca_error_t result = legacy_check("doca_rdma_connect", rdma, details);

	if (result == DOCA_SUCCESS)
		result = check_started(rdma, "doca_rdma_connect");
	if (result == DOCA_SUCCESS && rdma->state != LEGACY_RDMA_INIT) {
		SF_LOG_ERR("doca_rdma_connect: the instance is or was connected: stop and start its context first");
		result = DOCA_ERROR_BAD_STATE;
	}
	if (result == DOCA_SUCCESS)
		result = connection_make(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_connect(rdma->rdma, details, details_len, rdma->connection);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_ABORTED; /* also for invalid details; logged */
	rdma->state = LEGACY_RDMA_CONNECTED;
	return DOCA_SUCCESS;
}
