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
	.domain_open = sf_loop_domain_open,
	.domain_close = sf_loop_domain_close,
	.region_register = sf_loop_region_register,
	.region_close = sf_loop_region_close,
	.region_export = sf_loop_region_export,
	.region_request = sf_loop_region_request,
	.region_access = sf_loop_region_access,
	.ep_open = sf_loop_ep_open,
	.ep_close = sf_loop_ep_close,
	.ep_poll = sf_loop_ep_poll,
	.ep_arm = sf_loop_ep_arm,
	.ep_post_recv = sf_loop_ep_post_recv,
	.ep_flush_recvs = sf_loop_ep_flush_recvs,
	.listener_open = sf_loop_listener_open,
	.listener_close = sf_loop_listener_close,
	.conn_connect = sf_loop_conn_connect,
	.conn_answer = sf_loop_conn_answer,
	.conn_disconnect = sf_loop_conn_disconnect,
	.conn_close = sf_loop_conn_close,
	.conn_submit = sf_loop_conn_submit,
	.conn_ring = sf_loop_conn_ring,
};
