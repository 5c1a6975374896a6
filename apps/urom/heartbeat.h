/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's pulse: one word of a page that the daemon and a worker share, in which the worker says what it is doing. When the
 * process dies, or no longer says anything new, the daemon reads there which plugin it was in, and in which of its operations.
 *
 * Plugins run in the worker and can write anything there: to the daemon it is a hint, and every part of it is checked.
 */
#ifndef UROM_PULSE_H
#define UROM_PULSE_H

#include <stdatomic.h>
#include <stdint.h>

enum pulse_call {
	PULSE_OWN, /* the worker's own code */
	PULSE_LOAD,
	PULSE_OPEN,
	PULSE_ADDR,
	PULSE_WORKER_CMD,
	PULSE_PROGRESS,
	PULSE_NOTIF_PACK,
	PULSE_CLIENT_LEFT,
	PULSE_CLOSE,
	PULSE_CALLS,
};

#define PULSE_SIZE 4096

struct pulse {
	_Atomic uint64_t word; /* how many calls so far << 16 | the plugin's index in the worker << 8 | the call */
};

/* By the worker's one thread. */
static inline void pulse_say(struct pulse *pulse, uint32_t plugin, enum pulse_call call)
{
	uint64_t count = atomic_load_explicit(&pulse->word, memory_order_relaxed) >> 16;

	atomic_store_explicit(&pulse->word, (count + 1) << 16 | (uint64_t)plugin << 8 | (uint64_t)call, memory_order_relaxed);
}

#endif
