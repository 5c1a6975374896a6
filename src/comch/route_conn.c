/* SPDX-License-Identifier: BSD-3-Clause */
/* The route through a connection of the fabric. The consumer posts its receives on the endpoint at the other end. */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "comch/producer.h"
#include "comch/producer_task_send.h"
#include "comch/route.h"

struct route_conn {
	struct comch_route base;
	struct sf_conn *conn;
	bool has_failed; /* a send, which was logged */
};

/* One line for all sends that end with the connection. */
static __attribute__((cold)) void failure_log(struct route_conn *route, doca_error_t status)
{
	if (!route->has_failed && route->base.producer->child.ctx.state == DOCA_CTX_STATE_RUNNING)
		SF_LOG_WARN_LIMITED(
			"producer %u: a send to consumer %u failed (%s): the consumer has stopped, or its process or the "
			"network is gone",
			route->base.producer->child.id, route->base.consumer->id, doca_error_get_name(status));
	route->has_failed = true;
}

static void conn_send_done(struct sf_op *op)
{
	struct route_conn *route = (struct route_conn *)op->conn->user;

	assert(route->base.num_inflight > 0);
	route->base.num_inflight--;
	if (__builtin_expect(op->status != DOCA_SUCCESS, 0))
		failure_log(route, op->status);
	comch_task_send_done(
		(struct doca_comch_producer_task_send *)((char *)op - offsetof(struct doca_comch_producer_task_send, op)),
		op->status);
}

static doca_error_t conn_send(struct comch_route *base, struct doca_comch_producer_task_send *task)
{
	struct route_conn *route = (struct route_conn *)base;
	doca_error_t result;

	if (__builtin_expect(base->failure != DOCA_SUCCESS, 0))
		return base->failure;
	task->op.done = conn_send_done;
	result = sf_conn_submit(route->conn, &task->op);
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		base->num_inflight++;
	return result;
}

static bool conn_is_connecting(const struct comch_route *base)
{
	return ((const struct route_conn *)base)->conn->state == SF_CONN_CONNECTING;
}

static void conn_cancel(struct comch_route *base)
{
	sf_conn_disconnect(((struct route_conn *)base)->conn);
}

static void conn_close(struct comch_route *base)
{
	sf_conn_close(((struct route_conn *)base)->conn);
	free(base);
}

static const struct comch_route_ops conn_ops = {
	.name = "connection",
	.send = conn_send,
	.is_connecting = conn_is_connecting,
	.cancel = conn_cancel,
	.close = conn_close,
};

static void conn_connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	struct route_conn *route = (struct route_conn *)conn->user;

	(void)data;
	(void)len;
	if (status == DOCA_SUCCESS || route->base.retired)
		return;
	comch_route_fail_waiting(&route->base, status);
	if (route->base.producer->child.ctx.state == DOCA_CTX_STATE_RUNNING)
		SF_LOG_WARN_LIMITED("producer %u cannot reach consumer %u: %s", route->base.producer->child.id,
				    route->base.consumer->id, doca_error_get_name(status));
	if (status == DOCA_ERROR_TIME_OUT) { /* the peer was delayed: the next send tries again */
		route->base.retired = true;
		route->base.producer->cache[route->base.consumer->id % COMCH_ROUTE_CACHE] = NULL;
	}
	route->base.failure = status;
	route->base.producer->sweep = true;
}

static void conn_closed(struct sf_conn *conn, doca_error_t reason)
{
	struct route_conn *route = (struct route_conn *)conn->user;

	comch_route_fail_waiting(&route->base, reason);
	route->base.failure = reason;
	route->base.producer->sweep = true;
}

const struct sf_ep_handler comch_route_conn_handler = {
	.connected = conn_connected,
	.closed = conn_closed,
};

doca_error_t comch_route_conn_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
				   struct comch_route **out)
{
	const struct comch_attach attach = {.path = COMCH_PATH_CONN, .producer_id = producer->child.id};
	uint8_t data[SF_PRIVATE_MAX];
	struct route_conn *route;
	doca_error_t result;

	route = (struct route_conn *)calloc(1, sizeof(*route));
	if (route == NULL) {
		SF_LOG_ERR_LIMITED("no memory for a route to consumer %u", consumer->id);
		return DOCA_ERROR_NO_MEMORY;
	}
	route->base.ops = &conn_ops;
	result = sf_conn_connect(producer->ep, consumer->ad.name, NULL, data, comch_attach_pack(&attach, data), route,
				 &route->conn);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("producer %u cannot connect to consumer %u: %s", producer->child.id, consumer->id,
				   doca_error_get_name(result));
		free(route);
		return result;
	}
	*out = &route->base;
	return DOCA_SUCCESS;
}
