/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes by kernels stay in order, whether the kernel executes them or leaves them to the host's thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "pair.h"
#include "support/wait.h"

#define MESSAGES 19 /* not a multiple of what a kernel loads together */
#define ROUNDS 2000

/* Commands that the thread has got. They are in memory of the GPU. */
static uint32_t num_commands(struct pair *pair)
{
	return softfield_rdma_queue_of(handle_of(pair), 0)->held[1].w[0];
}

static void check_order(struct pair *pair, uint32_t len, uint32_t rounds)
{
	const struct step steps[] = {{.what = STEP_WRITE_ROUNDS,
				      .local = STEP_GPU_MEMORY,
				      .remote = STEP_REMOTE,
				      .remote_offset = 4096,
				      .len = len,
				      .pieces = MESSAGES,
				      .rounds = rounds}};
	const struct command watch = {.order = WATCH, .offset = 4096, .num = MESSAGES, .len = len, .pattern = rounds};
	struct answer answer;

	gpu_rig_launch(&pair->rig, steps, 1, 1);
	send_all(pair->socket, &watch, sizeof(watch));
	assert_int_equal(gpu_rig_wait(&pair->rig)[0].status, DOCA_SUCCESS);
	receive_all(pair->socket, &answer, sizeof(answer));
	assert_true(answer.ok);
}

static void check_order_of_words(bool by_thread, uint32_t word)
{
	struct pair pair;

	open_pair(&pair, &cpu_kind);
	if (by_thread)
		leave_writes_to_the_thread(&pair);
	check_order(&pair, word, ROUNDS);
	if (is_software(&pair) && strcmp(getenv("SOFTFIELD_FABRIC"), "shm") == 0) { /* the last one or two may be the kernel's */
		assert_true(num_commands(&pair) <= (by_thread ? MESSAGES * ROUNDS : 0));
		assert_true(num_commands(&pair) >= (by_thread ? (MESSAGES - 2) * ROUNDS : 0));
	}
	close_pair(&pair);
}

static void words_by_the_kernel(void **state)
{
	(void)state;
	check_order_of_words(false, 8);
	check_order_of_words(false, 4);
}

static void words_by_the_thread(void **state)
{
	(void)state;
	check_order_of_words(true, 8);
	check_order_of_words(true, 4);
}

/* A real GPU writes them by bulk copies, one or several for each, or by its own loads and stores. */
static void longer_messages(void **state)
{
	static const uint32_t lengths[] = {16, 64, 72, 1040, 16384};

	(void)state;
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct pair pair;

		open_pair(&pair, &cpu_kind);
		check_order(&pair, lengths[i], ROUNDS / 4);
		close_pair(&pair);
	}
}

#define WORD(at, number)                                                                                                         \
	{                                                                                                                        \
		.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = (at), .len = 8, .seed = (number)              \
	}

/* Two steps: bytes in memory, and their write. */
#define BYTES(from, to, bytes, number)                                                                                           \
	{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .local_offset = (from), .len = (bytes), .seed = (number)},                 \
	{                                                                                                                        \
		.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .local_offset = (from), .remote = STEP_REMOTE,                     \
		.remote_offset = (to), .len = (bytes)                                                                            \
	}

/* All kinds of operations in one commit: which of them the thread executes depends on those before. */
static void words_among_other_operations(void **state)
{
	const struct step steps[] = {
		{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = 70000, .seed = 1},
		{.what = STEP_FILL, .local = STEP_HOST_MEMORY, .local_offset = 8, .len = 8, .seed = 40},
		WORD(0, 2),
		WORD(8, 3),
		WORD(16, 4),
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .remote_offset = 4096, .len = 300},
		BYTES(80000, 8192, 5, 21),
		BYTES(80013, 8197, 63, 22),
		BYTES(80100, 8260, 64, 23),
		BYTES(80203, 8324, 20, 24),
		BYTES(80300, 8344, 333, 25),
		WORD(24, 5),
		{.what = STEP_SEND_INLINE, .len = 16, .seed = 6},
		BYTES(80700, 8677, 12, 26), /* behind a command */
		WORD(32, 7),
		{.what = STEP_WRITE,
		 .local = STEP_HOST_MEMORY,
		 .local_offset = 8,
		 .remote = STEP_REMOTE,
		 .remote_offset = 40,
		 .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .remote_offset = 131072, .len = 70000},
		WORD(48, 9),
		{.what = STEP_WRITE_INLINE,
		 .remote = STEP_REMOTE,
		 .remote_offset = 56,
		 .len = 8,
		 .seed = 10,
		 .has_imm = 1,
		 .imm = 77},
		WORD(0, 11), /* once more, over the first ones */
		WORD(8, 12),
		{.what = STEP_READ, .local = STEP_GPU_MEMORY, .local_offset = 1 << 20, .remote = STEP_REMOTE, .len = 8},
		WORD(0, 13), /* the read does not see it */
		COMMIT,
		WAIT,
		{.what = STEP_VERIFY, .local = STEP_GPU_MEMORY, .local_offset = 1 << 20, .len = 8, .seed = 11},
	};
	static const uint32_t words[] = {13, 12, 4, 5, 7, 40, 9, 10}, lengths[] = {5, 63, 64, 20, 333, 12};

	(void)state;
	for (uint32_t by_thread = 0; by_thread < 2; by_thread++) {
		struct pair pair;

		open_pair(&pair, &cpu_kind);
		if (by_thread)
			leave_writes_to_the_thread(&pair);
		for (uint32_t round = 1; round <= 3; round++) {
			ask(&pair, (struct command){.order = RECEIVE, .num = 2, .offset = 1 << 20, .len = 64});
			RUN(&pair, steps, DOCA_SUCCESS);
			ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = 2 * round});
			for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
				verify_peer(&pair, 8 * i, 8, words[i]);
			verify_peer(&pair, 4096, 300, 1);
			for (uint32_t i = 0, at = 8192; i < sizeof(lengths) / sizeof(lengths[0]); at += lengths[i++])
				verify_peer(&pair, at, lengths[i], 21 + i);
			verify_peer(&pair, 131072, 70000, 1);
			verify_peer(&pair, 1 << 20, 16, 6);
		}
		close_pair(&pair);
	}
}

/* The thread holds only so much memory of peers at a time. */
static void writes_to_many_arrays(void **state)
{
	const struct peer_kind *kinds[] = {&cpu_kind, &ragged_kind};

	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct step steps[3 * STEP_REMOTES + 2];
		struct pair pair;

		memset(steps, 0, sizeof(steps));
		open_pair(&pair, kinds[k]);
		leave_writes_to_the_thread(&pair);
		for (uint32_t i = 1; i < STEP_REMOTES; i++)
			gpu_rig_import(&pair.rig, STEP_REMOTE + i, pair.theirs.descriptor, pair.theirs.descriptor_len);
		for (uint32_t i = 0; i < 3 * STEP_REMOTES; i++)
			steps[i] = (struct step){.what = STEP_WRITE_INLINE,
						 .remote = STEP_REMOTE + i % STEP_REMOTES,
						 .remote_offset = 8 * i,
						 .len = 8,
						 .seed = i};
		steps[3 * STEP_REMOTES].what = STEP_COMMIT;
		steps[3 * STEP_REMOTES + 1].what = STEP_WAIT;
		for (uint32_t round = 0; round < 3; round++)
			RUN(&pair, steps, DOCA_SUCCESS);
		for (uint32_t i = 0; i < 3 * STEP_REMOTES; i++)
			verify_peer(&pair, 8 * i, 8, i);
		close_pair(&pair);
	}
}

/* A kernel's command for an address that no array has, as after the end of one: the connection ends, nothing is written. */
static void a_store_outside_of_all_arrays(void **state)
{
	struct step steps[] = {{.what = STEP_WAIT}};
	struct doca_gpu_dev_rdma *handle;
	struct softfield_rdma_queue *queue;
	struct pair pair;
	uint64_t word = 0;

	(void)state;
	open_pair(&pair, &cpu_kind);
	if (!is_software(&pair)) {
		close_pair(&pair);
		skip(); /* the command is written here, and a real GPU's queue is not accessible */
	}
	RUN(&pair, steps, DOCA_SUCCESS);
	handle = handle_of(&pair);
	queue = softfield_rdma_queue_of(handle, 0);
	const uint32_t mark = softfield_rdma_store_mark(0, queue->shift), low = (uint32_t)(uintptr_t)&word;
	const struct softfield_slot16 store = {{1, 0, low, mark | (uint32_t)((uintptr_t)&word >> 32)}};

	softfield_published(queue->cmds);
	softfield_store_slot16(&queue->cmds[0].slot16[0], store);
	handle->ring(handle->ring_arg);
	assert_true(WAIT_UNTIL(softfield_load_slot16(&queue->state).w[SOFTFIELD_RDMA_STATE] == SOFTFIELD_RDMA_ENDED));
	assert_int_equal(softfield_load_slot16(&queue->state).w[SOFTFIELD_RDMA_STATUS], DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(word, 0);
	steps[0] = (struct step)WORD(0, 1);
	RUN(&pair, steps, DOCA_ERROR_INVALID_VALUE);
	close_pair(&pair);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_by_the_kernel),	 cmocka_unit_test(words_by_the_thread),
		cmocka_unit_test(longer_messages),	 cmocka_unit_test(words_among_other_operations),
		cmocka_unit_test(writes_to_many_arrays), cmocka_unit_test(a_store_outside_of_all_arrays),
	};

	be_peer_if_asked(argc, argv);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
