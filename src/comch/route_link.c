/* SPDX-License-Identifier: BSD-3-Clause */
/* The route by a link of the fabric: the consumer's posted receives are the port's at its end. */
#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/producer.h"
#include "comch/producer_task_send.h"
#include "comch/route.h"

struct route_link {
	struct comch_route base;
	struct sf_link *link;
};

static void link_send_done(struct sf_op *op)
{
	struct route_link *route = (struct route_link *)op->link->user;

	route->base.num_inflight--;
	comch_task_send_done(
		(struct doca_comch_producer_task_send *)((char *)op - offsetof(struct doca_comch_producer_task_send, op)),
		op->status);
}

static doca_error_t link_send(struct comch_route *base, struct doca_comch_producer_task_send *task)
{
	struct route_link *route = (struct route_link *)base;
	doca_error_t result;

	if (__builtin_expect(base->failure != DOCA_SUCCESS, 0))
		return base->failure;
	task->op.done = link_send_done;
	result = sf_link_submit(route->link, &task->op);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		base->num_inflight++;
	return result;
}

static bool link_is_connecting(const struct comch_route *base)
{
	return ((const struct route_link *)base)->link->state == SF_LINK_CONNECTING;
}

static void link_cancel(struct comch_route *base)
{
	sf_link_disconnect(((struct route_link *)base)->link);
}

static void link_close(struct comch_route *base)
{
	sf_link_close(((struct route_link *)base)->link);
	free(base);
}

static const struct comch_route_ops link_ops = {
	.name = "link",
	.send = link_send,
	.is_connecting = link_is_connecting,
	.cancel = link_cancel,
	.close = link_close,
};

static void link_connected(struct sf_link *link, doca_error_t status, const void *data, size_t len)
{
	struct route_link *route = (struct route_link *)link->user;

	(void)data;
	(void)len;
	if (status == DOCA_SUCCESS || route->base.retired)
		return;
	comch_route_fail_waiting(&route->base, status);
	if (status == DOCA_ERROR_TIME_OUT) { /* a peer that was held up: the next send tries again */
		route->base.retired = true;
		route->base.producer->cache[route->base.consumer->id % COMCH_ROUTE_CACHE] = NULL;
	} else if (route->base.producer->child.ctx.state == DOCA_CTX_STATE_RUNNING) {
		SF_LOG_WARN_LIMITED("producer %u cannot reach consumer %u: %s", route->base.producer->child.id,
				    route->base.consumer->id, doca_error_get_name(status));
	}
	route->base.failure = status;
	route->base.producer->sweep = true;
}

static void link_closed(struct sf_link *link, doca_error_t reason)
{
	struct route_link *route = (struct route_link *)link->user;

	comch_route_fail_waiting(&route->base, reason);
	route->base.failure = reason;
	route->base.producer->sweep = true;
}

const struct sf_port_handler comch_route_link_handler = {
	.connected = link_connected,
	.closed = link_closed,
};

doca_error_t comch_route_link_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
				   struct comch_route **out)
{
	const struct comch_attach attach = {.path = COMCH_PATH_LINK, .producer_id = producer->child.id};
	uint8_t data[SF_PRIVATE_MAX];
	struct route_link *route;
	doca_error_t result;

	route = (struct route_link *)calloc(1, sizeof(*route));
	if (route == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a route to consumer %u", consumer->id);
		return DOCA_ERROR_NO_MEMORY;
	}
	route->base.ops = &link_ops;
	result = sf_link_connect(producer->port, consumer->ad.name, NULL, data, comch_attach_pack(&attach, data), route,
				 &route->link);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("producer %u cannot connect to consumer %u: %s", producer->child.id, consumer->id,
				   doca_error_get_name(result));
		free(route);
		return result;
	}
	*out = &route->base;
	return DOCA_SUCCESS;
}
