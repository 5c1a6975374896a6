/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric on libibverbs: any RDMA device, hardware or Soft-RoCE.
 *
 *   lib.c         libibverbs, loaded when used		  import.c   memory of others
 *   device.c      devices, domains, queue pairs	  access.c   accessing it without a connection
 *   interfaces.c  their addresses on the network	  endpoint.c     completions, what is due, poll and arm
 *   wire.c        all bytes that a peer can send	  receive.c  posted receives; flush.c takes them back
 *   region.c      memory of ours, and its importers	  conn.c     a connection's queue pair
 *   submit.c      operations				  connect.c  how connections begin and end; listen.c the other side
 */
#include "fabric/bridge.h"
#include "fabric/verbs/connect.h"
#include "fabric/verbs/ep.h"
#include "fabric/verbs/listen.h"
#include "fabric/verbs/region.h"
#include "fabric/verbs/submit.h"

extern const struct sf_fabric_ops sf_verbs_ops;

static bool channel_serve(struct sf_channel *channel, const struct sf_msg *first)
{
	if (first->kind != VB_MSG_ATTACH)
		return false;
	sf_verbs_region_asked(channel, (const struct vb_msg_attach *)first);
	return true;
}

static bool verbs_tick(uint64_t now_ns)
{
	bool timed = sf_verbs_conns_tick(now_ns);

	return sf_verbs_imports_tick() || timed;
}

static void after_fork(void)
{
	sf_verbs_conns_after_fork();
	sf_verbs_requests_after_fork();
}

struct sf_control_provider sf_verbs_control = {
	.name = "verbs",
	.kinds = SF_MSG_OF_VERBS,
	.side_check = sf_verbs_end_check,
	.check = sf_verbs_msg_check,
	.asked = sf_verbs_connect_requested,
	.serve = channel_serve,
	.tick = verbs_tick,
	.after_fork = after_fork,
};

static __attribute__((constructor)) void control_add(void)
{
	sf_control_add(&sf_verbs_control);
}

static const struct sf_fabric_bridge_ops bridge_ops = {
	.domain_pd = sf_verbs_domain_pd,
	.region_mkey = sf_verbs_region_mkey,
	.pd_device = sf_verbs_pd_device,
};

const struct sf_fabric_ops sf_verbs_ops = {
	.name = "verbs",
	.caps = SF_CAP_OTHER_PROCESS | SF_CAP_OTHER_MACHINE | SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_UNATTENDED,
	.iov_max = VB_IOV_MAX,
	.recv_iov_max = VB_RECV_IOV_MAX,
	.bridge = &bridge_ops,
	.domain_open = sf_verbs_domain_open,
	.domain_close = sf_verbs_domain_close,
	.region_register = sf_verbs_region_register,
	.region_close = sf_verbs_region_close,
	.region_export = sf_verbs_region_export,
	.region_request = sf_verbs_region_request,
	.region_ready = sf_verbs_region_ready,
	.region_access = sf_verbs_region_access,
	.region_arm = sf_verbs_region_arm,
	.ep_open = sf_verbs_ep_open,
	.ep_close = sf_verbs_ep_close,
	.ep_poll = sf_verbs_ep_poll,
	.ep_arm = sf_verbs_ep_arm,
	.ep_post_recv = sf_verbs_ep_post_recv,
	.ep_flush_recvs = sf_verbs_ep_flush_recvs,
	.listener_open = sf_verbs_listener_open,
	.listener_close = sf_verbs_listener_close,
	.conn_connect = sf_verbs_conn_connect,
	.conn_answer = sf_verbs_conn_answer,
	.conn_disconnect = sf_verbs_conn_disconnect,
	.conn_close = sf_verbs_conn_close,
	.conn_submit = sf_verbs_conn_submit,
	.conn_ring = sf_verbs_conn_ring,
	.conn_credits = sf_verbs_conn_credits,
};
