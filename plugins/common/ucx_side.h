/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's own place in a UCX network: context, worker, address, and endpoints to others by their addresses.
 * Which networks it uses is UCX's choice and UCX_TLS' and UCX_NET_DEVICES'. All on one thread.
 */
#ifndef PLUGINS_UCX_SIDE_H
#define PLUGINS_UCX_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <ucp/api/ucp.h>

#include <doca_error.h>

#define UCX_SIDE_ENDPOINTS_MAX 4096
#define UCX_SIDE_FLUSH_MS 500 /* of a close: a worker has two seconds to end */

struct ucx_endpoint {
	LIST_ENTRY(ucx_endpoint) next;
	uint64_t peer; /* UCX's unique id of the other worker */
	ucp_ep_h ep;
	bool failed; /* it is closed when it is looked for again */
};

struct ucx_side {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_address_t *address;
	size_t address_len;
	LIST_HEAD(, ucx_endpoint) endpoints;
	uint32_t num_endpoints;
};

/* features: UCP_FEATURE_... */
doca_error_t ucx_side_open(struct ucx_side *side, uint64_t features);
/* Endpoints first. What is still under way is told as cancelled before this returns. */
void ucx_side_close(struct ucx_side *side);

/* A urom_plugin_iface.addr. */
doca_error_t ucx_side_copy_address(const struct ucx_side *side, void *address, size_t *len);

/* The endpoint to the worker of that address: the same for the same worker until it fails. FULL: there are too many. */
doca_error_t ucx_side_reach(struct ucx_side *side, const void *address, struct ucx_endpoint **endpoint);

doca_error_t ucx_side_error(ucs_status_t status);

#endif
