/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of a run and the expected answers. Both are rings of contiguous frames, so one call sends a burst of requests
 * or compares a burst of answers. All threads share them and only read.
 */
#ifndef CLIENT_MESSAGES_H
#define CLIENT_MESSAGES_H

#include <stdint.h>

#include <doca_error.h>

#include "config.h"

struct messages {
	uint32_t count;		/* frames in each ring */
	uint32_t request_size;	/* of one frame */
	uint32_t response_size; /* of one frame */
	uint8_t *requests;
	uint8_t *echoed;    /* answers that carry the request's header */
	uint8_t *responses; /* the same answers as responses */
};

doca_error_t messages_init(struct messages *messages, const struct client_config *config);
void messages_fini(struct messages *messages);

#endif
