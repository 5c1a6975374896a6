/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's heartbeat: one word of a page that the daemon and a worker share, in which the worker says what it is doing. When
 * the process dies, or no longer says anything new, the daemon reads there which plugin it was in, and in which of its
 * operations.
 *
 * Plugins run in the worker and can write anything there: to the daemon it is a hint, and every part of it is checked.
 */
#ifndef UROM_HEARTBEAT_H
#define UROM_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

enum heartbeat_call {
	HEARTBEAT_OWN, /* the worker's own code */
	HEARTBEAT_LOAD,
	HEARTBEAT_OPEN,
	HEARTBEAT_ADDR,
	HEARTBEAT_WORKER_CMD,
	HEARTBEAT_PROGRESS,
	HEARTBEAT_NOTIF_PACK,
	HEARTBEAT_CLIENT_LEFT,
	HEARTBEAT_CLOSE,
	HEARTBEAT_CALLS,
};

#define HEARTBEAT_SIZE 4096

struct heartbeat {
	_Atomic uint64_t word; /* how many calls so far << 16 | the plugin's index in the worker << 8 | the call */
};

/* By the worker's one thread. */
static inline void heartbeat_say(struct heartbeat *heartbeat, uint32_t plugin, enum heartbeat_call call)
{
	uint64_t count = atomic_load_explicit(&heartbeat->word, memory_order_relaxed) >> 16;

	atomic_store_explicit(&heartbeat->word, (count + 1) << 16 | (uint64_t)plugin << 8 | (uint64_t)call, memory_order_relaxed);
}

#endif
