/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA from kernels to another process: to tasks on its CPU, and to its kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "many.h"
#include "pair.h"

/* ---- one-sided ---- */

static void check_writes(const struct peer_kind *kind)
{
	static const struct {
		uint64_t from, to, len;
	} pieces[] = {{0, 0, 8},
		      {64, 128, 1},
		      {99, 201, 3},
		      {256, 320, 64},
		      {1001, 2003, 777},
		      {4096, 8192, 4096},
		      {20480, 20480, 65536},
		      {100000, 100004, 30001},
		      {1 << 20, 1 << 20, LARGE}};

	for (uint32_t local = STEP_GPU_MEMORY; local <= STEP_HOST_MEMORY; local++) {
		struct pair pair;

		open_pair(&pair, kind);
		for (uint32_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			const struct step steps[] = {{.what = STEP_FILL,
						      .local = local,
						      .local_offset = pieces[i].from,
						      .len = pieces[i].len,
						      .seed = i + 1},
						     {.what = STEP_WRITE,
						      .local = local,
						      .local_offset = pieces[i].from,
						      .remote = STEP_REMOTE,
						      .remote_offset = pieces[i].to,
						      .len = pieces[i].len},
						     COMMIT,
						     WAIT};

			RUN(&pair, steps, DOCA_SUCCESS);
			assert_int_equal(pair.rig.results[3].num, 1);
			verify_peer(&pair, pieces[i].to, pieces[i].len, i + 1);
		}
		close_pair(&pair);
	}
}

static void write_lands_in_mapped_memory(void **state)
{
	(void)state;
	check_writes(&cpu_kind);
}

static void write_lands_in_memory_that_is_no_whole_pages(void **state)
{
	(void)state;
	check_writes(&ragged_kind);
}

#define MIXED 32 /* writes of one commit */

/* Sizes that a GPU moves in different ways, behind each other: words, single bytes, and whole pieces and parts of pieces. */
static uint64_t mixed_len(uint32_t *random)
{
	static const uint32_t most[] = {65536, 65536, 32768, 16384, 16384, 4096, 2048, 900};
	uint32_t kind;

	*random = *random * 1103515245 + 12345;
	kind = *random >> 24 & 31;
	if (kind == 0)
		return 8;
	*random = *random * 1103515245 + 12345;
	if (kind == 1)
		return 1 + (*random >> 16) % 5000;
	return 16 + (*random >> 12) % most[kind % 8] / 16 * 16;
}

static void writes_of_many_sizes_in_one_commit(void **state)
{
	static struct step steps[2 * MIXED + 2];
	struct pair pair;
	uint32_t random = 1;

	(void)state;
	open_pair(&pair, &cpu_kind);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < MIXED; i++) {
			const uint64_t len = mixed_len(&random), at = i * (uint64_t)131072;

			steps[i] = (struct step){.what = STEP_FILL,
						 .local = STEP_GPU_MEMORY,
						 .local_offset = at,
						 .len = len,
						 .seed = 100 * round + i};
			steps[MIXED + i] = (struct step){.what = STEP_WRITE,
							 .local = STEP_GPU_MEMORY,
							 .local_offset = at,
							 .remote = STEP_REMOTE,
							 .remote_offset = at,
							 .len = len};
		}
		steps[2 * MIXED] = (struct step)COMMIT;
		steps[2 * MIXED + 1] = (struct step)WAIT;
		RUN(&pair, steps, DOCA_SUCCESS);
		for (uint32_t i = 0; i < MIXED; i++)
			verify_peer(&pair, i * (uint64_t)131072, steps[i].len, 100 * round + i);
	}
	close_pair(&pair);
}

static void check_reads(const struct peer_kind *kind)
{
	static const uint64_t lengths[] = {1, 8, 63, 300, 5000, LARGE};

	for (uint32_t local = STEP_GPU_MEMORY; local <= STEP_HOST_MEMORY; local++) {
		struct pair pair;

		open_pair(&pair, kind);
		for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			const struct step steps[] = {
				{.what = STEP_READ,
				 .local = local,
				 .local_offset = 3 * i,
				 .remote = STEP_REMOTE,
				 .remote_offset = 16 * i,
				 .len = lengths[i]},
				COMMIT,
				WAIT,
				{.what = STEP_VERIFY, .local = local, .local_offset = 3 * i, .len = lengths[i], .seed = 40 + i}};

			ask(&pair, (struct command){.order = FILL, .offset = 16 * i, .len = lengths[i], .seed = 40 + i});
			RUN(&pair, steps, DOCA_SUCCESS);
		}
		close_pair(&pair);
	}
}

static void read_brings_mapped_memory(void **state)
{
	(void)state;
	check_reads(&cpu_kind);
}

static void read_brings_memory_that_is_no_whole_pages(void **state)
{
	(void)state;
	check_reads(&ragged_kind);
}

static void check_inline(const struct peer_kind *kind)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = 5, .len = 28, .seed = 7},
				     {.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = 64, .len = 8, .seed = 8},
				     COMMIT,
				     WAIT,
				     {.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .len = 29}};

	open_pair(&pair, kind);
	RUN(&pair, steps, DOCA_ERROR_INVALID_VALUE);
	verify_peer(&pair, 5, 28, 7);
	verify_peer(&pair, 64, 8, 8);
	close_pair(&pair);
}

static void inline_writes(void **state)
{
	(void)state;
	check_inline(&cpu_kind);
	check_inline(&ragged_kind);
}

static void nothing_goes_out_before_the_commit(void **state)
{
	struct pair pair;
	const struct step post[] = {{.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .len = 8, .seed = 3}};
	const struct step commit[] = {COMMIT, WAIT};

	(void)state;
	open_pair(&pair, &cpu_kind);
	RUN(&pair, post, DOCA_SUCCESS);
	assert_false(ask(&pair, (struct command){.order = VERIFY, .len = 8, .seed = 3}).ok);
	RUN(&pair, commit, DOCA_SUCCESS); /* committed by another kernel */
	verify_peer(&pair, 0, 8, 3);
	close_pair(&pair);
}

/* ---- messages to tasks ---- */

static void send_arrives_in_a_task(void **state)
{
	static const uint64_t lengths[] = {0, 1, 32, 64, 65, 1000, 4096, 5000, 70000, LARGE};
	struct pair pair;

	(void)state;
	for (uint32_t local = STEP_GPU_MEMORY; local <= STEP_HOST_MEMORY; local++) {
		open_pair(&pair, &cpu_kind);
		for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			bool imm = i % 2 == 1;
			const struct step steps[] = {
				{.what = STEP_FILL, .local = local, .local_offset = i, .len = lengths[i], .seed = 60 + i},
				{.what = STEP_SEND,
				 .local = local,
				 .local_offset = i,
				 .len = lengths[i],
				 .has_imm = imm,
				 .imm = htonl(77 + i)},
				COMMIT,
				WAIT};

			ask(&pair, (struct command){.order = RECEIVE, .num = 1, .offset = 64, .len = LARGE});
			RUN(&pair, steps, DOCA_SUCCESS);
			struct answer answer = ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = i + 1});
			assert_int_equal(answer.len, lengths[i]);
			assert_int_equal(answer.opcode, imm ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND);
			assert_int_equal(answer.imm, imm ? htonl(77 + i) : 0);
			verify_peer(&pair, 64, lengths[i], 60 + i);
		}
		close_pair(&pair);
	}
}

#define WRITER_LEN 64
#define WRITTEN_LEN ((uint64_t)MANY_THREADS * WRITER_LEN)
#define WRITTEN_ROUNDS 16

/* From the same memory each time: a CPU that reads it too early sends bytes of the round before. */
static void a_send_brings_what_all_threads_wrote(void **state)
{
	struct step steps[4 * WRITTEN_ROUNDS];
	struct pair pair;

	(void)state;
	for (uint32_t i = 0; i < WRITTEN_ROUNDS; i++) {
		const struct step round[] = {
			{.what = STEP_FILL, .local = STEP_HOST_MEMORY, .len = WRITER_LEN, .seed = i, .all = 1},
			{.what = STEP_SEND, .local = STEP_HOST_MEMORY, .len = WRITTEN_LEN},
			COMMIT,
			WAIT};

		memcpy(&steps[4 * i], round, sizeof(round));
	}
	open_pair(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = RECEIVE, .num = WRITTEN_ROUNDS, .len = WRITTEN_LEN});
	gpu_rig_launch(&pair.rig, steps, 4 * WRITTEN_ROUNDS, MANY_THREADS);
	const struct step_result *results = gpu_rig_wait(&pair.rig);
	for (uint32_t i = 0; i < 4 * WRITTEN_ROUNDS; i++)
		assert_int_equal(results[i].status, DOCA_SUCCESS);
	ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = WRITTEN_ROUNDS});
	for (uint32_t i = 0; i < WRITTEN_ROUNDS; i++)
		verify_peer(&pair, i * WRITTEN_LEN, WRITTEN_LEN, i);
	close_pair(&pair);
}

static void inline_sends(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_SEND_INLINE, .len = 44, .seed = 9, .has_imm = 1, .imm = 5},
				     COMMIT,
				     WAIT,
				     {.what = STEP_SEND_INLINE, .len = 45}};

	(void)state;
	open_pair(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = RECEIVE, .num = 1, .len = 44});
	RUN(&pair, steps, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = 1}).len, 44);
	verify_peer(&pair, 0, 44, 9);
	close_pair(&pair);
}

static void check_write_imm(const struct peer_kind *kind)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = 3000, .seed = 11},
				     {.what = STEP_WRITE,
				      .local = STEP_GPU_MEMORY,
				      .remote = STEP_REMOTE,
				      .remote_offset = 100,
				      .len = 3000,
				      .has_imm = 1,
				      .imm = 0x01020304},
				     {.what = STEP_WRITE, .remote = STEP_REMOTE, .has_imm = 1, .imm = 9},
				     COMMIT,
				     WAIT};

	open_pair(&pair, kind);
	ask(&pair, (struct command){.order = RECEIVE, .num = 2});
	RUN(&pair, steps, DOCA_SUCCESS);
	struct answer answer = ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = 2});
	assert_int_equal(answer.opcode, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
	assert_int_equal(answer.imm, 9);
	verify_peer(&pair, 100, 3000, 11);
	close_pair(&pair);
}

static void write_with_immediate_takes_a_receive(void **state)
{
	(void)state;
	check_write_imm(&cpu_kind);
	check_write_imm(&ragged_kind);
}

static void threads_post_and_one_commits(void **state)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = 32 * 100, .seed = 21},
				     {.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .len = 100, .all = 1},
				     {.what = STEP_SEND_INLINE, .len = 4, .seed = 2, .all = 1},
				     COMMIT,
				     WAIT};

	(void)state;
	open_pair(&pair, &cpu_kind);
	ask(&pair, (struct command){.order = RECEIVE, .num = 32, .offset = 1 << 20, .len = 4});
	gpu_rig_launch(&pair.rig, steps, 5, 32);
	const struct step_result *results = gpu_rig_wait(&pair.rig);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(results[i].status, DOCA_SUCCESS);
	ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = 32});
	verify_peer(&pair, 0, 32 * 100, 21);
	for (uint32_t i = 0; i < 32; i++)
		verify_peer(&pair, (1 << 20) + 4 * i, 4, 2);
	close_pair(&pair);
}

static void threads_of_several_warps_post(void **state)
{
	(void)state;
	check_many(&cpu_kind, 256, STEP_WRITE_MANY, MANY_LEN, 12, 1);
	check_many(&two_connections_kind, 256, STEP_WRITE_MANY, MANY_LEN, 12, 1);
}

/* A round fills the queue, so all threads need several. */
static void threads_of_several_warps_fill_a_queue(void **state)
{
	(void)state;
	check_many(&cpu_kind, 8, STEP_WRITE_MANY, MANY_LEN, 2, MANY_ROUNDS(8));
	check_many(&two_connections_kind, 8, STEP_WRITE_MANY, MANY_LEN, 4, MANY_ROUNDS(8));
	check_many(&two_connections_kind, 64, STEP_WRITE_MANY, MANY_LEN, 4, MANY_ROUNDS(64));
}

static void threads_of_several_warps_post_while_one_commits(void **state)
{
	(void)state;
	check_many(&cpu_kind, 8, STEP_WRITE_WHENEVER, MANY_LEN, 8, 0);
	check_many(&two_connections_kind, 64, STEP_WRITE_WHENEVER, MANY_LEN, 8, 0);
}

static void weak_posts_at_places_of_the_callers(void **state)
{
	struct pair pair;
	const struct step first[] = {
		{.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .len = 8, .seed = 1}, COMMIT, WAIT, {.what = STEP_INFO}};

	(void)state;
	open_pair(&pair, &cpu_kind);
	for (uint32_t round = 0; round < 200; round++) { /* more than a generation of the queue */
		RUN(&pair, first, DOCA_SUCCESS);
		uint32_t at = pair.rig.results[3].num, mask = pair.rig.results[3].imms[0];
		const struct step weak[] = {{.what = STEP_WRITE_INLINE,
					     .remote = STEP_REMOTE,
					     .remote_offset = 8,
					     .len = 8,
					     .seed = round,
					     .weak = 1,
					     .position = (at + 1) & mask},
					    {.what = STEP_WRITE_INLINE,
					     .remote = STEP_REMOTE,
					     .len = 8,
					     .seed = round + 1,
					     .weak = 1,
					     .position = at},
					    {.what = STEP_COMMIT, .weak = 1, .position = 2},
					    WAIT};
		assert_int_equal(mask, 127);
		RUN(&pair, weak, DOCA_SUCCESS);
		assert_int_equal(pair.rig.results[3].num, 1);
	}
	verify_peer(&pair, 8, 8, 199);
	verify_peer(&pair, 0, 8, 200);
	close_pair(&pair);
}

/* ---- order ---- */

static void a_send_comes_after_the_write_before_it(void **state)
{
	struct pair pair;
	struct step steps[4 * 8 + 2];

	(void)state;
	memset(steps, 0, sizeof(steps));
	for (uint32_t i = 0; i < 8; i++) {
		steps[4 * i] = (struct step){
			.what = STEP_FILL, .local = STEP_GPU_MEMORY, .local_offset = 10000 * i, .len = 9000, .seed = i};
		steps[4 * i + 1] = (struct step){.what = STEP_WRITE,
						 .local = STEP_GPU_MEMORY,
						 .local_offset = 10000 * i,
						 .remote = STEP_REMOTE,
						 .remote_offset = 10000 * i,
						 .len = 9000};
		steps[4 * i + 2] = (struct step){.what = STEP_SEND_INLINE, .len = 4, .seed = i};
		steps[4 * i + 3] = (struct step){.what = STEP_COMMIT};
	}
	steps[32].what = STEP_WAIT;
	for (uint32_t kind = 0; kind < 2; kind++) {
		open_pair(&pair, kind == 0 ? &cpu_kind : &ragged_kind);
		gpu_rig_launch(&pair.rig, steps, 33, 1);
		for (uint32_t i = 0; i < 8; i++) { /* each send must wait for its receive, and the writes behind it wait, too */
			if (i + 1 < 8)
				assert_false(ask(&pair,
						 (struct command){
							 .order = VERIFY, .offset = 10000 * (i + 1), .len = 9000, .seed = i + 1})
						     .ok);
			ask(&pair, (struct command){.order = RECEIVE, .num = 1, .offset = 1 << 20, .len = 4});
			ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = i + 1});
			verify_peer(&pair, 10000 * i, 9000, i);
			verify_peer(&pair, 1 << 20, 4, i);
		}
		assert_int_equal(gpu_rig_wait(&pair.rig)[32].status, DOCA_SUCCESS);
		assert_int_equal(pair.rig.results[32].num, 8);
		close_pair(&pair);
	}
}

/* ---- kernels on both sides ---- */

static void peer_launch(struct pair *pair, const struct step *steps, uint32_t num)
{
	const struct command launch = {.order = LAUNCH, .num = num};

	send_all(pair->socket, &launch, sizeof(launch));
	send_all(pair->socket, steps, num * sizeof(*steps));
}

static void peer_wait(struct pair *pair, struct step_result *results, uint32_t num)
{
	const struct command wait = {.order = AWAIT_KERNEL, .num = num};

	send_all(pair->socket, &wait, sizeof(wait));
	receive_all(pair->socket, results, num * sizeof(*results));
}

static void kernels_talk(void **state)
{
	static struct step_result theirs[8];
	struct pair pair;
	static const struct step here[] = {
		{.what = STEP_AWAIT_BYTE, .local = STEP_GPU_MEMORY, .local_offset = 1 << 20, .seed = 1},
		{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = 70000, .seed = 5},
		{.what = STEP_WRITE,
		 .local = STEP_GPU_MEMORY,
		 .remote = STEP_REMOTE,
		 .remote_offset = 128,
		 .len = 70000,
		 .has_imm = 1,
		 .imm = 31},
		{.what = STEP_SEND, .local = STEP_GPU_MEMORY, .len = 5000, .has_imm = 1, .imm = 32},
		COMMIT,
		WAIT};
	static const struct step there[] = {
		{.what = STEP_RECV},
		{.what = STEP_RECV, .local = STEP_GPU_MEMORY, .local_offset = 2 << 20, .len = 5000},
		{.what = STEP_RECV_COMMIT},
		{.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = 1 << 20, .len = 1, .seed = 0},
		COMMIT,
		{.what = STEP_RECV_WAIT},
		{.what = STEP_VERIFY, .local = STEP_GPU_MEMORY, .local_offset = 128, .len = 70000, .seed = 5},
		{.what = STEP_VERIFY, .local = STEP_GPU_MEMORY, .local_offset = 2 << 20, .len = 5000, .seed = 5}};
	struct step first[6];

	(void)state;
	memcpy(first, here, sizeof(here));
	open_pair(&pair, &gpu_kind);
	first[0].seed = step_byte(0, 0); /* what the peer's kernel writes */
	const struct step mark[] = {{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .local_offset = 1 << 20, .len = 1, .seed = 77}};
	RUN(&pair, mark, DOCA_SUCCESS);
	gpu_rig_launch(&pair.rig, first, 6, 1);
	peer_launch(&pair, there, 8);
	const struct step_result *results = gpu_rig_wait(&pair.rig);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(results[i].status, DOCA_SUCCESS);
	peer_wait(&pair, theirs, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(theirs[i].status, DOCA_SUCCESS);
	assert_int_equal(theirs[5].num, 2);
	assert_int_equal(theirs[5].imms[0], 31);
	assert_int_equal(theirs[5].imms[1], 32);
	close_pair(&pair);
}

/* ---- the host's calls ---- */

static void host_calls(void **state)
{
	struct gpu_rig rig;
	struct doca_rdma *cpu;
	struct doca_rdma_connection *connection;
	struct doca_rdma_task_receive *receive;
	struct doca_gpu_dev_rdma *handle;
	const void *details;
	uint32_t size;
	size_t len;

	(void)state;
	gpu_rig_prepare(&rig, SIZE, READ_WRITE);
	assert_int_equal(doca_rdma_get_gpu_handle(rig.rdma, &handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_get_gpu_handle(NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_get_gpu_handle(rig.rdma, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_get_recv_queue_size(rig.rdma, &size));
	assert_int_equal(size, 128);
	CHECK_OK(doca_rdma_set_recv_queue_size(rig.rdma, 100));
	CHECK_OK(doca_rdma_set_recv_queue_size(rig.rdma, 33));
	CHECK_OK(doca_rdma_get_recv_queue_size(rig.rdma, &size));
	assert_int_equal(size, 64);
	assert_int_equal(doca_rdma_set_recv_queue_size(rig.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_recv_queue_size(rig.rdma, 1 << 30), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_set_recv_queue_size(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_create(rig.dev, &cpu));
	assert_int_equal(doca_rdma_set_recv_queue_size(cpu, 100), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_get_recv_queue_size(cpu, &size), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_rdma_get_gpu_handle(cpu, &handle), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_rdma_destroy(cpu));
	CHECK_OK(doca_rdma_task_receive_set_conf(rig.rdma, rdma_rig_received, rdma_rig_receive_failed, 4));
	gpu_rig_start(&rig);
	CHECK_OK(doca_rdma_get_gpu_handle(rig.rdma, &handle));
	assert_int_equal(doca_rdma_set_recv_queue_size(rig.rdma, 100), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_rdma_task_receive_allocate_init(rig.rdma, NULL, (union doca_data){0}, &receive),
			 DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_rdma_export(rig.rdma, &details, &len, &connection));
	gpu_rig_stop(&rig);
	assert_int_equal(doca_rdma_get_gpu_handle(rig.rdma, &handle), DOCA_ERROR_BAD_STATE);
	gpu_rig_start(&rig);
	gpu_rig_fini(&rig);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_calls),
		cmocka_unit_test(write_lands_in_mapped_memory),
		cmocka_unit_test(write_lands_in_memory_that_is_no_whole_pages),
		cmocka_unit_test(writes_of_many_sizes_in_one_commit),
		cmocka_unit_test(read_brings_mapped_memory),
		cmocka_unit_test(read_brings_memory_that_is_no_whole_pages),
		cmocka_unit_test(inline_writes),
		cmocka_unit_test(nothing_goes_out_before_the_commit),
		cmocka_unit_test(send_arrives_in_a_task),
		cmocka_unit_test(a_send_brings_what_all_threads_wrote),
		cmocka_unit_test(inline_sends),
		cmocka_unit_test(write_with_immediate_takes_a_receive),
		cmocka_unit_test(threads_post_and_one_commits),
		cmocka_unit_test(threads_of_several_warps_post),
		cmocka_unit_test(threads_of_several_warps_fill_a_queue),
		cmocka_unit_test(threads_of_several_warps_post_while_one_commits),
		cmocka_unit_test(weak_posts_at_places_of_the_callers),
		cmocka_unit_test(a_send_comes_after_the_write_before_it),
		cmocka_unit_test(kernels_talk),
	};

	be_peer_if_asked(argc, argv);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
