/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote events for the RDMA library: a word to read, write or add to (one-sided operations of 8 bytes on a connection, or
 * sf_region_access), and a doorbell to ring after each change of the word.
 */
#ifndef SF_SYNC_EVENT_REMOTE_NET_H
#define SF_SYNC_EVENT_REMOTE_NET_H

#include <doca_sync_event.h>

#include "base/visibility.h"
#include "fabric/fabric.h"

/* The word's place, for struct sf_op's region and remote_addr. Valid until the event is destroyed. */
SF_API void sf_sync_event_remote_net_word(const struct doca_sync_event_remote_net *event, struct sf_region **region,
					  uint64_t *addr);

/* Wakes sleeping waiters of the event. Call it when the operation is done. If the owner's page cannot be mapped, it does nothing:
 * the fabric rings the owner's doorbell (sf_region_arm). Any thread. */
SF_API void sf_sync_event_remote_net_ring(const struct doca_sync_event_remote_net *event);

#endif
