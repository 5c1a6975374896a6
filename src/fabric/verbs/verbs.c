/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric on libibverbs: any RDMA device, hardware or Soft-RoCE.
 *
 *   lib.c      libibverbs, loaded when used	   region.c   memory of ours, and who imports it
 *   device.c   devices, domains, queue pairs	   import.c   memory of others
 *   wire.c     all bytes that a peer can send	   access.c   reaching it without a link
 *   reach.c    where processes are, as text	   port.c     completions, what is due, poll and arm
 *   agent.c    the process's thread		   receive.c  posted receives; flush.c takes them back
 *   conn.c     its sockets and their messages	   link.c     a link's queue pair
 *   net.c      TCP: who is found, and how	   connect.c  how links begin and end; listen.c the other side
 *   dial.c     calling others			   submit.c   operations
 */
#include "fabric/bridge.h"
#include "fabric/verbs/link.h"

extern const struct sf_fabric_ops sf_verbs_ops;

static const struct sf_fabric_bridge_ops bridge_ops = {
	.domain_pd = sf_verbs_domain_pd,
	.region_mkey = sf_verbs_region_mkey,
	.pd_device = sf_verbs_pd_device,
};

const struct sf_fabric_ops sf_verbs_ops = {
	.name = "verbs",
	.caps = SF_CAP_OTHER_PROCESS | SF_CAP_OTHER_MACHINE | SF_CAP_ONE_SIDED | SF_CAP_ATOMIC,
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
	.port_open = sf_verbs_port_open,
	.port_close = sf_verbs_port_close,
	.port_poll = sf_verbs_port_poll,
	.port_arm = sf_verbs_port_arm,
	.port_post_recv = sf_verbs_port_post_recv,
	.port_flush_recvs = sf_verbs_port_flush_recvs,
	.listener_open = sf_verbs_listener_open,
	.listener_close = sf_verbs_listener_close,
	.listener_reach = sf_verbs_listener_reach,
	.link_connect = sf_verbs_link_connect,
	.link_accept = sf_verbs_link_accept,
	.link_reject = sf_verbs_link_reject,
	.link_disconnect = sf_verbs_link_disconnect,
	.link_close = sf_verbs_link_close,
	.link_submit = sf_verbs_link_submit,
	.link_wait = sf_verbs_link_wait,
	.link_ring = sf_verbs_link_ring,
};
