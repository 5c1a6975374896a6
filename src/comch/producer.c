/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/producer.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/gpu_path.h"

/* ---- the ctx ---- */

static const struct comch_producer_path *choose_path(const struct doca_comch_producer *producer)
{
	return producer->child.ctx.gpu != NULL ? &comch_producer_gpu_path : &comch_producer_cpu_path;
}

static doca_error_t producer_start(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	if (atomic_load(&producer->child.connection->dead)) {
		SF_LOG_ERR_LIMITED("producer %u: its connection has ended; connect again and create another", producer->child.id);
		return DOCA_ERROR_NOT_CONNECTED;
	}
	producer->path = choose_path(producer);
	return producer->path->start(producer);
}

static void producer_cancel(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	producer->path->cancel(producer);
}

static bool producer_drained(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	return producer->path->drained(producer);
}

static void producer_stop(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	producer->path->stop(producer);
}

static bool producer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;
	bool moved = producer->path->progress(producer);

	/* Earlier completions are delivered first; then the end of the connection stops its producers. */
	if (__builtin_expect(!moved && atomic_load_explicit(&producer->child.connection->dead, memory_order_acquire), 0) &&
	    ctx->state == DOCA_CTX_STATE_RUNNING) {
		SF_LOG_WARN_LIMITED("producer %u stops: its connection has ended", producer->child.id);
		sf_ctx_fail(ctx);
		moved = true;
	}
	return moved;
}

static bool producer_arm(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;
	bool due = producer->path->arm(producer);

	return due || (ctx->state == DOCA_CTX_STATE_RUNNING && atomic_load(&producer->child.connection->dead));
}

/* Sends pending parts of long messages, and tasks that were accepted while their routes were connecting. A GPU's data path has
 * none. */
static void producer_send_pending(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = (struct doca_comch_producer *)ctx;

	if (ctx->gpu != NULL)
		return;
	sf_ep_push(producer->ep);
	if (producer->num_waiting > 0 && comch_routes_send_waiting(producer))
		sf_ctx_kick(ctx); /* completions are due, and no armed event reports them */
}

static const struct sf_ctx_ops producer_ops = {
	.name = "comch producer",
	.needs_pe = true,
	.has_gpu_path = true,
	.start = producer_start,
	.cancel = producer_cancel,
	.drained = producer_drained,
	.stop = producer_stop,
	.progress = producer_progress,
	.arm = producer_arm,
	.send_pending = producer_send_pending,
};

/* ---- public ---- */

doca_error_t doca_comch_producer_create(struct doca_comch_connection *connection, struct doca_comch_producer **out)
{
	struct doca_comch_producer *producer;
	doca_error_t result;

	if (connection == NULL || out == NULL) {
		SF_LOG_ERR("%s is NULL", connection == NULL ? "comch_connection" : "producer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	producer = (struct doca_comch_producer *)calloc(1, sizeof(*producer));
	if (producer == NULL) {
		SF_LOG_ERR("no memory for a producer");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&producer->child.ctx, &producer_ops, &producer->send_pool, 1);
	result = comch_connection_join(connection, &producer->child, false);
	if (result != DOCA_SUCCESS) {
		free(producer);
		return result;
	}
	sf_ctx_created(&producer->child.ctx);
	*out = producer;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	if (producer == NULL) {
		SF_LOG_ERR("producer is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_ctx_fini(&producer->child.ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_INITIALIZATION;
	comch_gpu_producer_release(producer);
	comch_connection_leave(&producer->child);
	free(producer);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return producer != NULL ? &producer->child.ctx : NULL;
}

doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id)
{
	if (producer == NULL || id == NULL) {
		SF_LOG_ERR("%s is NULL", producer == NULL ? "producer" : "id");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*id = producer->child.id;
	return DOCA_SUCCESS;
}

/* ---- DPA: not supported ---- */

doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer, uint32_t dev_num_send)
{
	doca_error_t result;

	if (producer == NULL || dev_num_send == 0 || dev_num_send > COMCH_DATA_TASKS_MAX) {
		if (producer == NULL)
			SF_LOG_ERR("producer is NULL");
		else
			SF_LOG_ERR("%u sends: give 1 to %d", dev_num_send, COMCH_DATA_TASKS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&producer->child.ctx, __func__);
	if (result == DOCA_SUCCESS)
		producer->dev_max_num_send = dev_num_send;
	return result;
}

static doca_error_t no_dpa(const struct doca_comch_producer *producer, const void *argument)
{
	if (producer == NULL || argument == NULL) {
		SF_LOG_ERR("%s is NULL", producer == NULL ? "producer" : "the second argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("there is no DPA here; a producer's data path is on the CPU or on a GPU");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer, struct doca_dpa_completion *dpa_comp)
{
	return no_dpa(producer, dpa_comp);
}

doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer, doca_dpa_dev_comch_producer_t *dpa_producer)
{
	return no_dpa(producer, dpa_producer);
}
