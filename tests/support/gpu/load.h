/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer's threads: each keeps a number of messages in flight on its queue and checks the answers. */
#ifndef TEST_GPU_LOAD_H
#define TEST_GPU_LOAD_H

#include <stdint.h>

#include "setup.h"

#define LOAD_SAMPLES_MAX (1u << 20)

struct load_config {
	uint32_t queues, size, depth;
	uint32_t imm_len; /* of immediate data with each message */
	double warm_up_s, measure_s;
	uint64_t messages; /* total for each queue, instead of a time; 0: by time */
};

struct load_result {
	double seconds;
	uint64_t messages;     /* in seconds, all queues */
	uint64_t wrong;	       /* answers that differ from the request */
	double p50_us, p99_us; /* round trip */
};

/* Runs the peer's end of the connection until its time is over; leaves it connected. */
void load_run(struct setup_end *end, const struct load_config *config, struct load_result *result);

#endif
