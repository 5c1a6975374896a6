/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An orchestrator that speaks the control protocol at its plainest, as a program that knows nothing of our additions does: no
 * terms in its messages, consumer ids that it counts itself, queues closed before it announces its end. It serves on the CPU.
 */
#ifndef TESTS_PLAIN_ORCHESTRATOR_H
#define TESTS_PLAIN_ORCHESTRATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plain_orchestrator {
	const char *device, *channel;
	uint32_t queues, depth, frame_max;
	atomic_bool stop;     /* asks it to end */
	atomic_bool serving;  /* all queues run */
	bool vanish;	      /* end without a word, as a killed one does */
	atomic_bool hold;     /* keeps its answers for as long as this is set */
	atomic_uint held;     /* requests that it has and did not answer */
	uint32_t batch_bytes; /* not 0: says that it takes messages of several frames, and takes each for one */
};

/* Connects and sends control messages that are wrong in ways of the seed's choosing, until the server ends it or all are sent. */
void plain_orchestrator_rave(struct plain_orchestrator *orchestrator, uint32_t seed);

/* Connects, serves until stop or until the server ends it. 0, or 1 when something failed. */
int plain_orchestrator_run(struct plain_orchestrator *orchestrator);

#endif
