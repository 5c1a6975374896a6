/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPU's data paths: what consumer.c, producer.c and route.c choose from. */
#ifndef COMCH_GPU_PATH_H
#define COMCH_GPU_PATH_H

#include "comch/consumer.h"
#include "comch/inbound.h"
#include "comch/producer.h"
#include "comch/route.h"

extern const struct comch_consumer_path comch_consumer_gpu_path;
extern const struct comch_producer_path comch_producer_gpu_path;

/* Frees what kernels of a stopped context may still have used, if there is any. No kernel may use the handle any more. */
void comch_gpu_consumer_release(struct doca_comch_consumer *consumer);
void comch_gpu_producer_release(struct doca_comch_producer *producer);

/* Bytes of the arena of a consumer on a GPU: the size of its mmap. */
uint32_t comch_gpu_consumer_arena(const struct doca_comch_consumer *consumer);

/* The route of a producer on the CPU to a consumer on the peer's GPU. Same contract as comch_route_conn_open. */
doca_error_t comch_route_gpu_queue_open(struct doca_comch_producer *producer, struct comch_remote_consumer *consumer,
					struct comch_route **route);

/* Frees the send state that producers share, with the consumer's record; NULL does nothing. */
void comch_gpu_queue_sender_destroy(struct comch_gpu_queue_sender *sender);

/* What a GPU queue producer's attach names: the descriptor of its memory, and in it the GPU queue for this consumer. */
#define COMCH_GPU_ATTACH_OFFSET_SIZE 8

#endif
