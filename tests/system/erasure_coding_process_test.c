/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Erasure coding of blocks in memory that another process exported. The exporter runs this program again, on the host's function
 * d8:00.0; the importer uses the DPU's port 03:00.0. The exporter obeys one-byte commands on a socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/erasure_coding_fixture.h"
#include "base/clock.h"
#include "base/little.h"
#include "support/exporter.h"
#include "support/test_dev.h"

#define LEN (6 << 20)
#define SHARED SIZE_MAX /* in place of an offset: memory that nobody can map */
#define NUM_DATA 6
#define NUM_RDNC 3
#define RDNC_AT (4 << 20) /* offset of the redundancy blocks, in the exporter's memory and in the importer's */
#define MANY 4

/* ---- the exporter ---- */

/* Shared memory cannot be moved to where others could map it, so the kernel copies all of it. */
static uint8_t *make_memory(size_t offset)
{
	int flags = (offset == SHARED ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
	uint8_t *memory = mmap(NULL, LEN + 8192, PROT_READ | PROT_WRITE, flags, -1, 0);

	CHECK(memory != MAP_FAILED);
	return offset == SHARED ? memory : memory + offset;
}

/* Command 'c' returns the checksum of the memory; 'e' ends the export. */
static int run_exporter(int socket, size_t offset, uint32_t permissions)
{
	struct doca_dev *dev = test_dev_open_pci(EXPORTER_DEVICE);
	uint8_t *start = make_memory(offset);
	struct doca_mmap *mmap;
	char command;

	fill(start, LEN, 1);
	mmap = exporter_export(socket, dev, start, LEN, permissions);
	while (recv(socket, &command, 1, 0) == 1) {
		uint64_t sum = command == 'c' ? sf_checksum(SF_CHECKSUM_BEGIN, start, LEN) : 0;

		if (command == 'e') {
			CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
			mmap = NULL;
		}
		CHECK(send(socket, &sum, sizeof(sum), 0) == sizeof(sum));
	}
	if (mmap != NULL)
		CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	return 0;
}

/* ---- the importer ---- */

struct exporter {
	pid_t pid; /* 0: it has exited */
	int socket;
	struct doca_mmap *imported;
	uint8_t *there;	 /* the exporter's memory, as imported */
	uint8_t *shadow; /* what that memory should hold */
};

static void exporter_begin(struct fixture *f, struct exporter *exporter, size_t offset, uint32_t permissions)
{
	exporter->pid = exporter_spawn("erasure_coding_process_test", offset, permissions, &exporter->socket);
	exporter->imported = exporter_import(exporter->socket, f->dev, &exporter->there);
	exporter->shadow = malloc(LEN);
	fill(exporter->shadow, LEN, 1);
}

static uint64_t exporter_command(struct exporter *exporter, char command)
{
	uint64_t answer;

	assert_int_equal(send(exporter->socket, &command, 1, 0), 1);
	assert_int_equal(recv(exporter->socket, &answer, sizeof(answer), 0), sizeof(answer));
	return answer;
}

/* The exporter's memory must equal the shadow: nothing else was written. */
static void exporter_expect_shadow(struct exporter *exporter)
{
	assert_int_equal(exporter_command(exporter, 'c'), sf_checksum(SF_CHECKSUM_BEGIN, exporter->shadow, LEN));
}

static void exporter_kill(struct exporter *exporter)
{
	assert_int_equal(kill(exporter->pid, SIGKILL), 0);
	assert_int_equal(waitpid(exporter->pid, NULL, 0), exporter->pid);
	exporter->pid = 0;
}

static void exporter_end(struct exporter *exporter)
{
	int status = 0;

	ok(doca_mmap_destroy(exporter->imported));
	close(exporter->socket);
	if (exporter->pid != 0)
		assert_int_equal(waitpid(exporter->pid, &status, 0), exporter->pid);
	assert_int_equal(status, 0);
	free(exporter->shadow);
}

static struct doca_buf *piece_there(struct fixture *f, const struct exporter *exporter, size_t at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_data(f->inventory, exporter->imported, exporter->there + at, len, &buf));
	return buf;
}

static struct doca_buf *room_there(struct fixture *f, const struct exporter *exporter, size_t at, size_t len)
{
	struct doca_buf *buf;

	ok(doca_buf_inventory_buf_get_by_addr(f->inventory, exporter->imported, exporter->there + at, len, &buf));
	return buf;
}

/* ---- blocks in both processes ---- */

/* Creates redundancy blocks, with the data blocks and the redundancy blocks each in either process. */
static void create_across(struct fixture *f, struct exporter *exporter, const struct doca_ec_matrix *matrix, size_t size,
			  int direction)
{
	bool from_there = direction & 1, to_there = direction & 2;
	size_t len = NUM_DATA * size, rdnc_len = NUM_RDNC * size, at = 33;
	struct doca_buf *src = from_there ? piece_there(f, exporter, at, len) : source(f, f->memory + at, len);
	struct doca_buf *dst =
		to_there ? room_there(f, exporter, RDNC_AT + 1, rdnc_len) : destination(f, f->memory + RDNC_AT, rdnc_len);
	uint8_t *expected = malloc(rdnc_len);

	fill(f->memory, RDNC_AT + rdnc_len, (uint32_t)size);
	ref_create(DOCA_EC_MATRIX_TYPE_CAUCHY, (from_there ? exporter->shadow : f->memory) + at, NUM_DATA, expected, NUM_RDNC,
		   size);
	ok(run_new(f, CREATE, matrix, src, dst));
	assert_int_equal(data_len(dst), rdnc_len);
	if (to_there)
		memcpy(exporter->shadow + RDNC_AT + 1, expected, rdnc_len);
	else
		assert_memory_equal(f->memory + RDNC_AT, expected, rdnc_len);
	exporter_expect_shadow(exporter);
	free(expected);
	put(src);
	put(dst);
}

static void every_direction(struct fixture *f, size_t offset)
{
	static const size_t sizes[] = {64, 4096, 6400, 256 << 10, 600 << 10};
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC);
	struct exporter exporter;

	exporter_begin(f, &exporter, offset, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int direction = 1; direction < 4; direction++)
			create_across(f, &exporter, matrix, sizes[i], direction);
	}
	exporter_end(&exporter);
	ok(doca_ec_matrix_destroy(matrix));
}

static void whole_pages_in_every_direction(void **state)
{
	every_direction(*state, 0);
}

/* The first and the last page belong to the exporter's memory only in part, and are not mapped here. */
static void ragged_memory_in_every_direction(void **state)
{
	every_direction(*state, 16);
}

static void memory_that_cannot_be_mapped_in_every_direction(void **state)
{
	every_direction(*state, SHARED);
}

/* A list of pieces from two other processes and this one. Blocks span several pieces. Recovering lost blocks works across all
 * of them. */
static void list_over_three_processes(void **state)
{
	enum { BLOCK = 64 * 321 };
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_RDNC);
	uint8_t *data = malloc(NUM_DATA * BLOCK), *rdnc = malloc(NUM_RDNC * BLOCK);
	struct exporter exporters[2];
	struct doca_buf *src, *dst;

	exporter_begin(f, &exporters[0], 0, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	exporter_begin(f, &exporters[1], 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	fill(f->memory, BLOCK, 3);
	src = piece_there(f, &exporters[0], 5000, 2 * BLOCK + 7);
	memcpy(data, exporters[0].shadow + 5000, 2 * BLOCK + 7);
	chain(&src, source(f, f->memory, BLOCK));
	memcpy(data + 2 * BLOCK + 7, f->memory, BLOCK);
	chain(&src, piece_there(f, &exporters[1], 1, 3 * BLOCK - 7));
	memcpy(data + 3 * BLOCK + 7, exporters[1].shadow + 1, 3 * BLOCK - 7);
	dst = destination(f, f->memory + RDNC_AT, BLOCK + 100);
	chain(&dst, room_there(f, &exporters[1], RDNC_AT, 2 * BLOCK - 100));
	ref_create(DOCA_EC_MATRIX_TYPE_CAUCHY, data, NUM_DATA, rdnc, NUM_RDNC, BLOCK);
	ok(run_new(f, CREATE, matrix, src, dst));
	assert_memory_equal(f->memory + RDNC_AT, rdnc, BLOCK + 100);
	memcpy(exporters[1].shadow + RDNC_AT, rdnc + BLOCK + 100, 2 * BLOCK - 100);
	put(src);
	put(dst);
	for (int i = 0; i < 2; i++) {
		exporter_expect_shadow(&exporters[i]);
		exporter_end(&exporters[i]);
	}
	free(data);
	free(rdnc);
	ok(doca_ec_matrix_destroy(matrix));
}

static void read_only_export_is_no_destination(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src = source(f, f->memory, 128), *dst;
	struct exporter exporter;

	exporter_begin(f, &exporter, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	dst = room_there(f, &exporter, 0, 64);
	expect_wrong(f, task_of(f, CREATE, matrix, src, dst), DOCA_ERROR_NOT_PERMITTED);
	exporter_expect_shadow(&exporter);
	put(src);
	put(dst);
	exporter_end(&exporter);
	ok(doca_ec_matrix_destroy(matrix));
}

/* ---- owners that end ---- */

/* Runs the task until it fails. It must within five seconds; the documentation promises one. */
static void expect_end(struct fixture *f, const struct doca_ec_matrix *matrix, struct doca_buf *src, struct doca_buf *dst)
{
	double end = sf_now_s() + 5;
	doca_error_t status;

	do {
		assert_true(sf_now_s() < end);
		ok(doca_buf_reset_data_len(dst));
		status = run_new(f, CREATE, matrix, src, dst);
	} while (status == DOCA_SUCCESS);
	assert_int_equal(status, DOCA_ERROR_IO_FAILED);
	assert_int_equal(data_len(dst), 0);
	WAIT(f, f->state == DOCA_CTX_STATE_IDLE);
	start(f);
}

static void exporters_that_end(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src = source(f, f->memory, 2 << 20), *dst = destination(f, f->memory + RDNC_AT, 1 << 20);

	for (int is_killed = 0; is_killed < 2; is_killed++) {
		struct exporter exporter;

		exporter_begin(f, &exporter, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

		struct doca_buf *from = piece_there(f, &exporter, 0, 2 << 20), *to = room_there(f, &exporter, RDNC_AT, 1 << 20);

		ok(run_new(f, CREATE, matrix, from, to));
		if (is_killed)
			exporter_kill(&exporter);
		else
			(void)exporter_command(&exporter, 'e');
		expect_end(f, matrix, from, dst);
		expect_end(f, matrix, src, to);
		ok(run_new(f, CREATE, matrix, src, dst)); /* local memory is unchanged */
		ok(doca_buf_reset_data_len(dst));
		put(from);
		put(to);
		exporter_end(&exporter);
	}
	put(src);
	put(dst);
	ok(doca_ec_matrix_destroy(matrix));
}

/* Large tasks are in flight when the exporter is killed. Each must complete, with success or an error. */
static void killed_in_the_middle(void **state)
{
	struct fixture *f = *state;
	struct doca_ec_matrix *matrix = matrix_of(f, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	struct doca_buf *src[MANY], *dst[MANY];
	struct doca_task *tasks[MANY];
	struct exporter exporter;

	exporter_begin(f, &exporter, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	for (size_t i = 0; i < MANY; i++) {
		src[i] = piece_there(f, &exporter, i << 20, 1 << 20);
		dst[i] = i % 2 == 0 ? room_there(f, &exporter, RDNC_AT + (i << 18), 1 << 19)
				    : destination(f, f->memory + (i << 20), 1 << 19);
		tasks[i] = task_of(f, CREATE, matrix, src[i], dst[i]);
		ok(doca_task_submit(tasks[i]));
	}
	(void)doca_pe_progress(f->pe);
	exporter_kill(&exporter);
	WAIT(f, f->num_good + f->num_failed == MANY);
	for (int i = 0; i < MANY; i++) {
		doca_task_free(tasks[i]);
		put(src[i]);
		put(dst[i]);
	}
	WAIT(f, f->state != DOCA_CTX_STATE_STOPPING);
	exporter_end(&exporter);
	ok(doca_ec_matrix_destroy(matrix));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(whole_pages_in_every_direction),
		T(ragged_memory_in_every_direction),
		T(memory_that_cannot_be_mapped_in_every_direction),
		T(list_over_three_processes),
		T(read_only_export_is_no_destination),
		T(exporters_that_end),
		T(killed_in_the_middle),
	};

	if (argc == 4)
		return run_exporter(atoi(argv[1]), strtoull(argv[2], NULL, 10), (uint32_t)atoi(argv[3]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
