/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softfield perf: what is asked for, what comes out, and the seam between the measuring and what is measured.
 *
 *   options.c     the command line          perf.c      processes, and how far it is
 *   side.c        a process's device        measure.c   the order of a measurement, the same for all parts
 *   report.c      table, CSV and JSON       plot.c      a picture
 *   comch.c  dma.c  rdma.c  sync_event.c  gpu.c         the parts
 *
 * Two processes: the near one measures, on the DPU; the far one, on the host, answers. Both call the same functions of a part in
 * the same order. What breaks ends the process with a line.
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

/* What both processes must agree on. Travels from the near one to the far one as it is. */
struct perf_plan {
	struct bench_plan rdma;	 /* sizes, tests and depth are everybody's */
	uint64_t duration_ns;	 /* of one test */
	uint32_t parts;		 /* bits, by the index in perf_parts */
	uint32_t skips_gpu;	 /* without a GPU, leave that part out instead of failing */
	char gpu[PERF_NAME_MAX]; /* PCI address, or empty: the far process takes its first */
};

struct perf_options {
	struct bench_options bench; /* CPUs, the pair's address, and the plan of RDMA until it is in the plan */
	struct perf_plan plan;
	const char *json, *csv, *plot; /* files, or NULL */
};

/* One line of the report. */
struct perf_result {
	char part[PERF_NAME_MAX], what[PERF_NAME_MAX];
	uint32_t size, tests;
	uint64_t rounds, operations;
	struct timing_stats latency;
	double ops_per_s, bytes_per_s;
};

struct perf_side {
	struct perf_plan plan;
	int channel;
	bool near;
	int cpu;				   /* -1: any */
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE]; /* of its device */
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* near: of the far one's device */
	uint32_t size;		  /* bytes of what is measured now */
	uint32_t depth;		  /* operations in flight, for the rate */
	/* Of the part, set by its open. */
	char what[PERF_NAME_MAX]; /* what it does, for the report */
	bool halves;		  /* a round is a round trip, of which one way is told */
	struct doca_pe *pe;	  /* moves while this process waits for the other; may be NULL */
	bool yields;		  /* meanwhile it leaves its CPU to the threads of a kernel */
	void *state;		  /* the part's */
};

struct perf_part {
	const char *name;
	uint32_t fixed_size; /* 0: as the plan has them */
	/* Returns false: it cannot be measured here, and the plan allows to leave it out. Both sides return the same. */
	bool (*open)(struct perf_side *side);
	void (*prepare)(struct perf_side *side); /* for side->size and side->depth */
	void (*latency)(struct perf_side *side, uint64_t rounds, struct timing *timing);
	void (*rate)(struct perf_side *side, uint64_t operations);
	void (*release)(struct perf_side *side);
	void (*close)(struct perf_side *side);
	/* Instead of the four between: measures side->size, by its own ways. */
	void (*measure)(struct perf_side *side, struct perf_result *result);
};

extern const struct perf_part perf_comch, perf_dma, perf_rdma, perf_sync_event, perf_gpu;
extern const struct perf_part *const perf_parts[PERF_PARTS];

/* ---- options.c ---- */

extern const struct cli_option perf_option_table[];

/* Returns an exit code. What is wrong is told on stderr. */
int perf_options_parse(struct cli *cli, struct perf_options *options);

/* Why a plan cannot be run, or NULL. */
const char *perf_plan_refused(const struct perf_plan *plan);

/* ---- side.c ---- */

/* The near process finds a device with a representor; the far one opens the function that this stands for. */
void perf_side_open(struct perf_side *side);
void perf_side_close(struct perf_side *side);

/* On the one CPU, or on all. Threads that this process starts meanwhile are on the same. */
void perf_side_pin(const struct perf_side *side, bool pinned);

/* Whole pages, mapped for the device with these permissions. */
struct doca_mmap *perf_memory_open(const struct perf_side *side, size_t len, uint32_t permissions, uint8_t **memory);
void perf_memory_close(struct doca_mmap *mmap, uint8_t *memory);
struct doca_buf_inventory *perf_inventory_open(uint32_t num);

/* One progress call; now and then, if it finds nothing, a look whether the other process still lives. */
void perf_progress(const struct perf_side *side, struct doca_pe *pe);

/* Both processes are here. */
void perf_meet(const struct perf_side *side);

/* The near side's number, which both know afterwards; at most max. */
uint64_t perf_agree(const struct perf_side *side, uint64_t number, uint64_t max);

/* ---- measure.c ---- */

#define PERF_OPERATIONS_MAX (UINT64_C(1) << 32)

/* How many operations fit the time of a test, by how long so many took; at most max. */
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

/* Return an exit code; what is wrong with the file is told on stderr. */
int perf_write_json(const struct perf_report *report, const char *path);
int perf_write_csv(const struct perf_report *report, const char *path);
int perf_write_plot(const struct perf_report *report, const char *path);

#endif
