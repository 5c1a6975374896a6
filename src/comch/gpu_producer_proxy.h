/* SPDX-License-Identifier: BSD-3-Clause */
/* The proxy of a producer on a GPU: the proxy thread takes the kernel's messages out of the GPU queues and sends them by
 * connections, one for each consumer of the peer. */
#ifndef COMCH_GPU_PRODUCER_PROXY_H
#define COMCH_GPU_PRODUCER_PROXY_H

#include "comch/gpu_queue.h"
#include "comch/gpu_proxy.h"
#include "comch/producer.h"

struct gpu_producer_proxy;
struct gpu_forward; /* from one GPU queue to one consumer */

/* Opens producer->ep. The handler runs on the proxy thread, with its lock. Errors are logged. */
doca_error_t comch_gpu_producer_proxy_open(struct doca_comch_producer *producer, const struct sf_ep_handler *handler,
					   struct gpu_producer_proxy **proxy);
/* Once drained, with no forward left: closes the endpoint. */
void comch_gpu_producer_proxy_close(struct gpu_producer_proxy *proxy);
/* Sends what the kernel has written so far, as far as the peer has receives, and then nothing. With the proxy's lock. drained
 * becomes true when the connections are done with it, and the producer's context is woken for it. */
void comch_gpu_producer_proxy_cancel(struct gpu_producer_proxy *proxy);
bool comch_gpu_producer_proxy_drained(struct gpu_producer_proxy *proxy);

/* Forwards what the kernel writes into the GPU queue at memory + offset, once the connection is READY. With the proxy's lock.
 * Errors are logged. */
doca_error_t comch_gpu_forward_open(struct gpu_producer_proxy *proxy, const struct gpu_memory *memory, size_t offset,
				    struct sf_conn *conn, struct gpu_forward **forward);
/* Frees it. Nothing is in flight. With the proxy's lock. */
void comch_gpu_forward_close(struct gpu_forward *forward);

#endif
