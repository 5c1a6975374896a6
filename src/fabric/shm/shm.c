/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider for processes of one machine: the sender is the NIC.
 *
 *   layout.h  ring.h         what two processes share, and how it is written and read
 *   endpoint  recvq              an endpoint: what is due on it; its posted receives
 *   connection  submit  onesided   a connection's receiving and end; sending; remote memory
 *   connections  connect           how connections come to be
 *   region  peer             memory: the owner's, the importers'
 *   pages  extents           the mover of pages
 *   access                   how an importer reaches the bytes
 *   serve  message           what the agent answers, in which words
 *   fds  descriptor          shared memory by descriptor, the exported bytes
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/control/runtime.h"
#include "fabric/fabric.h"
#include "fabric/shm/access.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/conn.h"
#include "fabric/shm/conns.h"
#include "fabric/shm/ep.h"
#include "fabric/shm/region.h"
#include "fabric/shm/serve.h"
#include "fabric/shm/shm.h"
#include "fabric/control/nodes.h"
#include "fabric/tcp/import.h"
#include "fabric/tcp/conn.h"

#define IOV_MAX_OF_OPERATION 64

extern const struct sf_fabric_ops sf_shm_ops;

struct sf_control_provider sf_shm_control = {
	.name = "shm",
	.kinds = SF_MSG_OF_SHM,
	.connect_fds = SHM_MSG_EP_FDS + 1,
	.accept_fds = SHM_MSG_EP_FDS,
	.beside = &sf_tcp_control,
	.side_check = sf_shm_side_check,
	.check = sf_shm_msg_check,
	.asked = sf_shm_connect_requested,
	.serve = sf_shm_agent_serve,
	.after_fork = sf_shm_child_after_fork,
};

static __attribute__((constructor)) void control_add(void)
{
	sf_control_add(&sf_shm_control);
}

doca_error_t sf_shm_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	struct shm_domain *d;

	if (sysconf(_SC_PAGESIZE) != SHM_PAGE) {
		SF_LOG_ERR("this kernel has pages of %ld bytes, shared memory needs pages of %d: boot a kernel with such pages, "
			   "or set SOFTFIELD_FABRIC=loop for programs of one process",
			   sysconf(_SC_PAGESIZE), SHM_PAGE);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return DOCA_ERROR_NO_MEMORY;
	d->base.ops = ops;
	*domain = &d->base;
	if (sf_nodes_joined())
		sf_shm_domain_join(&d->base);
	return DOCA_SUCCESS;
}

void sf_shm_domain_join(struct sf_domain *domain)
{
	shm_domain(domain)->device = (struct sf_net_device){.name = "of this node", .addresses = sf_nodes_own};
	domain->reaches_others = true;
}

/* ---- each peer by the shortest way ---- */

static bool is_networked(struct sf_domain *domain)
{
	return shm_domain(domain)->device.name != NULL;
}

static doca_error_t region_export(struct sf_region *region, void *descriptor, size_t *len)
{
	return is_networked(region->domain) ? sf_tcp_region_export(region, descriptor, len)
					    : sf_shm_region_export(region, descriptor, len);
}

static doca_error_t region_request(struct sf_domain *domain, const void *bytes, size_t len, struct sf_region **region)
{
	struct sf_descriptor descriptor;

	if (bytes == NULL || !sf_tcp_is_descriptor(bytes, len))
		return sf_shm_region_request(domain, bytes, len, region);
	if (sf_tcp_descriptor_read(bytes, len, &descriptor) == DOCA_SUCCESS &&
	    sf_runtime_is_there(SF_SOCKET_AGENT, &descriptor.agent))
		return sf_shm_region_request_of(domain, &descriptor, region);
	return sf_tcp_region_request(domain, bytes, len, region);
}

static doca_error_t conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				 void *user, struct sf_conn **conn)
{
	struct sf_key key;

	if (is_networked(ep->domain) && sf_name_check(name, address, data, len) == DOCA_SUCCESS) {
		key = sf_key_of_name(name);
		if (!sf_runtime_is_there(SF_SOCKET_LISTENER, &key))
			return sf_tcp_conn_connect(ep, name, address, data, len, user, conn);
	}
	return sf_shm_conn_connect(ep, name, address, data, len, user, conn);
}

void sf_shm_domain_close(struct sf_domain *domain)
{
	free(domain);
}

const struct sf_fabric_ops sf_shm_ops = {
	.name = "shm",
	.caps = SF_CAP_OTHER_PROCESS | SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU | SF_CAP_UNATTENDED | SF_CAP_MAP,
	.iov_max = IOV_MAX_OF_OPERATION,
	.recv_iov_max = SHM_PIECES_MAX,
	.domain_open = sf_shm_domain_open,
	.domain_close = sf_shm_domain_close,
	.region_register = sf_shm_region_register,
	.region_close = sf_shm_region_close,
	.region_export = region_export,
	.region_request = region_request,
	.region_ready = sf_shm_region_ready,
	.region_access = sf_shm_region_access,
	.region_arm = sf_shm_region_arm,
	.ep_open = sf_shm_ep_open,
	.ep_close = sf_shm_ep_close,
	.ep_poll = sf_shm_ep_poll,
	.ep_arm = sf_shm_ep_arm,
	.ep_post_recv = sf_shm_ep_post_recv,
	.ep_flush_recvs = sf_shm_ep_flush_recvs,
	.listener_open = sf_shm_listener_open,
	.listener_close = sf_shm_listener_close,
	.conn_connect = conn_connect,
	.conn_answer = sf_shm_conn_answer,
	.conn_disconnect = sf_shm_conn_disconnect,
	.conn_close = sf_shm_conn_close,
	.conn_submit = sf_shm_conn_submit,
	.conn_ring = sf_shm_conn_ring,
};
