/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives that a server or client keeps posted for control messages: one mapping, divided into equal slots. */
#ifndef COMCH_RECEIVES_H
#define COMCH_RECEIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

struct comch_receives;

/* Called when a message has arrived. payload is valid during the call. */
typedef void (*comch_receives_cb)(void *user, struct sf_conn *conn, const struct sf_recv *recv, uint8_t *payload);

/* Creates num slots of slot_size bytes and posts them all. */
doca_error_t comch_receives_create(struct sf_ep *ep, uint32_t num, uint32_t slot_size, comch_receives_cb arrived, void *user,
				   struct comch_receives **receives);

/* Cancels all receives, which end in polls of the endpoint; none is posted again. May be repeated. */
void comch_receives_flush(struct comch_receives *receives);
bool comch_receives_flushed(const struct comch_receives *receives);

/* Frees the mapping. Call it only after all receives were flushed, or, if they were never polled, after the endpoint was closed.
 */
void comch_receives_destroy(struct comch_receives *receives);

#endif
