/* SPDX-License-Identifier: BSD-3-Clause */
/* The receives that a server or client keeps posted for control messages: one mapping, cut into equal slots. */
#ifndef COMCH_RECEIVES_H
#define COMCH_RECEIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

struct comch_receives;

/* A message has arrived; its bytes are valid during the call. */
typedef void (*comch_receives_cb)(void *user, struct sf_conn *conn, const struct sf_recv *recv, uint8_t *payload);

/* Creates num slots of slot_size bytes and posts them all. */
doca_error_t comch_receives_create(struct sf_ep *ep, uint32_t num, uint32_t slot_size, comch_receives_cb arrived, void *user,
				   struct comch_receives **receives);

/* Takes every receive back, by the endpoint's poll; nothing is posted again. May be repeated. */
void comch_receives_flush(struct comch_receives *receives);
bool comch_receives_flushed(const struct comch_receives *receives);

/* Frees the mapping. Only when flushed, or never polled and the endpoint gone. */
void comch_receives_destroy(struct comch_receives *receives);

#endif
