/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/loop/loop.h"

#include "base/fork.h"

pthread_mutex_t loop_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_PROVIDER, &loop_lock, NULL);

extern const struct sf_fabric_ops sf_loop_ops;

const struct sf_fabric_ops sf_loop_ops = {
	.name = "loop",
	.caps = SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU | SF_CAP_UNATTENDED | SF_CAP_MAP,
	.iov_max = LOOP_IOV_MAX,
	.recv_iov_max = LOOP_IOV_MAX,
	.domain_open = loop_domain_open,
	.domain_close = loop_domain_close,
	.region_register = loop_region_register,
	.region_close = loop_region_close,
	.region_export = loop_region_export,
	.region_request = loop_region_request,
	.region_access = loop_region_access,
	.ep_open = loop_ep_open,
	.ep_close = loop_ep_close,
	.ep_poll = loop_ep_poll,
	.ep_arm = loop_ep_arm,
	.ep_post_recv = loop_ep_post_recv,
	.ep_flush_recvs = loop_ep_flush_recvs,
	.listener_open = loop_listener_open,
	.listener_close = loop_listener_close,
	.conn_connect = loop_conn_connect,
	.conn_accept = loop_conn_accept,
	.conn_reject = loop_conn_reject,
	.conn_disconnect = loop_conn_disconnect,
	.conn_close = loop_conn_close,
	.conn_submit = loop_conn_submit,
	.conn_ring = loop_conn_ring,
};
