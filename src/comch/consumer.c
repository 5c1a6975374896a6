/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/consumer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include <doca_mmap.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/gpu_path.h"
#include "comch/inbound.h"
#include "comch/task_post_recv.h"
#include "mem/mmap.h"
#include "validation/validation.h"

doca_error_t comch_child_flush_status(const struct comch_child *child)
{
	return atomic_load(&child->connection->dead) ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_ERROR_BAD_STATE;
}

/* ---- listening ---- */

static doca_error_t random_name(char name[SF_NAME_MAX])
{
	uint8_t token[16];
	int len;

	if (getrandom(token, sizeof(token), 0) != sizeof(token)) {
		SF_LOG_ERR("the kernel gives no random numbers");
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	len = snprintf(name, SF_NAME_MAX, "comch-consumer/");
	for (size_t i = 0; i < sizeof(token); i++)
		len += snprintf(name + len, SF_NAME_MAX - (size_t)len, "%02x", token[i]);
	return DOCA_SUCCESS;
}

doca_error_t comch_consumer_listen(struct doca_comch_consumer *consumer, const struct sf_ep_handler *handler, uint32_t recv_max,
				   int event_fd, struct comch_advertisement *ad)
{
	struct sf_domain *domain;
	doca_error_t result;

	result = random_name(ad->name);
	if (result == DOCA_SUCCESS)
		result = sf_dev_domain(consumer->child.connection->endpoint->dev, &domain);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_ep_open(domain, handler, recv_max, event_fd, &consumer->ep);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("consumer %u: no endpoint for %u receives: %s", consumer->child.id, recv_max,
			   doca_error_get_name(result));
		return result;
	}
	result = sf_listener_open(consumer->ep, ad->name, SF_LISTEN_AUTO, consumer, &consumer->listener);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("consumer %u cannot listen: %s", consumer->child.id, doca_error_get_name(result));
		sf_ep_close(consumer->ep);
		consumer->ep = NULL;
	}
	return result;
}

void comch_consumer_unlisten(struct doca_comch_consumer *consumer)
{
	sf_listener_close(consumer->listener);
	consumer->listener = NULL;
	sf_ep_close(consumer->ep);
	consumer->ep = NULL;
}

/* ---- the advertisement ---- */

static doca_error_t consumer_advertise(struct doca_comch_consumer *consumer, const struct comch_advertisement *ad)
{
	struct doca_comch_connection *connection = consumer->child.connection;
	const struct comch_control control = {COMCH_CONTROL_ADVERTISE, consumer->child.id, consumer->imm_data_len};
	uint8_t payload[COMCH_ADVERTISE_MAX];
	doca_error_t result;

	result = comch_connection_post(connection, &control, payload, comch_advertisement_pack(ad, payload));
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("consumer %u cannot be advertised: %s", consumer->child.id,
			   result == DOCA_ERROR_NOT_CONNECTED ? "its connection has ended; connect again"
							      : doca_error_get_name(result));
		return result;
	}
	consumer->advertised = true;
	comch_ctx_wake(&connection->endpoint->ctx);
	sf_ctx_send_pending(&consumer->child.ctx);
	return DOCA_SUCCESS;
}

static void consumer_withdraw(struct doca_comch_consumer *consumer)
{
	struct doca_comch_connection *connection = consumer->child.connection;
	const struct comch_control control = {COMCH_CONTROL_EXPIRE, consumer->child.id, 0};

	if (!consumer->advertised)
		return;
	consumer->advertised = false;
	/* A dead connection has no peer to notify, and the peer sees the end of our connection anyway. */
	if (comch_connection_post(connection, &control, NULL, 0) == DOCA_SUCCESS) {
		comch_ctx_wake(&connection->endpoint->ctx);
		sf_ctx_send_pending(&consumer->child.ctx);
	}
}

/* Handles the peer's answer while STARTING. Returns true if there was one. */
static bool check_ack(struct doca_comch_consumer *consumer)
{
	unsigned int ack = atomic_load_explicit(&consumer->child.ack, memory_order_acquire);

	if (ack == 0)
		return false;
	if (ack - 1 == DOCA_SUCCESS) {
		sf_ctx_started(&consumer->child.ctx);
	} else {
		SF_LOG_ERR_LIMITED("the peer rejects consumer %u: %s; a connection has at most %d", consumer->child.id,
				   doca_error_get_name((doca_error_t)(ack - 1)), COMCH_CONSUMERS_MAX);
		sf_ctx_fail(&consumer->child.ctx);
	}
	return true;
}

/* ---- the ctx ---- */

static const struct comch_consumer_path *choose_path(const struct doca_comch_consumer *consumer)
{
	return consumer->child.ctx.gpu != NULL ? &comch_consumer_gpu_path : &comch_consumer_cpu_path;
}

static doca_error_t consumer_start(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	struct comch_advertisement ad = {.path = COMCH_PATH_CONN};
	doca_error_t result;

	consumer->path = choose_path(consumer);
	atomic_store(&consumer->child.ack, 0);
	result = consumer->path->start(consumer, &ad);
	if (result != DOCA_SUCCESS)
		return result;
	result = consumer_advertise(consumer, &ad);
	if (result != DOCA_SUCCESS) {
		consumer->path->cancel(consumer);
		consumer->path->stop(consumer);
		return result;
	}
	return DOCA_ERROR_IN_PROGRESS;
}

static void consumer_cancel(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	consumer_withdraw(consumer);
	consumer->path->cancel(consumer);
}

static bool consumer_drained(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	return consumer->path->drained(consumer);
}

static void consumer_stop(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	consumer->path->stop(consumer);
}

static bool consumer_progress(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	bool moved = consumer->path->progress(consumer);

	if (__builtin_expect(ctx->state == DOCA_CTX_STATE_STARTING, 0))
		moved |= check_ack(consumer);
	/* Messages that have arrived are delivered first. Then the end of the connection stops its consumers. */
	if (__builtin_expect(!moved && atomic_load_explicit(&consumer->child.connection->dead, memory_order_acquire), 0) &&
	    (ctx->state == DOCA_CTX_STATE_RUNNING || ctx->state == DOCA_CTX_STATE_STARTING)) {
		SF_LOG_WARN_LIMITED("consumer %u stops: its connection has ended", consumer->child.id);
		sf_ctx_fail(ctx);
		moved = true;
	}
	return moved;
}

static bool consumer_arm(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;
	bool due = consumer->path->arm(consumer);

	if (ctx->state == DOCA_CTX_STATE_STARTING && atomic_load(&consumer->child.ack) != 0)
		due = true;
	if (ctx->state != DOCA_CTX_STATE_STOPPING && atomic_load(&consumer->child.connection->dead))
		due = true;
	return due;
}

/* Receives posted in a callback are credits of the producers that write to GPU queues. */
static void consumer_send_pending(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = (struct doca_comch_consumer *)ctx;

	for (struct comch_inbound *it = consumer->inbound; it != NULL && ctx->state == DOCA_CTX_STATE_RUNNING; it = it->next) {
		if (it->ops->send_credits != NULL)
			it->ops->send_credits(it);
	}
}

static const struct sf_ctx_ops consumer_ops = {
	.name = "comch consumer",
	.needs_pe = true,
	.has_gpu_path = true,
	.must_receive = true,
	.start = consumer_start,
	.cancel = consumer_cancel,
	.drained = consumer_drained,
	.stop = consumer_stop,
	.progress = consumer_progress,
	.arm = consumer_arm,
	.send_pending = consumer_send_pending,
};

/* ---- public ---- */

/* What a consumer needs of its mmap. */
static doca_error_t check_mmap(const struct doca_comch_connection *connection, const struct doca_mmap *mmap)
{
	uint8_t from_export = 0;

	if (doca_mmap_get_from_export(mmap, &from_export) == DOCA_SUCCESS && from_export != 0) {
		SF_LOG_ERR("an mmap made from an export cannot receive: its memory belongs to another node");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_mmap_has_dev(mmap, connection->endpoint->dev)) {
		SF_LOG_ERR("the mmap lacks the connection's device %s; doca_mmap_add_dev it before start",
			   sf_dev_desc(connection->endpoint->dev)->key);
		SF_BROKEN(MMAP_005, mmap, "doca_comch_consumer_create", "it lacks the connection's device %s",
			  sf_dev_desc(connection->endpoint->dev)->key);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if ((sf_mmap_permissions(mmap) & DOCA_ACCESS_FLAG_PCI_READ_WRITE) == 0) {
		SF_LOG_ERR("the mmap's permissions are 0x%x; a consumer needs DOCA_ACCESS_FLAG_PCI_READ_WRITE in them",
			   sf_mmap_permissions(mmap));
		SF_BROKEN(MMAP_004, mmap, "doca_comch_consumer_create",
			  "its permissions, 0x%x, lack DOCA_ACCESS_FLAG_PCI_READ_WRITE, which a consumer needs",
			  sf_mmap_permissions(mmap));
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *connection, struct doca_mmap *mmap,
					struct doca_comch_consumer **out)
{
	struct doca_comch_consumer *consumer;
	doca_error_t result;

	if (connection == NULL || mmap == NULL || out == NULL) {
		SF_LOG_ERR("%s is NULL", connection == NULL ? "comch_connection" : mmap == NULL ? "buf_mmap" : "consumer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_mmap_hold(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	consumer = NULL;
	result = check_mmap(connection, mmap);
	if (result != DOCA_SUCCESS)
		goto release;
	consumer = (struct doca_comch_consumer *)calloc(1, sizeof(*consumer));
	if (consumer == NULL) {
		SF_LOG_ERR("no memory for a consumer");
		result = DOCA_ERROR_NO_MEMORY;
		goto release;
	}
	sf_ctx_init(&consumer->child.ctx, &consumer_ops, &consumer->recv_pool, 1);
	consumer->mmap = mmap;
	consumer->imm_data_len = COMCH_IMM_MAX;
	result = comch_connection_join(connection, &consumer->child, true);
	if (result != DOCA_SUCCESS)
		goto release;
	sf_ctx_created(&consumer->child.ctx);
	*out = consumer;
	return DOCA_SUCCESS;
release:
	free(consumer);
	sf_mmap_release(mmap);
	return result;
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	if (consumer == NULL) {
		SF_LOG_ERR("consumer is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_ctx_fini(&consumer->child.ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	comch_gpu_consumer_release(consumer);
	comch_consumer_completion_forget(consumer->completion);
	comch_connection_leave(&consumer->child);
	sf_mmap_release(consumer->mmap);
	free(consumer);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return consumer != NULL ? &consumer->child.ctx : NULL;
}

doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id)
{
	if (consumer == NULL || id == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : "id");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*id = consumer->child.id;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer, uint32_t *imm_data_len)
{
	if (consumer == NULL || imm_data_len == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : "imm_data_len");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*imm_data_len = consumer->imm_data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer, uint32_t imm_data_len)
{
	doca_error_t result;

	if (consumer == NULL || imm_data_len > COMCH_IMM_MAX) {
		if (consumer == NULL)
			SF_LOG_ERR("consumer is NULL");
		else
			SF_LOG_ERR("%u bytes of immediate data: the maximum is %d", imm_data_len, COMCH_IMM_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&consumer->child.ctx, __func__);
	if (result == DOCA_SUCCESS)
		consumer->imm_data_len = imm_data_len;
	return result;
}

/* ---- for a DPA, which there is none of ---- */

doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer, uint32_t dev_num_recv)
{
	doca_error_t result;

	if (consumer == NULL || dev_num_recv == 0 || dev_num_recv > COMCH_DATA_TASKS_MAX) {
		if (consumer == NULL)
			SF_LOG_ERR("consumer is NULL");
		else
			SF_LOG_ERR("%u receives: give 1 to %d", dev_num_recv, COMCH_DATA_TASKS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&consumer->child.ctx, __func__);
	if (result == DOCA_SUCCESS)
		consumer->dev_max_num_recv = dev_num_recv;
	return result;
}

doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
						struct doca_comch_consumer_completion *completion, uint32_t user_data)
{
	doca_error_t result;

	(void)user_data; /* it comes back on a DPA thread only */
	if (consumer == NULL || completion == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : "consumer_comp");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&consumer->child.ctx, __func__);
	if (result == DOCA_SUCCESS)
		result = comch_consumer_completion_use(completion);
	if (result != DOCA_SUCCESS)
		return result;
	comch_consumer_completion_forget(consumer->completion);
	consumer->completion = completion;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer, doca_dpa_dev_comch_consumer_t *dpa_consumer)
{
	if (consumer == NULL || dpa_consumer == NULL) {
		SF_LOG_ERR("%s is NULL", consumer == NULL ? "consumer" : "dpa_consumer");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("there is no DPA here, so a consumer has no handle for it; use the CPU or a GPU data path");
	return DOCA_ERROR_NOT_SUPPORTED;
}
