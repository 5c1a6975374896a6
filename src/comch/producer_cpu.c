/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer's data path on the CPU: an endpoint, and routes from it. */
#include <string.h>

#include "base/log.h"
#include "comch/producer.h"
#include "comch/producer_task_send.h"

static doca_error_t cpu_start(struct doca_comch_producer *producer)
{
	struct sf_domain *domain;
	doca_error_t result;

	result = sf_dev_domain(producer->child.connection->endpoint->dev, &domain);
	if (result != DOCA_SUCCESS)
		return result;
	result = sf_ep_open(domain, &comch_route_conn_handler, 1, sf_ctx_event_fd(&producer->child.ctx), &producer->ep);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("producer %u: no endpoint: %s", producer->child.id, doca_error_get_name(result));
		return result;
	}
	memset(producer->cache, 0, sizeof(producer->cache));
	producer->routes = NULL;
	producer->num_polled = producer->num_waiting = 0;
	producer->sweep = false;
	producer->sound_mmap = COMCH_NO_MMAP;
	producer->ended_first = producer->ended_last = NULL;
	producer->quiet = false;
	producer->num_again = 0;
	producer->list_max = producer->ep->ops->iov_max < COMCH_LIST_MAX ? producer->ep->ops->iov_max : COMCH_LIST_MAX;
	return DOCA_SUCCESS;
}

static void cpu_cancel(struct doca_comch_producer *producer)
{
	for (struct comch_route *route = producer->routes; route != NULL; route = route->next) {
		comch_route_fail_waiting(route, DOCA_ERROR_BAD_STATE);
		route->ops->cancel(route);
	}
}

static bool cpu_drained(struct doca_comch_producer *producer)
{
	for (const struct comch_route *route = producer->routes; route != NULL; route = route->next) {
		if (route->num_inflight > 0)
			return false;
	}
	return producer->ended_first == NULL;
}

static void cpu_stop(struct doca_comch_producer *producer)
{
	for (struct comch_route *route = producer->routes; route != NULL; route = route->next)
		route->retired = true;
	comch_routes_sweep(producer);
	sf_ep_close(producer->ep);
	producer->ep = NULL;
}

static bool report_ended(struct doca_comch_producer *producer)
{
	struct doca_task *task = producer->ended_first;

	producer->ended_first = producer->ended_last = NULL; /* tasks that a callback adds wait for the next call */
	for (struct doca_task *next; task != NULL; task = next) {
		next = task->next;
		comch_task_send_done((struct doca_comch_producer_task_send *)task, task->status);
	}
	return true;
}

static uint32_t poll_routes(struct doca_comch_producer *producer)
{
	uint32_t moved = 0;

	for (struct comch_route *route = producer->routes; route != NULL; route = route->next) {
		if (route->ops->poll != NULL)
			moved += route->ops->poll(route, COMCH_POLL_BUDGET);
	}
	return moved;
}

static bool cpu_progress(struct doca_comch_producer *producer)
{
	bool moved = sf_ep_poll(producer->ep, COMCH_POLL_BUDGET) > 0;

	if (__builtin_expect(producer->num_polled > 0, 0))
		moved |= poll_routes(producer) > 0;
	if (__builtin_expect(producer->num_waiting > 0, 0))
		moved |= comch_routes_send_waiting(producer);
	if (__builtin_expect(producer->ended_first != NULL, 0))
		moved |= report_ended(producer);
	if (__builtin_expect(producer->sweep, 0))
		moved |= comch_routes_sweep(producer);
	return moved;
}

static bool cpu_arm(struct doca_comch_producer *producer)
{
	bool due = producer->ended_first != NULL;

	for (struct comch_route *route = producer->routes; route != NULL && producer->num_polled > 0; route = route->next) {
		if (route->ops->poll != NULL)
			due |= route->ops->arm(route);
	}
	return sf_ep_arm(producer->ep) || due || comch_routes_waiting_due(producer);
}

const struct comch_producer_path comch_producer_cpu_path = {
	.start = cpu_start,
	.cancel = cpu_cancel,
	.drained = cpu_drained,
	.stop = cpu_stop,
	.progress = cpu_progress,
	.arm = cpu_arm,
};
