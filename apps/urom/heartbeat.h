/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's heartbeat: one word of a page shared with the daemon, in which the worker writes its current call. When the
 * process dies or hangs, the daemon reads there which operation of which plugin it was in.
 *
 * Plugins run in the worker and can write anything there: to the daemon it is only a hint, and it checks every part.
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
	_Atomic uint64_t word; /* number of calls << 16 | the plugin's index in the worker << 8 | the call */
};

/* Called by the worker's only thread. */
static inline void heartbeat_say(struct heartbeat *heartbeat, uint32_t plugin, enum heartbeat_call call)
{
	uint64_t count = atomic_load_explicit(&heartbeat->word, memory_order_relaxed) >> 16;

	atomic_store_explicit(&heartbeat->word, (count + 1) << 16 | (uint64_t)plugin << 8 | (uint64_t)call, memory_order_relaxed);
}

#endif
