/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's own place in a UCX network: context, worker, address, and endpoints to others by their addresses.
 * Which networks it uses is UCX's choice and its variables', which the daemon sets for its workers. All on one thread.
 */
#ifndef PLUGINS_UCX_SIDE_H
#define PLUGINS_UCX_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <ucp/api/ucp.h>

#include <doca_error.h>

#define UCX_SIDE_ENDPOINTS_MAX 4096
#define UCX_SIDE_ADDRESS_MAX 8192 /* bytes */
#define UCX_SIDE_FLUSH_MS 500	  /* of a close: a worker has two seconds to end */

struct ucx_side;

struct ucx_endpoint {
	LIST_ENTRY(ucx_endpoint) next;
	struct ucx_side *side;
	uint64_t peer; /* UCX's unique id of the other worker */
	ucp_ep_h ep;
	bool failed;   /* nothing goes through it any more; it is replaced when it is looked for again */
	bool replaced; /* out of the list: the last holder closes it */
	uint32_t holders;
};

struct ucx_side {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_address_t *address;
	size_t address_len;
	LIST_HEAD(, ucx_endpoint) endpoints;
	uint32_t num_endpoints;
	uint32_t num_failures; /* of endpoints, ever: when it grows, look for those that failed */
};

/* A setting of UCX's, "TLS" say, where the variable UCX_TLS does not say another. */
struct ucx_side_setting {
	const char *name, *value;
};

/* features: UCP_FEATURE_... */
doca_error_t ucx_side_open(struct ucx_side *side, uint64_t features);
doca_error_t ucx_side_open_with(struct ucx_side *side, uint64_t features, const struct ucx_side_setting *settings, uint32_t num);
/* Gives what has been sent some time to leave, and closes all endpoints. What is under way completes as cancelled. */
void ucx_side_close_endpoints(struct ucx_side *side);
/* The same first; what belongs to endpoints (keys) is to be gone by then. */
void ucx_side_close(struct ucx_side *side);

/* A urom_plugin_iface.addr. */
doca_error_t ucx_side_copy_address(const struct ucx_side *side, void *address, size_t *len);

/* The endpoint to the worker of that address: the same for the same worker until it fails. FULL: there are too many. */
doca_error_t ucx_side_reach(struct ucx_side *side, const void *address, struct ucx_endpoint **endpoint);
/* The same where the address is len bytes that somebody said. UCX is told no length and believes what it reads, so behind it is
 * put what ends its lists. INVALID_VALUE also: it is too long for one. */
doca_error_t ucx_side_reach_said(struct ucx_side *side, const void *address, size_t len, struct ucx_endpoint **endpoint);
/* In the same way, a packed key. */
doca_error_t ucx_side_unpack_said(const struct ucx_endpoint *endpoint, const void *packed, size_t len, ucp_rkey_h *rkey);
/* A caller that keeps an endpoint beyond the next ucx_side_reach holds it. */
void ucx_side_hold(struct ucx_endpoint *endpoint);
void ucx_side_release(struct ucx_side *side, struct ucx_endpoint *endpoint);
/* The same, and where nobody else holds it the endpoint is closed: what is under way completes as cancelled, within the call. Not
 * from a function that UCX calls, nor of an endpoint that is used without being held. */
void ucx_side_drop(struct ucx_side *side, struct ucx_endpoint *endpoint);

doca_error_t ucx_side_error(ucs_status_t status);

#endif
