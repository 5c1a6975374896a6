/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin's UCX context and worker, its address, and endpoints to other addresses. UCX chooses the networks by its
 * variables, which the daemon sets for its workers. All calls belong to one thread.
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
#define UCX_SIDE_FLUSH_MS 1000	  /* limit of a close: a worker has two seconds to end */

struct ucx_side;

struct ucx_endpoint {
	LIST_ENTRY(ucx_endpoint) next;
	struct ucx_side *side;
	uint64_t peer; /* UCX's unique id of the other worker */
	ucp_ep_h ep;   /* NULL: closed, because only the watch has seen the peer's death */
	ucp_ep_h watch;
	LIST_ENTRY(ucx_endpoint) in_dead;
	bool dead;     /* reported by the watch, and still open */
	bool failed;   /* unusable; the next search replaces it */
	bool replaced; /* not in the list any more: the last holder closes it */
	uint32_t holders;
};

struct ucx_side {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_address_t *address;
	size_t address_len;
	LIST_HEAD(, ucx_endpoint) endpoints;
	LIST_HEAD(, ucx_endpoint) dead;
	uint32_t num_endpoints;
	uint32_t num_failures; /* failed endpoints so far: if it grows, the plugin must look for them */
};

/* A setting of UCX, such as "TLS"; the variable UCX_TLS takes precedence. */
struct ucx_side_setting {
	const char *name, *value;
};

/* features: UCP_FEATURE_... */
doca_error_t ucx_side_open(struct ucx_side *side, uint64_t features);
doca_error_t ucx_side_open_with(struct ucx_side *side, uint64_t features, const struct ucx_side_setting *settings, uint32_t num);
/* Flushes for a limited time and closes all endpoints. Pending operations complete as cancelled. */
void ucx_side_close_endpoints(struct ucx_side *side);
/* Does the same first. Objects of endpoints (keys) must be destroyed before. */
void ucx_side_close(struct ucx_side *side);

/* Progresses UCX. Once nothing is left to receive, it also completes what is pending on endpoints whose peer's death only the
 * watch reported: as cancelled, with callbacks. Their ep is NULL from then on, so destroy their keys before. */
unsigned ucx_side_progress(struct ucx_side *side);

/* Implements urom_plugin_iface.addr. */
doca_error_t ucx_side_copy_address(const struct ucx_side *side, void *address, size_t *len);

/* Returns the endpoint to the worker of that address: the same one until it fails. FULL: too many endpoints. */
doca_error_t ucx_side_endpoint_get(struct ucx_side *side, const void *address, struct ucx_endpoint **endpoint);
/* The same for an untrusted address of len bytes. UCX has no length parameter and trusts the bytes, so terminators for its lists
 * are appended. INVALID_VALUE: also if it is too long. */
doca_error_t ucx_side_endpoint_get_untrusted(struct ucx_side *side, const void *address, size_t len,
					     struct ucx_endpoint **endpoint);
/* The same for a packed key. */
doca_error_t ucx_side_unpack_said(const struct ucx_endpoint *endpoint, const void *packed, size_t len, ucp_rkey_h *rkey);
/* Takes a reference. A caller that keeps an endpoint beyond the next ucx_side_endpoint_get needs one. */
void ucx_side_hold(struct ucx_endpoint *endpoint);
void ucx_side_release(struct ucx_side *side, struct ucx_endpoint *endpoint);
/* The same, but the last reference closes the endpoint: pending operations complete as cancelled, within the call. Must not be
 * called from a callback of UCX, nor for an endpoint that is used without a reference. */
void ucx_side_drop(struct ucx_side *side, struct ucx_endpoint *endpoint);

doca_error_t ucx_side_error(ucs_status_t status);

#endif
