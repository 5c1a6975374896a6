/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/route.h"

#include <assert.h>

#include "base/log.h"
#include "comch/gpu_path.h"
#include "comch/producer_task_send.h"

static struct comch_remote_consumer *find_consumer(struct doca_comch_producer *producer, uint32_t consumer_id)
{
	struct doca_comch_connection *connection = producer->child.connection;
	struct comch_remote_consumer *consumer;

	pthread_mutex_lock(&connection->lock);
	consumer = comch_remote_consumers_find(&connection->remote, consumer_id);
	pthread_mutex_unlock(&connection->lock);
	return consumer;
}

static doca_error_t open_kind(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
			      struct comch_route **route)
{
	switch (consumer->ad.path) {
	case COMCH_PATH_CONN:
		return comch_route_conn_open(producer, consumer, route);
	case COMCH_PATH_GPU_QUEUE:
		return comch_route_gpu_queue_open(producer, consumer, route);
	}
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t open_route(struct doca_comch_producer *producer, uint32_t consumer_id, struct comch_route **out)
{
	struct comch_remote_consumer *consumer = find_consumer(producer, consumer_id);
	struct comch_route *route;
	doca_error_t result;

	if (consumer == NULL)
		return DOCA_ERROR_NOT_FOUND;
	result = open_kind(producer, consumer, &route);
	if (result != DOCA_SUCCESS) {
		comch_remote_consumer_unref(consumer);
		return result;
	}
	route->producer = producer;
	route->consumer = consumer;
	route->next = producer->routes;
	producer->routes = route;
	if (route->ops->poll != NULL)
		producer->num_polled++;
	*out = route;
	return DOCA_SUCCESS;
}

/* ---- tasks that wait for a connecting route ---- */

static void waiting_push(struct comch_route *route, struct doca_task *task)
{
	task->next = NULL;
	assert((route->waiting_first == NULL) == (route->waiting_last == NULL));
	if (route->waiting_last != NULL)
		route->waiting_last->next = task;
	else
		route->waiting_first = task;
	route->waiting_last = task;
	route->producer->num_waiting++;
}

static void waiting_pop(struct comch_route *route, struct doca_task *next)
{
	assert(route->waiting_first != NULL);
	route->waiting_first = next;
	if (next == NULL)
		route->waiting_last = NULL;
	assert(route->producer->num_waiting > 0);
	route->producer->num_waiting--;
}

/* AGAIN with op.status EMPTY means that the peer lacks receives. */
static doca_error_t try_send(struct comch_route *route, struct doca_comch_producer_task_send *task)
{
	task->op.status = DOCA_SUCCESS;
	return route->ops->send(route, task);
}

/* Returns how many tasks no longer wait. */
static uint32_t send_waiting(struct comch_route *route)
{
	struct doca_task *task;
	uint32_t left = 0;

	for (; (task = route->waiting_first) != NULL; left++) {
		struct doca_task *next = task->next; /* read before the send, after which the route uses the field */
		doca_error_t result = try_send(route, (struct doca_comch_producer_task_send *)task);

		if (result == DOCA_ERROR_AGAIN)
			break;
		waiting_pop(route, next);
		if (result != DOCA_SUCCESS)
			comch_task_send_end_later((struct doca_comch_producer_task_send *)task, result);
	}
	return left;
}

static bool is_connecting(const struct comch_route *route)
{
	return route->ops->is_connecting != NULL && route->ops->is_connecting(route);
}

doca_error_t comch_route_send_late(struct comch_route *route, struct doca_comch_producer_task_send *task)
{
	const struct doca_comch_producer_task_send *refused = task;
	doca_error_t result;

	if (route->waiting_first == NULL && !is_connecting(route))
		return DOCA_ERROR_AGAIN;
	(void)send_waiting(route);
	if (route->waiting_first == NULL) {
		result = try_send(route, task);
		if (result != DOCA_ERROR_AGAIN)
			return result;
	} else {
		refused = (const struct doca_comch_producer_task_send *)route->waiting_first;
	}
	if (!is_connecting(route) || refused->op.status == DOCA_ERROR_EMPTY)
		return DOCA_ERROR_AGAIN;
	waiting_push(route, &task->base);
	return DOCA_SUCCESS;
}

bool comch_routes_send_waiting(struct doca_comch_producer *producer)
{
	uint32_t left = 0;

	for (struct comch_route *route = producer->routes; route != NULL; route = route->next)
		left += send_waiting(route);
	return left > 0;
}

bool comch_routes_waiting_due(const struct doca_comch_producer *producer)
{
	for (const struct comch_route *route = producer->routes; route != NULL && producer->num_waiting > 0;
	     route = route->next) {
		if (route->waiting_first != NULL && !is_connecting(route))
			return true;
	}
	return false;
}

void comch_route_fail_waiting(struct comch_route *route, doca_error_t status)
{
	struct doca_task *task;

	while ((task = route->waiting_first) != NULL) {
		waiting_pop(route, task->next);
		comch_task_send_end_later((struct doca_comch_producer_task_send *)task, status);
	}
}

/* ---- closing of routes ---- */

static void route_retire(struct doca_comch_producer *producer, struct comch_route *route)
{
	struct comch_route **cached = &producer->cache[route->consumer->id % COMCH_ROUTE_CACHE];

	assert(!route->retired);
	if (*cached == route)
		*cached = NULL;
	route->retired = true;
	comch_route_fail_waiting(route, DOCA_ERROR_CONNECTION_ABORTED);
	route->ops->cancel(route);
	producer->sweep = true;
}

doca_error_t comch_route_find(struct doca_comch_producer *producer, uint32_t consumer_id, struct comch_route **out)
{
	struct comch_route *route;
	doca_error_t result = DOCA_SUCCESS;

	for (route = producer->routes; route != NULL; route = route->next) {
		if (route->retired || route->consumer->id != consumer_id)
			continue;
		if (!atomic_load_explicit(&route->consumer->expired, memory_order_acquire))
			break;
		route_retire(producer, route); /* the consumer may have been restarted with the same id */
	}
	if (route == NULL)
		result = open_route(producer, consumer_id, &route);
	if (result != DOCA_SUCCESS)
		return result;
	producer->cache[consumer_id % COMCH_ROUTE_CACHE] = route;
	*out = route;
	return DOCA_SUCCESS;
}

static void close_route(struct doca_comch_producer *producer, struct comch_route *route)
{
	struct comch_remote_consumer *consumer = route->consumer;

	if (route->ops->poll != NULL)
		producer->num_polled--;
	route->ops->close(route);
	comch_remote_consumer_unref(consumer);
}

bool comch_routes_sweep(struct doca_comch_producer *producer)
{
	struct comch_route **slot = &producer->routes;
	bool closed = false, left = false;

	while (*slot != NULL) {
		struct comch_route *route = *slot;

		if (!route->retired && route->failure != DOCA_SUCCESS &&
		    atomic_load_explicit(&route->consumer->expired, memory_order_acquire))
			route_retire(producer, route);
		if (!route->retired || route->num_inflight > 0) {
			left |= route->retired;
			slot = &route->next;
			continue;
		}
		*slot = route->next;
		close_route(producer, route);
		closed = true;
	}
	producer->sweep = left;
	return closed;
}
