/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider between machines. Endpoints, their receives and regions are those of shm; only the transport to a peer differs.
 *
 *   wire                     what goes over a connection
 *   session  send  receive   one connection: requests, answers, receives
 *   request                  the peer's requests
 *   ep  conn  connect        an endpoint's peers on the network
 *   drive  waiting           their sessions, as they are driven; those that wait for a receive
 *   import  serve            memory: the importer's side, the owner's
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/shm/connect.h"
#include "fabric/shm/shm.h"
#include "fabric/tcp/import.h"
#include "fabric/tcp/conn.h"

extern const struct sf_fabric_ops sf_tcp_ops;

static void after_fork(void)
{
	sf_tcp_eps_after_fork();
}

struct sf_control_provider sf_tcp_control = {
	.name = "tcp",
	.kinds = SF_MSG_OF_TCP,
	.by_network = true,
	.side_check = sf_tcp_side_check,
	.check = sf_tcp_msg_check,
	.asked = sf_tcp_connect_requested,
	.serve = sf_tcp_import_serve,
	.tick = sf_tcp_eps_tick,
	.after_fork = after_fork,
};

static __attribute__((constructor)) void control_add(void)
{
	sf_control_add(&sf_tcp_control);
}

const struct sf_fabric_ops *sf_tcp_fabric_ops(void)
{
	static const struct sf_fabric_ops *_Atomic table;

	if (table == NULL)
		table = sf_fabric_find("tcp");
	return table;
}

static doca_error_t domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	const char *key = secure_getenv("SOFTFIELD_TCP_KEY");
	doca_error_t error = sf_net_check();

	if (error == DOCA_SUCCESS && key != NULL && key[0] != '\0')
		error = sf_net_read_key(key);
	if (error == DOCA_SUCCESS)
		error = sf_shm_domain_open(ops, device, domain);
	if (error != DOCA_SUCCESS)
		return error;
	shm_domain(*domain)->by_network = true;
	sf_shm_domain_join(*domain);
	return DOCA_SUCCESS;
}

const struct sf_fabric_ops sf_tcp_ops = {
	.name = "tcp",
	.caps = SF_CAP_OTHER_PROCESS | SF_CAP_OTHER_MACHINE | SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU |
		SF_CAP_PIGGYBACK,
	.iov_max = TCP_IOV_MAX,
	.recv_iov_max = SHM_PIECES_MAX,
	.domain_open = domain_open,
	.domain_close = sf_shm_domain_close,
	.region_register = sf_shm_region_register,
	.region_close = sf_tcp_region_close,
	.region_export = sf_tcp_region_export,
	.region_request = sf_tcp_region_request,
	.region_ready = sf_tcp_region_ready,
	.region_access = sf_tcp_region_access,
	.region_arm = sf_tcp_region_arm,
	.ep_open = sf_shm_ep_open,
	.ep_close = sf_shm_ep_close,
	.ep_poll = sf_shm_ep_poll,
	.ep_arm = sf_shm_ep_arm,
	.ep_post_recv = sf_shm_ep_post_recv,
	.ep_flush_recvs = sf_shm_ep_flush_recvs,
	.listener_open = sf_shm_listener_open,
	.listener_close = sf_shm_listener_close,
	.conn_connect = sf_tcp_conn_connect,
	.conn_answer = sf_shm_conn_answer,
	.conn_disconnect = sf_tcp_conn_disconnect,
	.conn_close = sf_tcp_conn_close,
	.conn_submit = sf_tcp_conn_submit,
	.conn_ring = sf_tcp_conn_ring,
	.conn_credits = sf_tcp_conn_credits,
};
