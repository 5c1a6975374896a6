/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA and SHA on memory that other processes exported. The exporters run this program again, on the host's function d8:00.0; the
 * importer uses the DPU's port 03:00.0. The exporters obey one-byte commands on a socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <doca_buf_pool.h>
#include <doca_sha.h>

#include "base/little.h"
#include "support/dma_rig.h"
#include "support/exporter.h"
#include "support/provider.h"
#include "support/stop.h"
#include "support/test_dev.h"

#define LEN (8 << 20)
#define MEMORY_LEN (LEN + 8192)
#define SHARED SIZE_MAX /* in place of an offset: shared memory */
#define MANY 4		/* tasks in flight, each large enough for engine threads */

/* The byte at i that an exporter with this seed holds initially. */
static uint8_t pattern(unsigned int seed, size_t i)
{
	return (uint8_t)(i * 13 + (i >> 10) + seed * 57);
}

/* ---- the exporter ---- */

/* Shared memory cannot be moved to where others could map it, so the kernel copies all of it. */
static uint8_t *make_memory(bool is_shared)
{
	void *memory = aligned_alloc(4096, MEMORY_LEN);

	if (is_shared) {
		free(memory);
		memory = mmap(NULL, MEMORY_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	}
	CHECK(memory != NULL && memory != MAP_FAILED);
	return memory;
}

static int run_exporter(int socket, unsigned int seed, size_t offset, uint32_t permissions, bool is_shared)
{
	struct doca_dev *dev = test_dev_open_pci(EXPORTER_DEVICE);
	uint8_t *memory = make_memory(is_shared), *start = memory + offset;
	struct doca_mmap *mmap;
	char command;

	for (size_t i = 0; i < LEN; i++)
		start[i] = pattern(seed, i);
	mmap = exporter_export(socket, dev, start, LEN, permissions);
	while (recv(socket, &command, 1, 0) == 1 && command != 'q') {
		uint64_t sum = 0;

		if (command == 'c')
			sum = sf_checksum(SF_CHECKSUM_BEGIN, start, LEN);
		if (command == 'e' || command == 'r') {
			CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
			mmap = NULL;
		}
		CHECK(send(socket, &sum, sizeof(sum), 0) == sizeof(sum));
		if (command == 'r')
			mmap = exporter_export(socket, dev, start, LEN, permissions);
	}
	if (mmap != NULL)
		CHECK(doca_mmap_destroy(mmap) == DOCA_SUCCESS);
	CHECK(doca_dev_close(dev) == DOCA_SUCCESS);
	if (!is_shared)
		free(memory);
	return 0;
}

/* ---- the importer ---- */

struct exporter {
	pid_t pid; /* 0: it has exited */
	int socket;
	struct exported exported;
};

struct fixture {
	struct rig rig;
	struct doca_mmap *mmap;
	uint8_t *memory;
	struct exporter exporters[2];
	struct doca_mmap *imported[2];
};

static void exporter_start(struct exporter *exporter, unsigned int seed, size_t offset, uint32_t permissions)
{
	bool is_shared = offset == SHARED;
	char args[5][24];
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	assert_int_equal(fcntl(sockets[0], F_SETFD, FD_CLOEXEC), 0); /* otherwise the next exporter would keep it open */
	snprintf(args[0], sizeof(args[0]), "%d", sockets[1]);
	snprintf(args[1], sizeof(args[1]), "%u", seed);
	snprintf(args[2], sizeof(args[2]), "%zu", is_shared ? 0 : offset);
	snprintf(args[4], sizeof(args[4]), "%d", is_shared);
	snprintf(args[3], sizeof(args[3]), "%u", permissions);
	exporter->pid = fork();
	assert_true(exporter->pid >= 0);
	if (exporter->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "dma_process_test", args[0], args[1], args[2], args[3], args[4], (char *)NULL);
		_exit(127);
	}
	close(sockets[1]);
	exporter->socket = sockets[0];
	assert_int_equal(recv(exporter->socket, &exporter->exported, sizeof(exporter->exported), 0), sizeof(exporter->exported));
}

static uint64_t exporter_command(struct exporter *exporter, char command)
{
	uint64_t answer;

	assert_int_equal(send(exporter->socket, &command, 1, 0), 1);
	assert_int_equal(recv(exporter->socket, &answer, sizeof(answer), 0), sizeof(answer));
	return answer;
}

static void exporter_kill(struct exporter *exporter)
{
	assert_int_equal(kill(exporter->pid, SIGKILL), 0);
	assert_int_equal(waitpid(exporter->pid, NULL, 0), exporter->pid);
	exporter->pid = 0;
}

static void exporter_end(struct exporter *exporter)
{
	int status;

	if (exporter->pid != 0) /* later the signal could wake what LeakSanitizer has stopped */
		kill(exporter->pid, SIGCONT);
	close(exporter->socket);
	if (exporter->pid == 0)
		return;
	assert_int_equal(waitpid(exporter->pid, &status, 0), exporter->pid);
	assert_int_equal(status, 0);
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	rig_prepare(&f.rig, test_dev_open_pci("03:00.0"));
	rig_start(&f.rig);
	f.memory = malloc(2 * LEN);
	memset(f.memory, 0xa5, 2 * LEN);
	f.mmap = rig_mmap(&f.rig, f.memory, 2 * LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		if (f->imported[i] != NULL)
			assert_int_equal(doca_mmap_destroy(f->imported[i]), DOCA_SUCCESS);
		if (f->exporters[i].socket != 0)
			exporter_end(&f->exporters[i]);
	}
	rig_stop(&f->rig);
	assert_int_equal(doca_mmap_destroy(f->mmap), DOCA_SUCCESS);
	rig_fini(&f->rig);
	free(f->memory);
	return 0;
}

static doca_error_t import(struct fixture *f, const struct exported *exported, struct doca_mmap **mmap)
{
	return doca_mmap_create_from_export(NULL, exported->descriptor, exported->descriptor_len, f->rig.dev, mmap);
}

/* Starts an exporter with that seed and imports its memory. */
static uint8_t *meet(struct fixture *f, unsigned int which, size_t offset, uint32_t permissions)
{
	exporter_start(&f->exporters[which], which + 1, offset, permissions);
	assert_int_equal(import(f, &f->exporters[which].exported, &f->imported[which]), DOCA_SUCCESS);
	return (uint8_t *)(uintptr_t)f->exporters[which].exported.addr;
}

static doca_error_t copy(struct fixture *f, struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst, size_t len)
{
	struct doca_buf *source = rig_source(&f->rig, from, src, len), *destination = rig_destination(&f->rig, to, dst, len);
	doca_error_t status = rig_copy(&f->rig, source, destination);

	if (status == DOCA_SUCCESS)
		assert_int_equal(rig_data_len(destination), len);
	else
		assert_int_equal(rig_data_len(destination), 0);
	rig_put(source);
	rig_put(destination);
	return status;
}

static void expect_pattern(const uint8_t *bytes, unsigned int seed, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != pattern(seed, at + i))
			fail_msg("byte %zu is %u, not %u", at + i, bytes[i], pattern(seed, at + i));
	}
}

/* Copies from the exporter, changes the bytes, and copies them back. */
static void copy_both_ways(struct fixture *f, size_t offset)
{
	static const size_t lengths[] = {1, 63, 64, 4000, 4096, 4097, 70000, 300001, LEN};
	uint8_t *there = meet(f, 0, offset, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	uint8_t *shadow = malloc(LEN);

	for (size_t i = 0; i < LEN; i++)
		shadow[i] = pattern(1, i);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int end = 0; end < 2; end++) {
			size_t len = lengths[i], at = end == 0 ? 0 : LEN - len;

			assert_int_equal(copy(f, f->imported[0], there + at, f->mmap, f->memory, len), DOCA_SUCCESS);
			assert_memory_equal(f->memory, shadow + at, len);
			for (size_t j = 0; j < len; j++)
				f->memory[j] ^= 0x3c;
			memcpy(shadow + at, f->memory, len);
			assert_int_equal(copy(f, f->mmap, f->memory, f->imported[0], there + at, len), DOCA_SUCCESS);
			assert_int_equal(exporter_command(&f->exporters[0], 'c'), sf_checksum(SF_CHECKSUM_BEGIN, shadow, LEN));
		}
	}
	free(shadow);
}

static void whole_pages_both_ways(void **state)
{
	copy_both_ways(*state, 0);
}

/* The first and the last page belong to the exporter's memory only in part, and are not mapped here. */
static void ragged_memory_both_ways(void **state)
{
	copy_both_ways(*state, 16);
}

static void memory_that_cannot_be_mapped_both_ways(void **state)
{
	copy_both_ways(*state, SHARED);
}

static void between_two_other_processes(void **state)
{
	struct fixture *f = *state;
	uint8_t *first = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	uint8_t *second = meet(f, 1, 0, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	uint8_t *expected = malloc(LEN);

	assert_int_equal(copy(f, f->imported[0], first + 1, f->imported[1], second, LEN - 1), DOCA_SUCCESS);
	for (size_t i = 0; i < LEN; i++)
		expected[i] = i < LEN - 1 ? pattern(1, i + 1) : pattern(2, i);
	assert_int_equal(exporter_command(&f->exporters[1], 'c'), sf_checksum(SF_CHECKSUM_BEGIN, expected, LEN));
	free(expected);
}

static void list_over_three_processes(void **state)
{
	struct fixture *f = *state;
	uint8_t *first = meet(f, 0, 0, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	uint8_t *second = meet(f, 1, 100, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	struct doca_buf *src = rig_source(&f->rig, f->imported[0], first + 5000, 3000), *dst;

	assert_int_equal(doca_buf_chain_list(src, rig_source(&f->rig, f->mmap, f->memory + 7, 77)), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(src, rig_source(&f->rig, f->imported[1], second, 12345)), DOCA_SUCCESS);
	dst = rig_destination(&f->rig, f->mmap, f->memory + LEN, 20000);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(rig_data_len(dst), 3000 + 77 + 12345);
	expect_pattern(f->memory + LEN, 1, 5000, 3000);
	assert_memory_equal(f->memory + LEN + 3000, f->memory + 7, 77);
	expect_pattern(f->memory + LEN + 3077, 2, 0, 12345);
	rig_put(src);
	rig_put(dst);
}

static void read_only_export_is_no_destination(void **state)
{
	struct fixture *f = *state;
	uint8_t *there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	struct doca_buf *src = rig_source(&f->rig, f->mmap, f->memory, 100);
	struct doca_buf *dst = rig_destination(&f->rig, f->imported[0], there, 100);
	struct doca_task *task = rig_task(&f->rig, src, dst);
	uint64_t before = exporter_command(&f->exporters[0], 'c');

	assert_int_equal(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(exporter_command(&f->exporters[0], 'c'), before);
	rig_put(src);
	rig_put(dst);
}

static void pool_over_imported_memory(void **state)
{
	struct fixture *f = *state;
	struct doca_buf_pool *pool;
	struct doca_buf *buf, *dst;
	void *head;

	(void)meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	assert_int_equal(doca_buf_pool_create(16, 1000, f->imported[0], &pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(pool), DOCA_SUCCESS);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(doca_buf_pool_buf_alloc(pool, &buf), DOCA_SUCCESS);
		assert_int_equal(doca_buf_get_head(buf, &head), DOCA_SUCCESS);
		assert_int_equal(doca_buf_set_data(buf, head, 1000), DOCA_SUCCESS);
		dst = rig_destination(&f->rig, f->mmap, f->memory, 1000);
		assert_int_equal(rig_copy(&f->rig, buf, dst), DOCA_SUCCESS);
		expect_pattern(f->memory, 1, (uintptr_t)head - f->exporters[0].exported.addr, 1000);
		rig_put(buf);
		rig_put(dst);
	}
	assert_int_equal(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
}

/* ---- owners that end ---- */

static void stopped_exporter_takes_no_part(void **state)
{
	struct fixture *f = *state;
	uint8_t *there;

	if (provider_is("tcp")) /* its agent would have to send the bytes */
		skip();
	there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	assert_int_equal(kill(f->exporters[0].pid, SIGSTOP), 0);
	assert_int_equal(copy(f, f->imported[0], there, f->mmap, f->memory, LEN), DOCA_SUCCESS);
	expect_pattern(f->memory, 1, 0, LEN);
	assert_int_equal(kill(f->exporters[0].pid, SIGCONT), 0);
}

/* By TCP a copy fails after five seconds of silence, and later ones succeed when the exporter has continued. */
static void stopped_exporter_is_silent(void **state)
{
	struct fixture *f = *state;
	uint8_t *there;

	if (!provider_is("tcp"))
		skip();
	there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	process_stop(f->exporters[0].pid);
	assert_int_equal(copy(f, f->imported[0], there, f->mmap, f->memory, LEN), DOCA_ERROR_IO_FAILED);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	assert_int_equal(kill(f->exporters[0].pid, SIGCONT), 0);
	assert_int_equal(copy(f, f->imported[0], there, f->mmap, f->memory, LEN), DOCA_SUCCESS);
	expect_pattern(f->memory, 1, 0, LEN);
}

/* Copies until a task fails. It must within five seconds; the documentation promises one. */
static void expect_end(struct fixture *f, struct doca_mmap *from, uint8_t *src, struct doca_mmap *to, uint8_t *dst, size_t len)
{
	double deadline = sf_now_s() + 5;
	doca_error_t status;

	while ((status = copy(f, from, src, to, dst, len)) == DOCA_SUCCESS)
		assert_true(sf_now_s() < deadline);
	assert_int_equal(status, DOCA_ERROR_IO_FAILED);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
}

static void killed_exporter(void **state)
{
	struct fixture *f = *state;
	uint8_t *there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_mmap *again;

	assert_int_equal(copy(f, f->imported[0], there, f->mmap, f->memory, LEN), DOCA_SUCCESS);
	exporter_kill(&f->exporters[0]);
	expect_end(f, f->imported[0], there + 8192, f->mmap, f->memory, 4096);
	expect_end(f, f->mmap, f->memory, f->imported[0], there + 8192, 4096);
	expect_end(f, f->imported[0], there, f->mmap, f->memory, LEN);
	assert_int_equal(import(f, &f->exporters[0].exported, &again), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(copy(f, f->mmap, f->memory, f->mmap, f->memory + LEN, 1000), DOCA_SUCCESS);
}

/* The existing import ends, and its descriptor is invalid. Exporting the same memory again creates another export. */
static void exporter_that_ends_the_export(void **state)
{
	struct fixture *f = *state;
	uint8_t *there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct exported stale = f->exporters[0].exported;
	uint64_t sum = exporter_command(&f->exporters[0], 'c');
	struct doca_mmap *again;

	(void)exporter_command(&f->exporters[0], 'r');
	assert_int_equal(recv(f->exporters[0].socket, &f->exporters[0].exported, sizeof(struct exported), 0),
			 sizeof(struct exported));
	expect_end(f, f->mmap, f->memory, f->imported[0], there, LEN);
	expect_end(f, f->imported[0], there, f->mmap, f->memory, 4096);
	assert_int_equal(import(f, &stale, &again), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(exporter_command(&f->exporters[0], 'c'), sum); /* nothing was written */
	assert_int_equal(import(f, &f->exporters[0].exported, &again), DOCA_SUCCESS);
	assert_int_equal(copy(f, again, there, f->mmap, f->memory, LEN), DOCA_SUCCESS);
	expect_pattern(f->memory, 1, 0, LEN);
	assert_int_equal(doca_mmap_destroy(again), DOCA_SUCCESS);
}

/* Large tasks are in flight when the exporter is killed. Each must complete, with success or an error. */
static void killed_in_the_middle(void **state)
{
	struct fixture *f = *state;
	uint8_t *there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_buf *src[MANY], *dst[MANY];

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < MANY; i++) {
			size_t len = LEN / MANY,
			       at = (size_t)i * len; /* one area for each task, because they may run at the same time */
			bool out = i % 2 == 0;

			src[i] = rig_source(&f->rig, out ? f->mmap : f->imported[0], (out ? f->memory : there) + at, len);
			dst[i] = rig_destination(&f->rig, out ? f->imported[0] : f->mmap, (out ? there : f->memory + LEN) + at,
						 len);
			assert_int_equal(doca_task_submit(rig_task(&f->rig, src[i], dst[i])), DOCA_SUCCESS);
		}
		for (int i = 0; i < round * 4; i++)
			(void)doca_pe_progress(f->rig.pe);
		if (f->exporters[0].pid != 0 && round == 1)
			exporter_kill(&f->exporters[0]);
		RIG_WAIT(&f->rig, f->rig.num_good + f->rig.num_failed == (uint32_t)(round + 1) * MANY);
		for (int i = 0; i < MANY; i++) {
			rig_put(src[i]);
			rig_put(dst[i]);
		}
		if (f->rig.num_failed != 0)
			break;
	}
	/* Death is detected within a second, so a round may succeed. */
	if (f->rig.num_failed == 0)
		expect_end(f, f->imported[0], there, f->mmap, f->memory, LEN);
	RIG_WAIT(&f->rig, f->rig.state != DOCA_CTX_STATE_STOPPING);
}

/* ---- SHA ---- */

static uint32_t num_digests;
static doca_error_t digest_status;

static void digested(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	num_digests++;
	digest_status = doca_task_get_status(doca_sha_task_hash_as_task(task));
	doca_task_free(doca_sha_task_hash_as_task(task));
}

static void digest(struct fixture *f, struct doca_sha *sha, struct doca_buf *src, struct doca_buf *dst)
{
	uint32_t before = num_digests;
	struct doca_sha_task_hash *task;

	assert_int_equal(
		doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, (union doca_data){.u64 = 0}, &task),
		DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_sha_task_hash_as_task(task)), DOCA_SUCCESS);
	RIG_WAIT(&f->rig, num_digests == before + 1);
}

/* Message and digest are in the exporter's memory; then the exporter ends. */
static void sha_of_imported_memory(void **state)
{
	struct fixture *f = *state;
	uint8_t *there = meet(f, 0, 16, DOCA_ACCESS_FLAG_PCI_READ_WRITE), *whole = malloc(LEN), expected[32];
	struct doca_buf *src = rig_source(&f->rig, f->imported[0], there + 3, 1000000);
	struct doca_buf *dst = rig_destination(&f->rig, f->imported[0], there + 2000000, 32);
	struct doca_sha *sha;

	assert_int_equal(doca_sha_create(f->rig.dev, &sha), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(f->rig.pe, doca_sha_as_ctx(sha)), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(sha, digested, digested, 0), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_sha_as_ctx(sha)), DOCA_SUCCESS);
	digest(f, sha, src, dst);
	assert_int_equal(digest_status, DOCA_SUCCESS);
	for (size_t i = 0; i < LEN; i++)
		whole[i] = pattern(1, i);
	assert_int_equal(EVP_Digest(whole + 3, 1000000, expected, NULL, EVP_sha256(), NULL), 1);
	memcpy(whole + 2000000, expected, sizeof(expected));
	assert_int_equal(exporter_command(&f->exporters[0], 'c'), sf_checksum(SF_CHECKSUM_BEGIN, whole, LEN));
	(void)exporter_command(&f->exporters[0], 'e');
	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	digest(f, sha, src, dst);
	assert_int_equal(digest_status, DOCA_ERROR_IO_FAILED);
	(void)doca_pe_progress(f->rig.pe);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
	rig_put(src);
	rig_put(dst);
	free(whole);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(whole_pages_both_ways),
		T(ragged_memory_both_ways),
		T(memory_that_cannot_be_mapped_both_ways),
		T(between_two_other_processes),
		T(list_over_three_processes),
		T(read_only_export_is_no_destination),
		T(pool_over_imported_memory),
		T(stopped_exporter_takes_no_part),
		T(stopped_exporter_is_silent),
		T(killed_exporter),
		T(exporter_that_ends_the_export),
		T(killed_in_the_middle),
		T(sha_of_imported_memory),
	};

	if (argc == 6)
		return run_exporter(atoi(argv[1]), (unsigned int)atoi(argv[2]), (size_t)atoi(argv[3]), (uint32_t)atoi(argv[4]),
				    atoi(argv[5]) != 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
