/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consumers that the peer of a connection advertised. A table of them hangs on the connection, under its lock;
 * producers hold the record of each consumer that they send to, and see in it, without a lock, that the consumer is gone.
 */
#ifndef COMCH_REMOTE_CONSUMER_H
#define COMCH_REMOTE_CONSUMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "comch/control.h"

#define COMCH_REMOTE_BUCKETS 64

struct comch_gpu_queue_sender;

struct comch_remote_consumer {
	struct comch_remote_consumer *next; /* the table's */
	atomic_uint refs;
	atomic_bool expired; /* set once: it stopped, or its process went */
	uint32_t id;
	uint32_t imm_len_max;
	struct comch_advertisement ad;
	struct comch_gpu_queue_sender
		*sender; /* to a GPU's GPU queue, made with the first route; guarded by the connection's lock */
};

struct comch_remote_consumers {
	struct comch_remote_consumer *buckets[COMCH_REMOTE_BUCKETS];
	uint32_t num;
	atomic_uint version; /* changes with every consumer that comes: read without the lock */
};

/* ALREADY_EXIST, FULL (COMCH_CONSUMERS_MAX) or NO_MEMORY. */
doca_error_t comch_remote_consumers_add(struct comch_remote_consumers *table, uint32_t id, uint32_t imm_len_max,
					const struct comch_advertisement *ad);
/* Marks it expired and forgets it; false when there is none of that id. */
bool comch_remote_consumers_expire(struct comch_remote_consumers *table, uint32_t id);
/* Expires any one and gives its id, or 0 when none is left. */
uint32_t comch_remote_consumers_expire_any(struct comch_remote_consumers *table);
/* With a reference for the caller, or NULL. */
struct comch_remote_consumer *comch_remote_consumers_find(const struct comch_remote_consumers *table, uint32_t id);

void comch_remote_consumer_unref(struct comch_remote_consumer *consumer);

#endif
