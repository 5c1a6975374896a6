/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by both sides of the sync event sample: flags, the Comm Channel, signalling and waiting in both modes. */
#ifndef SAMPLES_LEGACY_SYNC_EVENT_H
#define SAMPLES_LEGACY_SYNC_EVENT_H

#include <stdbool.h>

#include <doca_comm_channel.h>
#include <doca_sync_event.h>

#include "legacy_common.h"

#define LEGACY_EVENT_SERVICE "legacy sync event"
#define LEGACY_EVENT_DESCRIPTOR_MAX 4080

struct legacy_event_side {
	/* flags */
	char dev_address[DOCA_DEVINFO_PCI_ADDR_SIZE], rep_address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	bool async, atomic;
	int qdepth;

	struct doca_dev *dev;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
	struct doca_sync_event *event;
	struct doca_workq *workq; /* with --async */
};

void legacy_event_flags(struct legacy_event_side *side, const char *program, int argc, char **argv);

/* Starts the event in the mode of the flags; the other function stops and destroys it. */
void legacy_event_start(struct legacy_event_side *side);
void legacy_event_end(struct legacy_event_side *side);

/* Sets the event to value, or adds 1; the other function waits until it is greater than value. */
void legacy_event_signal(struct legacy_event_side *side, uint64_t value);
void legacy_event_wait(struct legacy_event_side *side, uint64_t value);

/* Sends to the peer; the other function waits for a message. */
void legacy_event_send(struct legacy_event_side *side, const void *msg, size_t len);
size_t legacy_event_receive(struct legacy_event_side *side, void *msg, size_t room);

#endif
