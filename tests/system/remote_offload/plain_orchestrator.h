/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A minimal orchestrator for the control protocol, as a program that does not know our additions: no terms in its messages,
 * consumer ids that it counts itself, queues closed before it announces its end. It serves on the CPU.
 */
#ifndef TESTS_PLAIN_ORCHESTRATOR_H
#define TESTS_PLAIN_ORCHESTRATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plain_orchestrator {
	const char *device, *channel;
	uint32_t queues, depth, frame_max;
	atomic_bool stop;     /* requests it to end */
	atomic_bool serving;  /* all queues run */
	bool vanish;	      /* ends without notice, as a killed process does */
	atomic_bool hold;     /* withholds its answers while this is set */
	atomic_uint held;     /* requests that it has received and not answered */
	uint32_t batch_bytes; /* not 0: announces that it accepts messages of several frames, but treats each as one frame */
};

/* Connects and sends random invalid control messages, chosen by the seed, until the server disconnects it or all are sent. */
void plain_orchestrator_rave(struct plain_orchestrator *orchestrator, uint32_t seed);

/* Connects, and serves until `stop` is set or the server disconnects. Returns 0, or 1 if something failed. */
int plain_orchestrator_run(struct plain_orchestrator *orchestrator);

#endif
