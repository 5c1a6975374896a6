/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects a peer's death while UCX cannot. Over shared memory UCX checks by itself whether the peer's process lives, but (1.13 to
 * 1.22) not on an endpoint that waits for the peer's answer to its connection request, which the first message of over some 90
 * bytes sends. If the peer dies before it answers, that endpoint never fails and its operations never complete. A watch is a
 * second endpoint to the same peer, on which nothing is sent; so UCX always checks it.
 */
#ifndef PLUGINS_UCX_WATCH_H
#define PLUGINS_UCX_WATCH_H

#include <ucp/api/ucp.h>

/* address: of ep's peer. *watch is NULL if the transport reports the peer's death without such checks, as TCP does. */
ucs_status_t ucx_watch_open(ucp_worker_h worker, ucp_ep_h ep, const ucp_address_t *address, ucp_err_handler_cb_t on_death,
			    void *arg, ucp_ep_h *watch);
/* Closes an endpoint, watch or not, without waiting for the peer: pending operations complete as cancelled within the call. Must
 * not be called from a callback of UCX. NULL is ignored. */
void ucx_endpoint_close_now(ucp_worker_h worker, ucp_ep_h ep);

#endif
