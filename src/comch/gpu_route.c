/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The route by a GPU queue: from a producer on the CPU to a consumer on the peer's GPU. A connection to the consumer's listener
 * shows that it lives. All producers of this process that send to the consumer share one sender, which hangs on the consumer's
 * record, under the connection's lock.
 */
#include <assert.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/gpu_path.h"
#include "comch/gpu_sender.h"
#include "comch/producer_task_send.h"
#include "core/submit.h"

#define LOOK_NS 1000000 /* poll interval for the answer of the peer's agent, in event-driven mode */

struct comch_gpu_queue_sender {
	struct gpu_sender sender;
	struct sf_region *region;
	bool attached;	  /* the region is ready and sender initialised; guarded by the connection's lock */
	const void *held; /* memory of this very process that is held, or NULL */
};

struct route_gpu_queue {
	struct comch_route base; /* first: comch_route_conn_handler finds it by conn->user */
	struct sf_conn *conn;
	struct doca_comch_connection *connection;
	struct comch_gpu_queue_sender *shared;
	bool attached;				  /* shared is, and this route has joined it */
	int timer;				  /* -1 unless the producer was armed while tasks waited for the agent's answer */
	struct doca_task *sent_first, *sent_last; /* done, to be reported by poll */
};

/* ---- the shared sender ---- */

static void sender_free(struct comch_gpu_queue_sender *shared)
{
	comch_gpu_sender_fini(&shared->sender);
	sf_region_close(shared->region);
	if (shared->held != NULL)
		comch_gpu_memory_release(shared->held);
	free(shared);
}

static struct comch_gpu_queue_sender *sender_new(struct sf_domain *domain, const struct comch_advertisement *ad,
						 doca_error_t *result)
{
	struct comch_gpu_queue_sender *shared = calloc(1, sizeof(*shared));

	*result = shared != NULL ? sf_region_request(domain, ad->descriptor, ad->descriptor_len, &shared->region)
				 : DOCA_ERROR_NO_MEMORY;
	if (*result == DOCA_SUCCESS)
		return shared;
	free(shared);
	return NULL;
}

static doca_error_t sender_get(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
			       struct comch_gpu_queue_sender **out)
{
	struct doca_comch_connection *connection = producer->child.connection;
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&connection->lock);
	if (consumer->sender == NULL)
		consumer->sender = sender_new(producer->ep->domain, &consumer->ad, &result);
	*out = consumer->sender;
	pthread_mutex_unlock(&connection->lock);
	return result;
}

static doca_error_t sender_attach(struct comch_gpu_queue_sender *shared)
{
	struct gpu_queue box;
	doca_error_t result = sf_region_ready(shared->region);
	void *addr;

	if (result == DOCA_SUCCESS)
		result = sf_region_map(shared->region, &addr);
	if (result == DOCA_SUCCESS && shared->held == NULL && comch_gpu_memory_hold(addr))
		shared->held = addr;
	if (result == DOCA_SUCCESS)
		result = comch_gpu_queue_view(addr, shared->region->len, 0, true, &box);
	if (result == DOCA_SUCCESS)
		result = comch_gpu_sender_init(&shared->sender, &box);
	shared->attached = result == DOCA_SUCCESS;
	return result;
}

/*
 * The send state outlives the routes, because a later producer continues where the last one stopped. It is freed with the record.
 */
void comch_gpu_queue_sender_destroy(struct comch_gpu_queue_sender *shared)
{
	if (shared != NULL)
		sender_free(shared);
}

/* ---- the route ---- */

static void drop_timer(struct route_gpu_queue *route)
{
	if (route->timer < 0)
		return;
	sf_ctx_unwatch_fd(&route->base.producer->child.ctx, route->timer);
	close(route->timer);
	route->timer = -1;
}

/* AGAIN until the peer's agent has answered: a stopped peer does not block submit. */
static __attribute__((noinline)) doca_error_t route_attach(struct route_gpu_queue *route)
{
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&route->connection->lock);
	if (!route->shared->attached)
		result = sender_attach(route->shared);
	if (result == DOCA_SUCCESS)
		comch_gpu_sender_join(&route->shared->sender);
	pthread_mutex_unlock(&route->connection->lock);
	route->attached = result == DOCA_SUCCESS;
	if (result != DOCA_ERROR_AGAIN) {
		drop_timer(route);
		sf_ctx_kick(&route->base.producer->child.ctx); /* a sleeper on the timer must check what waits now */
	}
	return result;
}

static void route_detach(struct route_gpu_queue *route)
{
	pthread_mutex_lock(&route->connection->lock);
	if (route->attached)
		comch_gpu_sender_leave(&route->shared->sender);
	pthread_mutex_unlock(&route->connection->lock);
}

static inline void sent_push(struct route_gpu_queue *route, struct doca_task *task)
{
	task->next = NULL;
	if (route->sent_last != NULL)
		route->sent_last->next = task;
	else
		route->sent_first = task;
	route->sent_last = task;
	route->base.num_inflight++;
}

static inline __attribute__((always_inline)) doca_error_t
send_inline(struct route_gpu_queue *route, struct doca_comch_producer_task_send *task, const uint8_t *bytes, size_t len)
{
	struct gpu_sender *sender = &route->shared->sender;

	if (__builtin_expect(route->base.failure != DOCA_SUCCESS || !route->attached, 0) ||
	    __builtin_expect(!gpu_sender_send_inline(sender, &task->op, bytes, len), 0))
		return comch_task_send_any(task);
	sent_push(route, &task->base);
	gpu_sender_wake(sender);
	return DOCA_SUCCESS;
}

static __attribute__((noinline)) doca_error_t
send_any_len(struct route_gpu_queue *route, struct doca_comch_producer_task_send *task, const uint8_t *bytes, size_t len)
{
	return send_inline(route, task, bytes, len);
}

/* A full line takes so few registers that this saves none of its caller's. */
static doca_error_t gpu_route_send_one(struct comch_route *base, struct doca_comch_producer_task_send *task, const uint8_t *bytes,
				       size_t len)
{
	struct route_gpu_queue *route = (struct route_gpu_queue *)base;

	return len == SOFTFIELD_LINE_PAYLOAD ? send_inline(route, task, bytes, SOFTFIELD_LINE_PAYLOAD)
					     : send_any_len(route, task, bytes, len);
}

static doca_error_t gpu_route_send(struct comch_route *base, struct doca_comch_producer_task_send *task)
{
	struct route_gpu_queue *route = (struct route_gpu_queue *)base;
	doca_error_t result;

	if (__builtin_expect(base->failure != DOCA_SUCCESS, 0))
		return base->failure;
	if (__builtin_expect(!route->attached, 0)) {
		result = route_attach(route);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = comch_gpu_sender_send(&route->shared->sender, &task->op, task->iov, task->op.iov_num, task->header.imm,
				       task->header.imm_len);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		sent_push(route, &task->base);
	return result;
}

static bool gpu_route_is_connecting(const struct comch_route *base)
{
	return !((const struct route_gpu_queue *)base)->attached && base->failure == DOCA_SUCCESS;
}

static uint32_t gpu_route_poll(struct comch_route *base, uint32_t budget)
{
	struct route_gpu_queue *route = (struct route_gpu_queue *)base;
	uint32_t done = 0;

	assert(!base->producer->quiet);
	while (route->sent_first != NULL && done < budget) {
		struct doca_task *task = route->sent_first;

		route->sent_first = task->next;
		if (task->next == NULL)
			route->sent_last = NULL;
		assert(base->num_inflight > 0);
		base->num_inflight--;
		done++;
		sf_task_end(task, DOCA_SUCCESS); /* as comch_task_send_done, which has more to check elsewhere */
	}
	return done;
}

static bool is_answered(const struct route_gpu_queue *route)
{
	doca_error_t result;

	pthread_mutex_lock(&route->connection->lock);
	result = sf_region_ready(route->shared->region);
	pthread_mutex_unlock(&route->connection->lock);
	return result != DOCA_ERROR_AGAIN;
}

/* The answer of the peer's agent does not ring the producer's endpoint, so a timer polls for it. A poll does not change the
 * timer, because the program may sleep next. */
static bool arm_timer(struct route_gpu_queue *route)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = LOOK_NS}};
	struct doca_ctx *ctx = &route->base.producer->child.ctx;

	if (route->timer < 0) {
		route->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		if (route->timer >= 0 && sf_ctx_watch_fd(ctx, route->timer) != DOCA_SUCCESS) {
			close(route->timer);
			route->timer = -1;
		}
	}
	/* Without a timer it always reports due: the program then polls, and loses nothing. */
	return route->timer < 0 || timerfd_settime(route->timer, 0, &soon, NULL) != 0;
}

static bool gpu_route_arm(struct comch_route *base)
{
	struct route_gpu_queue *route = (struct route_gpu_queue *)base;

	if (route->sent_first != NULL)
		return true;
	return base->waiting_first != NULL && gpu_route_is_connecting(base) && (is_answered(route) || arm_timer(route));
}

static void gpu_route_cancel(struct comch_route *base)
{
	sf_conn_disconnect(((struct route_gpu_queue *)base)->conn);
}

static void gpu_route_close(struct comch_route *base)
{
	struct route_gpu_queue *route = (struct route_gpu_queue *)base;

	sf_conn_close(route->conn);
	drop_timer(route);
	route_detach(route);
	free(route);
}

static const struct comch_route_ops gpu_route_ops = {
	.name = "GPU queue",
	.send = gpu_route_send,
	.send_one = gpu_route_send_one,
	.one_max = SOFTFIELD_INLINE_MAX,
	.poll = gpu_route_poll,
	.arm = gpu_route_arm,
	.is_connecting = gpu_route_is_connecting,
	.cancel = gpu_route_cancel,
	.close = gpu_route_close,
};

doca_error_t comch_route_gpu_queue_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
					struct comch_route **out)
{
	const struct comch_attach attach = {.path = COMCH_PATH_CONN, .producer_id = producer->child.id};
	uint8_t data[SF_PRIVATE_MAX];
	struct route_gpu_queue *route;
	doca_error_t result;

	route = calloc(1, sizeof(*route));
	if (route == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a route to consumer %u", consumer->id);
		return DOCA_ERROR_NO_MEMORY;
	}
	route->base.ops = &gpu_route_ops;
	route->timer = -1;
	route->connection = producer->child.connection;
	result = sender_get(producer, consumer, &route->shared);
	if (result == DOCA_SUCCESS)
		result = sf_conn_connect(producer->ep, consumer->ad.name, NULL, data, comch_attach_pack(&attach, data), route,
					 &route->conn);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("producer %u cannot reach the GPU queue of consumer %u: %s", producer->child.id, consumer->id,
				   doca_error_get_name(result));
		free(route);
		return result;
	}
	*out = &route->base;
	return DOCA_SUCCESS;
}
