/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compression of memory that another process exported: as source, as destination, and as both. The exporter runs this program
 * again, on the host's function d8:00.0; the importer uses the DPU's port 03:00.0. Runs with and without engine threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/little.h"
#include "support/compress_rig.h"
#include "support/exporter.h"
#include "support/test_dev.h"

#define LEN ((size_t)2 << 20)
#define RAGGED 16 /* offset from a page boundary, so that the first and last page are not mapped */
#define PLAIN_LEN ((size_t)600001)
#define OUT_AT (LEN / 2) /* where results go in the exporter's memory */
#define SEED 3

/* ---- the exporter ---- */

/* Answers each byte with the checksum of the memory; q ends it. */
static int run_exporter(int socket, size_t offset, uint32_t permissions)
{
	struct doca_dev *dev = test_dev_open_pci(EXPORTER_DEVICE);
	uint8_t *memory = aligned_alloc(4096, LEN + 4096), *start = memory + offset;
	char command;

	CHECK(memory != NULL);
	memset(memory, 0, LEN + 4096);
	rig_fill(start, PLAIN_LEN, SEED);

	struct doca_mmap *mmap = exporter_export(socket, dev, start, LEN, permissions);

	while (recv(socket, &command, 1, 0) == 1 && command != 'q') {
		uint64_t sum = sf_checksum(SF_CHECKSUM_BEGIN, start, LEN);

		CHECK(send(socket, &sum, sizeof(sum), 0) == sizeof(sum));
	}
	CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	free(memory);
	return 0;
}

/* ---- the importer ---- */

struct fixture {
	struct rig rig;
	pid_t pid; /* 0: it was killed */
	int socket;
	struct doca_mmap *imported;
	uint8_t *there;	 /* the exporter's memory, as imported */
	uint8_t *shadow; /* a copy of what that memory should hold */
};

static void meet(struct fixture *f, uint32_t permissions)
{
	f->pid = exporter_spawn("compress_process_test", RAGGED, permissions, &f->socket);
	f->imported = exporter_import(f->socket, f->rig.dev, &f->there);
}

/* The exporter's memory must equal the shadow: nothing outside a result was written. */
static void expect_shadow(struct fixture *f)
{
	uint64_t sum;

	assert_int_equal(send(f->socket, "c", 1, 0), 1);
	assert_int_equal(recv(f->socket, &sum, sizeof(sum), 0), sizeof(sum));
	assert_int_equal(sum, sf_checksum(SF_CHECKSUM_BEGIN, f->shadow, LEN));
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	rig_init(&f.rig, test_dev_open_pci("03:00.0"), 2 * LEN);
	f.shadow = calloc(1, LEN);
	rig_fill(f.shadow, PLAIN_LEN, SEED);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int status;

	ok(doca_mmap_destroy(f->imported));
	close(f->socket);
	if (f->pid != 0) {
		assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
		assert_int_equal(status, 0);
	}
	rig_fini(&f->rig);
	free(f->shadow);
	return 0;
}

static void their_bytes_are_compressed(void **state)
{
	struct fixture *f = *state;

	meet(f, DOCA_ACCESS_FLAG_PCI_READ_ONLY);

	struct doca_buf *src = rig_source(&f->rig, f->imported, f->there, PLAIN_LEN);
	struct doca_buf *dst = rig_room(&f->rig, f->rig.mmap, f->rig.memory, LEN);

	ok(rig_run(&f->rig, RIG_DEFLATE, src, dst));
	assert_int_equal(f->rig.crc, rig_crc(f->shadow, PLAIN_LEN));
	assert_int_equal(rig_inflate(f->rig.memory + LEN, LEN, f->rig.memory, rig_data_len(dst)), PLAIN_LEN);
	assert_memory_equal(f->rig.memory + LEN, f->shadow, PLAIN_LEN);
	rig_put(src);
	rig_put(dst);
}

/* Decompresses into the exporter's memory what the shadow holds there afterwards. */
static void decompress_there(struct fixture *f, enum rig_kind kind, size_t packed_len, const uint8_t *plain, size_t len)
{
	struct doca_buf *src = rig_source(&f->rig, f->rig.mmap, f->rig.memory, packed_len);
	struct doca_buf *dst = rig_room(&f->rig, f->imported, f->there + OUT_AT, len);

	ok(rig_run(&f->rig, kind, src, dst));
	assert_int_equal(rig_data_len(dst), len);
	memcpy(f->shadow + OUT_AT, plain, len);
	expect_shadow(f);
	rig_put(src);
	rig_put(dst);
}

static void results_go_to_their_memory(void **state)
{
	struct fixture *f = *state;
	uint8_t *plain = f->rig.memory + LEN, *packed = f->rig.memory;
	size_t at, len;

	meet(f, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	rig_fill(plain, PLAIN_LEN, 1);
	decompress_there(f, RIG_INFLATE, rig_deflate(packed, LEN, plain, PLAIN_LEN, 6), plain, PLAIN_LEN);
	rig_fill(plain, PLAIN_LEN, 6);
	rig_lz4_frame(packed, LEN, plain, PLAIN_LEN, true, false, LZ4F_max64KB, &at, &len);
	f->rig.has_block_checksum = true;
	memmove(packed, packed + at, len);
	decompress_there(f, RIG_LZ4_STREAM, len, plain, PLAIN_LEN);
	rig_fill(plain, PLAIN_LEN, 9);
	len = (size_t)LZ4_compress_default((const char *)plain, (char *)packed, PLAIN_LEN, (int)LEN);
	decompress_there(f, RIG_LZ4_BLOCK, len, plain, PLAIN_LEN);
}

/* From the exporter's memory to the exporter's memory, and back. */
static void from_their_memory_to_theirs(void **state)
{
	struct fixture *f = *state;

	meet(f, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	struct doca_buf *src = rig_source(&f->rig, f->imported, f->there, PLAIN_LEN);
	struct doca_buf *packed = rig_room(&f->rig, f->imported, f->there + OUT_AT, LEN - OUT_AT);
	struct doca_buf *end = rig_room(&f->rig, f->rig.mmap, f->rig.memory, PLAIN_LEN);

	ok(rig_run(&f->rig, RIG_DEFLATE, src, packed));
	ok(rig_run(&f->rig, RIG_INFLATE, packed, end));
	assert_int_equal(rig_data_len(end), PLAIN_LEN);
	assert_memory_equal(f->rig.memory, f->shadow, PLAIN_LEN);
	rig_put(src);
	rig_put(packed);
	rig_put(end);
}

static void no_right_to_write_there(void **state)
{
	struct fixture *f = *state;

	meet(f, DOCA_ACCESS_FLAG_PCI_READ_ONLY);

	struct doca_buf *src = rig_source(&f->rig, f->rig.mmap, f->rig.memory, 50000);
	struct doca_buf *dst = rig_room(&f->rig, f->imported, f->there, LEN);

	for (enum rig_kind kind = 0; kind < RIG_KINDS; kind++)
		assert_int_equal(rig_run(&f->rig, kind, src, dst), DOCA_ERROR_NOT_PERMITTED);
	expect_shadow(f);
	rig_put(src);
	rig_put(dst);
}

/* Fails within five seconds; the documentation promises one. */
static void exporter_that_is_killed(void **state)
{
	struct fixture *f = *state;

	meet(f, DOCA_ACCESS_FLAG_PCI_READ_WRITE);

	struct doca_buf *src = rig_source(&f->rig, f->imported, f->there, PLAIN_LEN);
	struct doca_buf *dst = rig_room(&f->rig, f->rig.mmap, f->rig.memory, LEN);
	double deadline = sf_now_s() + 5;
	doca_error_t status;

	assert_int_equal(kill(f->pid, SIGKILL), 0);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
	f->pid = 0;
	while ((status = rig_run(&f->rig, RIG_DEFLATE, src, dst)) == DOCA_SUCCESS) {
		assert_true(sf_now_s() < deadline);
		ok(doca_buf_reset_data_len(dst));
	}
	assert_int_equal(status, DOCA_ERROR_IO_FAILED);
	rig_put(src);
	rig_put(dst);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(their_bytes_are_compressed), T(results_go_to_their_memory), T(from_their_memory_to_theirs),
		T(no_right_to_write_there),    T(exporter_that_is_killed),
	};

	if (argc == 4)
		return run_exporter(atoi(argv[1]), (size_t)atol(argv[2]), (uint32_t)atol(argv[3]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
