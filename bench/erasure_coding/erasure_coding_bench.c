/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Redundancy blocks by create tasks, submitted again from their completion callback, compared to ISA-L's ec_encode_data on
 * the same blocks: alternating runs, medians. Small blocks show the cost of the task itself. Fails beyond the limits.
 */
#include <string.h>

#include <isa-l/erasure_code.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_erasure_coding.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 101 /* short runs: most are not interrupted even on a busy machine */
#define DEPTH 8
#define MEMORY (UINT64_C(64) << 20)
#define RUN_BYTES (UINT64_C(8) << 20) /* read in a run */
#define RUN_TASKS 20000		      /* at most */
#define RATIO_LIMIT 0.95
#define TASK_NS_LIMIT 60
#define BLOCKS_MAX 64

static const struct {
	uint32_t num_data, num_rdnc, size;
} codes[] = {{2, 1, 64}, {10, 4, 4096}, {10, 4, 64 << 10}, {4, 2, 1 << 20}, {32, 8, 128 << 10}};

static struct {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_ec *ec;
	uint8_t *memory;
	uint64_t left, due;
} bench;

static void completed(struct doca_ec_task_create *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	bench.due--;
	if (bench.left > 0) {
		bench.left--;
		doca_buf_reset_data_len(task_user_data.ptr);
		check(doca_task_submit(doca_ec_task_create_as_task(task)), "submit");
		return;
	}
	doca_task_free(doca_ec_task_create_as_task(task));
}

static void failed(struct doca_ec_task_create *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	check(doca_task_get_status(doca_ec_task_create_as_task(task)), "create");
}

/* A code whose tasks use one set of blocks after the other. */
struct code {
	uint32_t num_data, num_rdnc, size, num_sets;
	uint64_t num_tasks;
	struct doca_ec_matrix *matrix;
	uint8_t tables[32 * BLOCKS_MAX * BLOCKS_MAX];
	struct doca_buf *src[DEPTH], *dst[DEPTH];
};

static uint8_t *set_at(const struct code *code, uint32_t set)
{
	return bench.memory + (size_t)set * (code->num_data + code->num_rdnc) * code->size;
}

static double run_tasks(struct code *code)
{
	struct doca_ec_task_create *task;
	uint64_t begin = sf_now_ns();

	bench.left = code->num_tasks - code->num_sets;
	bench.due = code->num_tasks;
	for (uint32_t i = 0; i < code->num_sets; i++) {
		doca_buf_reset_data_len(code->dst[i]);
		check(doca_ec_task_create_allocate_init(bench.ec, code->matrix, code->src[i], code->dst[i],
							(union doca_data){.ptr = code->dst[i]}, &task),
		      "allocate");
		check(doca_task_submit(doca_ec_task_create_as_task(task)), "submit");
	}
	while (bench.due > 0)
		(void)doca_pe_progress(bench.pe);
	return (double)(sf_now_ns() - begin) / (double)code->num_tasks;
}

static double run_isal(struct code *code)
{
	uint64_t begin = sf_now_ns();

	for (uint64_t n = 0; n < code->num_tasks; n++) {
		uint8_t *blocks[2 * BLOCKS_MAX], *at = set_at(code, (uint32_t)(n % code->num_sets));

		for (uint32_t i = 0; i < code->num_data + code->num_rdnc; i++)
			blocks[i] = at + (size_t)i * code->size;
		ec_encode_data((int)code->size, (int)code->num_data, (int)code->num_rdnc, code->tables, blocks,
			       blocks + code->num_data);
	}
	return (double)(sf_now_ns() - begin) / (double)code->num_tasks;
}

static void code_begin(struct code *code)
{
	size_t len = (size_t)code->num_data * code->size, rdnc_len = (size_t)code->num_rdnc * code->size;
	uint8_t rows[2 * BLOCKS_MAX * BLOCKS_MAX];

	code->num_tasks = RUN_BYTES / len < RUN_TASKS ? RUN_BYTES / len : RUN_TASKS;
	code->num_sets = (uint32_t)(code->num_tasks < DEPTH ? code->num_tasks : DEPTH);
	check(doca_ec_matrix_create(bench.ec, DOCA_EC_MATRIX_TYPE_CAUCHY, code->num_data, code->num_rdnc, &code->matrix),
	      "matrix");
	gf_gen_cauchy1_matrix(rows, (int)(code->num_data + code->num_rdnc), (int)code->num_data);
	ec_init_tables((int)code->num_data, (int)code->num_rdnc, rows + code->num_data * code->num_data, code->tables);
	for (uint32_t i = 0; i < code->num_sets; i++) {
		check(doca_buf_inventory_buf_get_by_data(bench.inventory, bench.mmap, set_at(code, i), len, &code->src[i]),
		      "source");
		check(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.mmap, set_at(code, i) + len, rdnc_len,
							 &code->dst[i]),
		      "destination");
	}
}

static void code_end(struct code *code)
{
	for (uint32_t i = 0; i < code->num_sets; i++) {
		check(doca_buf_dec_refcount(code->src[i], NULL), "release");
		check(doca_buf_dec_refcount(code->dst[i], NULL), "release");
	}
	check(doca_ec_matrix_destroy(code->matrix), "destroy the matrix");
}

static int measure(struct code *code)
{
	double tasks[RUNS], isal[RUNS];

	code_begin(code);
	(void)run_tasks(code);
	for (int i = 0; i < RUNS; i++) {
		tasks[i] = run_tasks(code);
		isal[i] = run_isal(code);
	}
	code_end(code);

	double tasks_ns = median(tasks, RUNS), isal_ns = median(isal, RUNS);
	double bytes = (double)code->num_data * code->size;

	printf("%u+%u blocks of %u B: ", code->num_data, code->num_rdnc, code->size);
	if (code->size == 64) {
		printf("a task %.1f ns; ec_encode_data %.1f ns, the task itself %.1f ns (limit %d)\n", tasks_ns, isal_ns,
		       tasks_ns - isal_ns, TASK_NS_LIMIT);
		return tasks_ns - isal_ns > TASK_NS_LIMIT;
	}
	printf("%.2f GB/s; ec_encode_data %.2f GB/s, ratio %.3f (limit %.2f)\n", bytes / tasks_ns, bytes / isal_ns,
	       isal_ns / tasks_ns, RATIO_LIMIT);
	return isal_ns / tasks_ns < RATIO_LIMIT;
}

static void begin(void)
{
	bench.dev = test_dev_open(0);
	bench.memory = aligned_alloc(4096, MEMORY);
	for (uint64_t i = 0; i < MEMORY; i++)
		bench.memory[i] = (uint8_t)(i * 31 + (i >> 12));
	check(doca_mmap_create(&bench.mmap), "mmap");
	check(doca_mmap_add_dev(bench.mmap, bench.dev), "add the device");
	check(doca_mmap_set_memrange(bench.mmap, bench.memory, MEMORY), "set the range");
	check(doca_mmap_start(bench.mmap), "start the mmap");
	check(doca_buf_inventory_create(2 * DEPTH, &bench.inventory), "inventory");
	check(doca_buf_inventory_start(bench.inventory), "start the inventory");
	check(doca_pe_create(&bench.pe), "progress engine");
	check(doca_ec_create(bench.dev, &bench.ec), "erasure coding");
	check(doca_pe_connect_ctx(bench.pe, doca_ec_as_ctx(bench.ec)), "connect");
	check(doca_ec_task_create_set_conf(bench.ec, completed, failed, DEPTH), "configure");
	check(doca_ctx_start(doca_ec_as_ctx(bench.ec)), "start");
}

static void end(void)
{
	check(doca_ctx_stop(doca_ec_as_ctx(bench.ec)), "stop");
	check(doca_ec_destroy(bench.ec), "destroy erasure coding");
	check(doca_pe_destroy(bench.pe), "destroy the progress engine");
	check(doca_buf_inventory_destroy(bench.inventory), "destroy the inventory");
	check(doca_mmap_destroy(bench.mmap), "destroy the mmap");
	check(doca_dev_close(bench.dev), "close");
	free(bench.memory);
}

int main(void)
{
	static struct code code;
	int missed = 0;

	begin();
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		code.num_data = codes[i].num_data;
		code.num_rdnc = codes[i].num_rdnc;
		code.size = codes[i].size;
		missed |= measure(&code);
	}
	end();
	return missed;
}
