/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softfield perf: options, results, and the interface between measuring and the measured parts.
 *
 *   options.c     the command line          perf.c      processes, and their progress
 *   side.c        a process's device        measure.c   the steps of a measurement, the same for all parts
 *   report.c      table, CSV and JSON       plot.c      a chart
 *   comch.c  dma.c  rdma.c  sync_event.c  gpu.c         the parts
 *
 * Two processes: the near one, on the DPU, measures; the far one, on the host, answers. Both call the same functions of a
 * part in the same order. An error ends the process with one line.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "rdma/channel.h"
#include "rdma/options.h"
#include "rdma/side.h"
#include "timing.h"

#define PERF_NAME_MAX 32
#define PERF_ROUNDS_MAX (UINT64_C(1) << 22)
#define PERF_PARTS 5
#define PERF_RDMA (1u << 2) /* its bit in a plan's parts */

/* Parameters of both processes. The near one sends the struct to the far one. */
struct perf_plan {
	struct bench_plan rdma;	 /* sizes, tests and depth hold for all parts */
	uint64_t duration_ns;	 /* of one test */
	uint32_t parts;		 /* bits, by the index in perf_parts */
	uint32_t skips_gpu;	 /* skip that part without a GPU instead of failing */
	char gpu[PERF_NAME_MAX]; /* PCI address, or empty: the first of the far process */
};

struct perf_options {
	struct bench_options bench; /* CPUs, addresses of both sides, and RDMA's plan before it is copied to plan */
	struct perf_plan plan;
	const char *json, *csv, *plot; /* files, or NULL */
};

struct perf_costs {
	double connection_bytes; /* of a connection, on both sides together */
	double idle_progress_ns; /* a progress call that finds nothing */
};

/* One line of the report. */
struct perf_result {
	char part[PERF_NAME_MAX], what[PERF_NAME_MAX];
	uint32_t size, tests;
	uint64_t rounds, operations;
	struct timing_stats latency;
	double ops_per_s, bytes_per_s;
	struct perf_costs costs; /* of RDMA */
};

struct perf_side {
	struct perf_plan plan;
	int channel;
	bool near;
	int cpu;				   /* -1: any */
	const char *device;			   /* of RDMA alone; NULL: the first that has RDMA */
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE]; /* of the device */
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* near side: of the far side's device */
	uint32_t size;		  /* bytes of the current measurement */
	uint32_t depth;		  /* operations in flight, for the rate */
	/* Set by the part's open. */
	char what[PERF_NAME_MAX]; /* description for the report */
	bool halves;		  /* a round is a round trip, of which half is reported */
	struct doca_pe *pe;	  /* progressed while this process waits for the other; may be NULL */
	bool yields;		  /* meanwhile yields its CPU to the threads of a kernel */
	void *state;		  /* of the part */
};

struct perf_part {
	const char *name;
	uint32_t fixed_size; /* 0: the sizes of the plan */
	/* Returns false if it cannot be measured here and the plan allows skipping it. Both sides return the same. */
	bool (*open)(struct perf_side *side);
	void (*prepare)(struct perf_side *side); /* for side->size and side->depth */
	void (*latency)(struct perf_side *side, uint64_t rounds, struct timing *timing);
	void (*rate)(struct perf_side *side, uint64_t operations);
	void (*release)(struct perf_side *side);
	void (*close)(struct perf_side *side);
	/* Replaces the four functions above: measures side->size. */
	void (*measure)(struct perf_side *side, struct perf_result *result);
};

extern const struct perf_part perf_comch, perf_dma, perf_rdma, perf_sync_event, perf_gpu;
extern const struct perf_part *const perf_parts[PERF_PARTS];

/* ---- options.c ---- */

extern const struct cli_option perf_option_table[];

void perf_options_parse(struct cli *cli, struct perf_options *options);

/* Returns why a plan cannot be run, or NULL. */
const char *perf_plan_refused(const struct perf_plan *plan);

/* All parts but RDMA need one process on a DPU and one on its host. */
static inline bool perf_plan_needs_dpu(const struct perf_plan *plan)
{
	return plan->parts != PERF_RDMA;
}

/* ---- side.c ---- */

/* The near process opens a device with a representor; the far one opens the represented function. For RDMA alone any device does.
 */
void perf_side_open(struct perf_side *side);
void perf_side_close(struct perf_side *side);

/* Pins this thread to its CPU, or unpins it. Threads that it starts inherit the setting. */
void perf_side_pin(const struct perf_side *side, bool pinned);

/* Allocates whole pages, in a memory map for the device with these permissions. */
struct doca_mmap *perf_memory_open(const struct perf_side *side, size_t len, uint32_t permissions, uint8_t **memory);
void perf_memory_close(struct doca_mmap *mmap, uint8_t *memory);
struct doca_buf_inventory *perf_inventory_open(uint32_t num);

/* Makes one progress call; if many find nothing, checks whether the other process is alive. */
void perf_progress(const struct perf_side *side, struct doca_pe *pe);

/* Waits until both processes have called it. */
void perf_meet(const struct perf_side *side);

/* Returns the near side's number on both sides; at most max. */
uint64_t perf_agree(const struct perf_side *side, uint64_t number, uint64_t max);

/* ---- measure.c ---- */

#define PERF_OPERATIONS_MAX (UINT64_C(1) << 32)

/* Returns the plan's count, or else how many operations fit into the duration of a test, if `done` took ns; at most max. */
uint64_t perf_fitting(const struct perf_side *side, uint64_t done, uint64_t ns, uint64_t max);

/* Runs the plan. The near process writes each result to the descriptor; the far one writes nothing. */
void perf_measure(struct perf_side *side, int results);

/* ---- report.c, plot.c ---- */

struct perf_report {
	const struct perf_plan *plan;
	const struct perf_result *results;
	uint32_t num;
};

void perf_print_table(const struct perf_report *report);

/* Return an exit code; print errors of the file to stderr. */
int perf_write_json(const struct perf_report *report, const char *path);
int perf_write_csv(const struct perf_report *report, const char *path);
int perf_write_plot(const struct perf_report *report, const char *path);

#endif
