/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose connections are disturbed. It runs on both machines, with a role, and prints the result of every operation.
 * Each kind of traffic is a flow. The DPU's side begins rounds, one at a time; both sides check every byte.
 */
#ifndef TESTS_MACHINES_FAULT_FLOW_H
#define TESTS_MACHINES_FAULT_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <doca_error.h>
#include <doca_pe.h>

#include "support/check.h"

struct flow {
	const char *name;
	void (*open)(struct flow *flow);
	void (*turn)(struct flow *flow);  /* called often: progresses the flow, and begins the next round if permitted */
	void (*close)(struct flow *flow); /* in any state */
	struct doca_pe *pe;		  /* NULL: shared with another flow, or not open */
	bool is_met;			  /* the connection is established on this side */
	bool is_ended;			  /* the library has reported the end of the connection */
	uint32_t under_way;		  /* operations in flight */
	uint64_t rounds;
	/* for the main program */
	bool met_reported, end_reported;
	uint64_t wanted; /* the number of rounds to wait for, or 0 */
};

extern struct flow fault_comch, fault_data, fault_rdma, fault_dma;
extern bool fault_is_dpu;
extern size_t fault_len; /* bytes of a transfer */

/* The device's index in the list: a machine's real devices come first. */
uint32_t fault_device(void);

/* Returns true if a round may begin now. */
bool fault_may_begin(const struct flow *flow);

void fault_failed(const struct flow *flow, const char *what, doca_error_t status);

/* Writes the bytes of a round: no two rounds share a word. len is a multiple of 8. */
static inline void pattern_write(void *bytes, size_t len, uint64_t round)
{
	uint64_t *words = bytes;

	for (size_t i = 0; i < len / sizeof(*words); i++)
		words[i] = round << 32 | i;
}

static inline bool pattern_is(const void *bytes, size_t len, uint64_t round)
{
	const uint64_t *words = bytes;

	for (size_t i = 0; i < len / sizeof(*words); i++) {
		if (words[i] != (round << 32 | i))
			return false;
	}
	return true;
}

/* ---- what flows exchange ---- */

#define FAULT_DESCRIPTOR_MAX 1024

struct fault_descriptor {
	uint32_t len;
	uint8_t bytes[FAULT_DESCRIPTOR_MAX];
};

/* Exports of the host's memory maps, sent by the comch flow. */
struct fault_introduction {
	struct fault_descriptor pci, rdma;
};

void fault_dma_export(struct fault_descriptor *descriptor);
void fault_rdma_export(struct fault_descriptor *descriptor);
/* NULL: it has not arrived yet. */
const struct fault_introduction *fault_introduced(void);

#endif
