/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA instance and its context. */
#include "rdma/rdma.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/profile.h"
#include "core/dev.h"
#include "rdma/check.h"
#include "rdma/cm.h"
#include "rdma/completion.h"
#include "rdma/connections.h"
#include "rdma/gpu.h"
#include "rdma/gpu_lock.h"
#include "rdma/gpu_thread.h"
#include "rdma/one_connection.h"
#include "rdma/submit.h"

/* ---- start and stop ---- */

static doca_error_t open_retry_timer(struct doca_rdma *rdma)
{
	rdma->retry_set = false;
	rdma->retry_fd = -1;
	if (rdma->ctx.pe == NULL) /* a data path on a GPU, with connections by descriptors only */
		return DOCA_SUCCESS;
	rdma->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (rdma->retry_fd < 0) {
		SF_LOG_ERR("rdma: cannot create a timer for waiting tasks: too many open files?");
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	doca_error_t result = sf_ctx_watch_fd(&rdma->ctx, rdma->retry_fd);
	if (result != DOCA_SUCCESS)
		close(rdma->retry_fd);
	return result;
}

static void close_retry_timer(struct doca_rdma *rdma)
{
	if (rdma->retry_fd < 0)
		return;
	sf_ctx_unwatch_fd(&rdma->ctx, rdma->retry_fd);
	close(rdma->retry_fd);
}

static doca_error_t open_listener(struct doca_rdma *rdma)
{
	uint64_t name[2];

	if (getrandom(name, sizeof(name), 0) != sizeof(name)) {
		SF_LOG_ERR("rdma: no random bytes for the instance's name");
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	snprintf(rdma->name, sizeof(rdma->name), "rdma-%016" PRIx64 "%016" PRIx64, name[0], name[1]);
	return sf_listener_open(rdma->ep, rdma->name, SF_LISTEN_AUTO, rdma, &rdma->listener);
}

static doca_error_t open_ep(struct doca_rdma *rdma)
{
	struct sf_domain *domain;
	doca_error_t result = sf_dev_domain(rdma->dev, &domain);

	if (result != DOCA_SUCCESS)
		return result;
	uint32_t num_receives = rdma->ctx.gpu != NULL ? rdma->recv_queue_size : rdma->pools[RDMA_POOL_RECEIVE].num_tasks;
	result = sf_ep_open(domain, &rdma_ep_handler, num_receives != 0 ? num_receives : 1,
			    rdma->gpu != NULL ? rdma->gpu->event_fd : sf_ctx_event_fd(&rdma->ctx), &rdma->ep);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_listener(rdma);
	if (result != DOCA_SUCCESS)
		sf_ep_close(rdma->ep);
	return result;
}

static doca_error_t open_path(struct doca_rdma *rdma)
{
	doca_error_t result = open_retry_timer(rdma);

	if (result != DOCA_SUCCESS)
		return result;
	rdma_gpu_release(rdma); /* of the previous run */
	if (rdma->ctx.gpu != NULL)
		result = rdma_gpu_create(rdma);
	if (result == DOCA_SUCCESS)
		result = open_ep(rdma);
	if (result != DOCA_SUCCESS) {
		rdma_gpu_release(rdma);
		close_retry_timer(rdma);
	}
	return result;
}

static void close_path(struct doca_rdma *rdma)
{
	sf_listener_close(rdma->listener);
	sf_ep_close(rdma->ep);
	rdma_gpu_release(rdma);
	close_retry_timer(rdma);
}

static doca_error_t rdma_start(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	struct doca_rdma_connection *connections = calloc(rdma->max_num_connections, sizeof(*connections));

	if (connections == NULL) {
		SF_LOG_ERR("no memory for %u RDMA connections", rdma->max_num_connections);
		return DOCA_ERROR_NO_MEMORY;
	}
	doca_error_t result = open_path(rdma);
	if (result != DOCA_SUCCESS) {
		free(connections);
		return result;
	}
	free(rdma->connections);
	rdma->connections = connections;
	rdma->num_connections = rdma->num_joins = 0;
	rdma->ended_slots = rdma->changing = (struct rdma_connection_list){NULL, NULL};
	rdma->waiting = NULL;
	rdma->waiting_end = &rdma->waiting;
	rdma->fatal = false;
	sf_reg_cache_init(&rdma->reg_cache, rdma->dev);
	rdma->one.connection = NULL;
	rdma->one.due = false;
	if (rdma->gpu != NULL && (result = rdma_gpu_run(rdma->gpu)) != DOCA_SUCCESS) {
		close_path(rdma);
		return result;
	}
	return rdma->one.wanted ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

static void rdma_cancel(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	if (rdma->gpu != NULL)
		rdma->gpu->flushing = true;
	rdma_connections_cancel(rdma);
	sf_ep_flush_recvs(rdma->ep);
	rdma_instance_kick(rdma);
}

/* Kernels' operations end before the context does. Waits for them, as there may be no progress engine to return to. */
static bool rdma_drained(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	if (rdma->gpu == NULL)
		return true;
	for (uint32_t i = 0; i < RDMA_GPU_DRAIN_MS; i++) {
		if (rdma_gpu_is_drained(rdma->gpu))
			return true;
		usleep(1000);
	}
	return false;
}

static void rdma_stop(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	if (rdma->gpu != NULL)
		rdma_gpu_join(rdma->gpu);
	/* A poll reports peers that the fabric has already accepted: only then are all connections known. */
	sf_listener_close(rdma->listener);
	rdma->listener = NULL;
	while (sf_ep_poll(rdma->ep, RDMA_POLL_BUDGET) > 0)
		;
	rdma_connections_close(rdma);
	sf_ep_close(rdma->ep);
	close_retry_timer(rdma);
	rdma->ep = NULL;
}

/* ---- progress ---- */

static bool ended_complete(struct doca_rdma *rdma)
{
	struct doca_task *task = rdma->ended;
	bool any = task != NULL;

	rdma->ended = rdma->ended_last = NULL; /* tasks added by callbacks are for the next call */
	(void)rdma_completions_run(rdma);      /* inline completions of the same connections are older */
	for (struct doca_task *next; task != NULL; task = next) {
		next = task->next;
		sf_task_complete(task, task->status);
	}
	return any;
}

/* Stops the timer when nothing waits. Otherwise progress leaves it, even if expired: the program may sleep next. */
static void stop_retry_timer(struct doca_rdma *rdma)
{
	const struct itimerspec never = {{0, 0}, {0, 0}};

	(void)timerfd_settime(rdma->retry_fd, 0, &never, NULL);
	rdma->retry_set = false;
}

/* Returns true if a progress call has more to do than inline completions and the fabric's. Rarely, so one branch covers all. */
static inline bool has_more(const struct doca_rdma *rdma)
{
	uintptr_t any =
		(uintptr_t)rdma->ended | (uintptr_t)rdma->changing.first | (uintptr_t)rdma->calls | (uintptr_t)rdma->waiting;

	return __builtin_expect((any | rdma->retry_set | rdma->one.due | rdma->fatal) != 0, 0);
}

static bool progress_before(struct doca_rdma *rdma)
{
	bool moved = false;

	if (rdma->ended != NULL) /* before the poll: these are older than what it reports */
		moved = ended_complete(rdma);
	if (rdma->changing.first != NULL || rdma->calls != NULL)
		moved |= rdma_cm_progress(rdma);
	return moved;
}

static __attribute__((noinline)) bool progress_after(struct doca_rdma *rdma)
{
	bool moved = false;

	if (rdma->waiting != NULL)
		moved |= rdma_requests_pump(rdma);
	if (rdma->num_joins != 0)
		rdma_connections_join(rdma);
	if (rdma->one.due) {
		rdma_one_run(rdma);
		moved = true;
	}
	if (rdma->fatal && rdma->ended == NULL && rdma->completed_inline == NULL) {
		rdma->fatal = false;
		(void)rdma_cm_progress(rdma); /* a disconnection is reported while the context runs */
		if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING)
			sf_ctx_fail(&rdma->ctx);
		moved = true;
	}
	if (rdma->retry_set && rdma->waiting == NULL && rdma->calls == NULL && rdma->changing.first == NULL)
		stop_retry_timer(rdma);
	return moved;
}

static __attribute__((noinline)) bool progress_all(struct doca_rdma *rdma)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	bool moved = progress_before(rdma);
	moved |= rdma->gpu != NULL ? rdma_gpu_poll(rdma->gpu) : sf_ep_poll(rdma->ep, RDMA_POLL_BUDGET) != 0;
	moved |= progress_after(rdma);
	return moved;
}

static bool rdma_progress(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	uint32_t ran = 0;

	if (__builtin_expect(rdma->gpu != NULL, 0))
		return progress_all(rdma);
	while (rdma->completed_inline != NULL && ran < RDMA_POLL_BUDGET)
		ran += rdma_completions_run(rdma);
	if (has_more(rdma))
		return progress_all(rdma) || ran != 0;
	/* A program with completions calls again soon, so polling the fabric may wait, but not for ever. */
	if (ran != 0 && rdma->not_polled++ < RDMA_NOT_POLLED_MAX)
		return true;
	rdma->not_polled = 0;
	uint32_t polled = sf_ep_poll(rdma->ep, RDMA_POLL_BUDGET);
	if (polled != 0 && (has_more(rdma) || rdma->num_joins != 0))
		(void)progress_after(rdma);
	return ran + polled != 0;
}

static bool rdma_arm(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;
	uint64_t wait_ns;

	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(rdma);
	if (rdma->completed_inline != NULL || rdma->ended != NULL || rdma->fatal || rdma->one.due ||
	    rdma_cm_is_due(rdma, &wait_ns))
		return true;
	if (rdma->waiting != NULL)
		wait_ns = RDMA_RETRY_NS;
	if (wait_ns != 0) {
		const struct itimerspec soon = {{0, 0}, {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)}};

		if (timerfd_settime(rdma->retry_fd, 0, &soon, NULL) != 0)
			return true;
		rdma->retry_set = true;
	} else if (rdma->retry_set) {
		stop_retry_timer(rdma);
	}
	return rdma->gpu == NULL && sf_ep_arm(rdma->ep); /* a GPU's thread owns the endpoint, and writes the event */
}

/* Tasks that a peer did not accept before: it may have posted receives since. The thread of a GPU retries by itself. */
static void rdma_send_pending(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = (struct doca_rdma *)ctx;

	if (rdma->gpu != NULL)
		return;
	sf_ep_push(rdma->ep);
	if (rdma->waiting != NULL && rdma_requests_pump(rdma))
		sf_ctx_kick(ctx);
}

static const struct sf_ctx_ops rdma_ops = {
	.name = "rdma",
	.needs_pe = true,
	.has_gpu_path = true,
	.start = rdma_start,
	.cancel = rdma_cancel,
	.drained = rdma_drained,
	.stop = rdma_stop,
	.progress = rdma_progress,
	.arm = rdma_arm,
	.send_pending = rdma_send_pending,
};

/* ---- public ---- */

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	if (dev == NULL || rdma == NULL)
		return rdma_check_given(NULL, dev == NULL ? "dev" : "rdma");
	struct doca_rdma *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for an RDMA instance");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&created->ctx, &rdma_ops, created->pools, RDMA_POOLS);
	sf_dev_hold(dev);
	created->dev = dev;
	created->ctx.status.device = sf_dev_desc(dev)->key;
	created->send_queue_size = created->recv_queue_size = RDMA_QUEUE_DEFAULT;
	created->list_len = created->recv_list_len = 1;
	created->mtu = DOCA_MTU_SIZE_1K_BYTES;
	created->max_num_connections = 1;
	created->rnr_retry_count = RDMA_RNR_MAX;
	created->len_max = sf_profile_limit(SF_PROFILE_RDMA_MSG_SIZE, RDMA_MESSAGE_MAX);
	created->request_timeout_ms = RDMA_REQUEST_TIMEOUT_MS;
	sf_ctx_created(&created->ctx);
	*rdma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result = rdma_check_given(rdma, "rdma");

	if (result != DOCA_SUCCESS)
		return result;
	result = sf_ctx_fini(&rdma->ctx);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_IN_USE ? DOCA_ERROR_BAD_STATE : result;
	rdma_gpu_release(rdma);
	sf_dev_release(rdma->dev);
	free(rdma->connections);
	free(rdma);
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma != NULL ? &rdma->ctx : NULL;
}
