/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider for processes of one machine: the sender is the NIC.
 *
 *   layout.h  ring.h         what two processes share, and how it is written and read
 *   port  recvq              a port: what is due on it; its posted receives
 *   link  submit  onesided   a link's receiving and end; sending; remote memory
 *   links  connect           how links come to be
 *   region  peer             memory: the owner's, the importers'
 *   pages  extents           the mover of pages
 *   access                   how an importer reaches the bytes
 *   serve  message           what the agent answers, in which words
 *   fds  descriptor          shared memory by descriptor, the exported bytes
 */
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/shm/access.h"
#include "fabric/shm/connect.h"
#include "fabric/shm/link.h"
#include "fabric/shm/links.h"
#include "fabric/shm/port.h"
#include "fabric/shm/region.h"
#include "fabric/shm/serve.h"

#define IOV_MAX_OF_OPERATION 64

extern const struct sf_fabric_ops sf_shm_ops;

struct sf_control_provider sf_shm_control = {
	.kinds = SF_MSG_OF_SHM,
	.connect_fds = SHM_MSG_PORT_FDS + 1,
	.accept_fds = SHM_MSG_PORT_FDS,
	.side_check = sf_shm_side_check,
	.check = sf_shm_msg_check,
	.asked = sf_shm_asked,
	.serve = sf_shm_serve,
	.after_fork = sf_shm_child_after_fork,
};

static __attribute__((constructor)) void control_add(void)
{
	sf_control_add(&sf_shm_control);
}

static doca_error_t domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	struct sf_domain *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return DOCA_ERROR_NO_MEMORY;
	d->ops = ops;
	*domain = d;
	return DOCA_SUCCESS;
}

static void domain_close(struct sf_domain *domain)
{
	free(domain);
}

const struct sf_fabric_ops sf_shm_ops = {
	.name = "shm",
	.caps = SF_CAP_OTHER_PROCESS | SF_CAP_ONE_SIDED | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU | SF_CAP_MAP,
	.iov_max = IOV_MAX_OF_OPERATION,
	.recv_iov_max = SHM_PIECES_MAX,
	.domain_open = domain_open,
	.domain_close = domain_close,
	.region_register = sf_shm_region_register,
	.region_close = sf_shm_region_close,
	.region_export = sf_shm_region_export,
	.region_request = sf_shm_region_request,
	.region_ready = sf_shm_region_ready,
	.region_access = sf_shm_region_access,
	.region_arm = sf_shm_region_arm,
	.port_open = sf_shm_port_open,
	.port_close = sf_shm_port_close,
	.port_poll = sf_shm_port_poll,
	.port_arm = sf_shm_port_arm,
	.port_post_recv = sf_shm_port_post_recv,
	.port_flush_recvs = sf_shm_port_flush_recvs,
	.listener_open = sf_shm_listener_open,
	.listener_close = sf_shm_listener_close,
	.link_connect = sf_shm_link_connect,
	.link_accept = sf_shm_link_accept,
	.link_reject = sf_shm_link_reject,
	.link_disconnect = sf_shm_link_disconnect,
	.link_close = sf_shm_link_close,
	.link_submit = sf_shm_link_submit,
	.link_ring = sf_shm_link_ring,
};
