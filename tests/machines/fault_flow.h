/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose connections are disturbed: it runs on both machines, in a role, and tells on standard output what becomes of
 * every operation. Each kind of traffic is a flow. The DPU's side begins rounds, one at a time; both sides check every byte.
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

static inline void fault_check(bool good, const char *what, const char *file, int line)
{
	if (good)
		return;
	printf("wrong: %s:%d: %s\n", file, line, what);
	fflush(stdout);
	_exit(1);
}

#ifndef CHECK
#define CHECK(condition) fault_check(condition, #condition, __FILE__, __LINE__)
#endif

struct flow {
	const char *name;
	void (*open)(struct flow *flow);
	void (*turn)(struct flow *flow);  /* often: goes on, and begins the next round if it may */
	void (*close)(struct flow *flow); /* whatever state it is in */
	struct doca_pe *pe;		  /* NULL: another flow's, or not open */
	bool is_met;			  /* it stands, on this side */
	bool is_ended;			  /* the connection has ended, as the library tells */
	uint32_t under_way;		  /* operations that have not ended */
	uint64_t rounds;
	/* for the main program */
	bool met_told, end_told;
	uint64_t wanted; /* rounds that are waited for, or 0 */
};

extern struct flow fault_comch, fault_data, fault_rdma, fault_dma;
extern bool fault_is_dpu;
extern size_t fault_len; /* of a transfer */

/* The device's place in the list: a machine's real ones come first. */
uint32_t fault_device(void);

/* May a round begin now? */
bool fault_may_begin(const struct flow *flow);

void fault_failed(const struct flow *flow, const char *what, doca_error_t status);

/* The bytes of a round: no two rounds have a word in common. len is a multiple of 8. */
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

/* ---- what one flow does for another ---- */

#define FAULT_DESCRIPTOR_MAX 1024

struct fault_descriptor {
	uint32_t len;
	uint8_t bytes[FAULT_DESCRIPTOR_MAX];
};

/* The host's memory maps, by the comch flow: exported there, and come here. */
struct fault_introduction {
	struct fault_descriptor pci, rdma;
};

void fault_dma_export(struct fault_descriptor *descriptor);
void fault_rdma_export(struct fault_descriptor *descriptor);
/* NULL: it has not come yet. */
const struct fault_introduction *fault_introduced(void);

#endif
