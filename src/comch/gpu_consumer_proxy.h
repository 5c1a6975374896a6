/* SPDX-License-Identifier: BSD-3-Clause */
/* The proxy of a consumer on a GPU: the peer's producers send to an endpoint of this process, and the proxy thread passes the
 * messages on to the kernel's GPU queue. */
#ifndef COMCH_GPU_CONSUMER_PROXY_H
#define COMCH_GPU_CONSUMER_PROXY_H

#include "comch/consumer.h"
#include "comch/gpu_queue.h"
#include "comch/gpu_proxy.h"

struct gpu_consumer_proxy;

/* Opens consumer->ep and its listener, as comch_consumer_listen does, and passes on what comes to the GPU queue at the beginning
 * of memory. The handler runs on the proxy thread, with its lock. Errors are logged. */
doca_error_t comch_gpu_consumer_proxy_open(struct doca_comch_consumer *consumer, const struct gpu_memory *memory,
					   const struct sf_ep_handler *handler, struct comch_advertisement *ad,
					   struct gpu_consumer_proxy **proxy);

/* Stops receiving. drained becomes true later, and the consumer's context is woken for it. */
void comch_gpu_consumer_proxy_cancel(struct gpu_consumer_proxy *proxy);
bool comch_gpu_consumer_proxy_drained(const struct gpu_consumer_proxy *proxy);

/* Once drained, with no connection left: closes listener and endpoint. */
void comch_gpu_consumer_proxy_close(struct gpu_consumer_proxy *proxy);

#endif
