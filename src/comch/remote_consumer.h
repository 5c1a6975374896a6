/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consumers that the peer of a connection advertised. Each connection has a table of them, under its lock. Producers hold a
 * reference to the record of each consumer that they send to, and read in it, without a lock, whether the consumer has expired.
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
	struct comch_remote_consumer *next; /* in the table's list */
	atomic_uint refs;
	atomic_bool expired; /* set once, when it stopped or its process exited */
	uint32_t id;
	uint32_t imm_len_max;
	struct comch_advertisement ad;
	struct comch_gpu_queue_sender
		*sender; /* to a GPU's GPU queue, created with the first route; guarded by the connection's lock */
};

struct comch_remote_consumers {
	struct comch_remote_consumer *buckets[COMCH_REMOTE_BUCKETS];
	uint32_t num;
	atomic_uint version; /* changes with every added consumer; read without the lock */
};

/* ALREADY_EXIST, FULL (COMCH_CONSUMERS_MAX) or NO_MEMORY. */
doca_error_t comch_remote_consumers_add(struct comch_remote_consumers *table, uint32_t id, uint32_t imm_len_max,
					const struct comch_advertisement *ad);
/* Marks the consumer as expired and removes it. False if the id is unknown. */
bool comch_remote_consumers_expire(struct comch_remote_consumers *table, uint32_t id);
/* Expires any consumer and returns its id, or 0 when none is left. */
uint32_t comch_remote_consumers_expire_any(struct comch_remote_consumers *table);
/* Returns the consumer with a reference for the caller, or NULL. */
struct comch_remote_consumer *comch_remote_consumers_find(const struct comch_remote_consumers *table, uint32_t id);

void comch_remote_consumer_unref(struct comch_remote_consumer *consumer);

#endif
