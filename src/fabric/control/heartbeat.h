/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heartbeats detect a machine that has failed silently within SOFTFIELD_PEER_TIMEOUT (1000 ms).
 *
 * They observe acknowledgements of the peer's kernel, so a stopped process keeps its channels. A channel is lost when it has data
 * in flight and received nothing for that time; it ends as if the peer had died. Channels are judged independently.
 *
 * Idle channels have nothing in flight. The agent probes one channel for each address that was silent lately, and the others only
 * if that one is not answered. So idle channels cost almost nothing.
 */
#ifndef SF_FABRIC_CONTROL_HEARTBEAT_H
#define SF_FABRIC_CONTROL_HEARTBEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <doca_error.h>

struct sf_machine;

/* Of one channel; embedded in its owner. */
struct sf_heartbeat {
	/* Sends bytes that the peer ignores. Returns false if that is impossible now. Called by the agent, with
	 * sf_control_lock and the heartbeats' own lock, so it may only try another lock. */
	bool (*probe)(struct sf_heartbeat *heartbeat);
	/* Reads and drops the peer's probes, if nobody else reads the socket; NULL if somebody always does. Called like
	 * probe. */
	void (*drain)(struct sf_heartbeat *heartbeat);
	_Atomic bool has_sent; /* since the last check: sf_heartbeat_sent */
	/* heartbeat.c's: */
	int fd;
	uint32_t generation;	    /* of the agent */
	struct sf_machine *machine; /* NULL: it is not watched */
	_Atomic bool is_lost;	    /* the owner reads it too */
	bool is_full;		    /* data sent now stays in the local queue */
	uint64_t waiting_ns;	    /* since when data is in flight; 0: none is */
	uint64_t stuck_ns, acked;   /* since when no bytes beyond acked arrive despite retransmissions; 0: they do */
	LIST_ENTRY(sf_heartbeat) entry;
};

/* BAD_CONFIG, logged: SOFTFIELD_PEER_TIMEOUT is invalid. */
doca_error_t sf_heartbeat_check(void);
uint32_t sf_heartbeat_timeout_ms(void);

/* Watches a connected socket; ignores one that is not TCP. May be called under the owner's lock. */
void sf_heartbeat_begin(struct sf_heartbeat *heartbeat, int fd, bool (*probe)(struct sf_heartbeat *heartbeat));
/* Records that data is sent to the peer. */
static inline void sf_heartbeat_sent(struct sf_heartbeat *heartbeat)
{
	if (!atomic_load_explicit(&heartbeat->has_sent, memory_order_relaxed))
		atomic_store_explicit(&heartbeat->has_sent, true, memory_order_relaxed);
}

/* Call before the socket is closed. Does nothing if it was not begun, or has ended. */
void sf_heartbeat_end(struct sf_heartbeat *heartbeat);

/* For the agent, with sf_control_lock. Returns the time of the next call, or 0 if nothing is watched. */
uint64_t sf_heartbeats_tick(uint64_t now_ns);

#endif
