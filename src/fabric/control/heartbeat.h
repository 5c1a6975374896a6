/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heartbeats: how a machine that is gone without a word is noticed, within SOFTFIELD_PEER_TIMEOUT (1000 ms).
 *
 * What counts is what the peer's kernel acknowledges, so a process that is stopped keeps its channels. A channel is lost
 * when something of it is on its way, and nothing came on it for that time; it ends as by the peer's death. No channel is
 * ended for what happens to another one.
 *
 * Idle channels have nothing on their way. The agent asks one of those to each address from which nothing came lately, and
 * the others only if that one is not answered. So they cost next to nothing while the machine lives.
 */
#ifndef SF_FABRIC_CONTROL_HEARTBEAT_H
#define SF_FABRIC_CONTROL_HEARTBEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_error.h>

struct sf_machine;

/* Of one channel; lies in its owner. */
struct sf_heartbeat {
	/* Sends something that the peer makes nothing of. Returns false if that cannot be now. By the agent, with sf_control_lock
	 * and the heartbeats' own, so another lock is only tried. */
	bool (*probe)(struct sf_heartbeat *heartbeat);
	/* Reads what the peer's probes left behind, if nobody else reads; or NULL: somebody always does. As probe. */
	void (*drain)(struct sf_heartbeat *heartbeat);
	_Atomic bool has_sent; /* since the last look: sf_heartbeat_sent */
	/* heartbeat.c's: */
	int fd;
	uint32_t generation;	    /* of the agent */
	struct sf_machine *machine; /* NULL: it is not watched */
	bool is_lost, is_full;	    /* what is sent now stays here */
	uint64_t waiting_ns;	    /* since when something is on its way; 0: nothing is */
	uint64_t stuck_ns, acked;   /* since when nothing beyond so many bytes arrives, though it is sent again; 0: it does */
	LIST_ENTRY(sf_heartbeat) entry;
};

/* BAD_CONFIG, logged: SOFTFIELD_PEER_TIMEOUT is no such number. */
doca_error_t sf_heartbeat_check(void);
uint32_t sf_heartbeat_timeout_ms(void);

/* Watches a connected socket; one that is no TCP is left alone. May be called under the owner's lock. */
void sf_heartbeat_begin(struct sf_heartbeat *heartbeat, int fd, bool (*probe)(struct sf_heartbeat *heartbeat));
/* Something goes to the peer. */
static inline void sf_heartbeat_sent(struct sf_heartbeat *heartbeat)
{
	if (!atomic_load_explicit(&heartbeat->has_sent, memory_order_relaxed))
		atomic_store_explicit(&heartbeat->has_sent, true, memory_order_relaxed);
}

/* Before the socket is closed. Nothing if it was not begun, or has ended. */
void sf_heartbeat_end(struct sf_heartbeat *heartbeat);

/* For the agent, with sf_control_lock. Returns when it is to be called again, or 0: there is nothing to watch. */
uint64_t sf_heartbeats_tick(uint64_t now_ns);

#endif
