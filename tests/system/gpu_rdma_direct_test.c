/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts of words that a kernel gives to the host's thread directly, without an entry: when they begin and end, and what is posted
 * among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "many.h"
#include "pair.h"
#include "support/wait.h"

#define WORD(at, number)                                                                                                         \
	{                                                                                                                        \
		.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = (at), .len = 8, .seed = (number)              \
	}

/* Is the queue of a software GPU that has the peer's memory in that state? Elsewhere nothing goes directly, or none is known. */
static bool is_direct(struct pair *pair, bool expected)
{
	if (!is_software(pair) || strcmp(getenv("SOFTFIELD_FABRIC"), "shm") != 0)
		return expected;
	return (uint32_t)__atomic_load_n(&softfield_rdma_queue_of(handle_of(pair), 0)->tail, __ATOMIC_ACQUIRE) != 0;
}

/* Opens a pair whose kernel has written words, so that the next ones go directly. */
static void open_direct(struct pair *pair)
{
	static const struct step words[] = {WORD(0, 1), WORD(8, 2), WORD(16, 3), COMMIT, WAIT};

	open_pair(pair, &cpu_kind);
	leave_writes_to_the_thread(pair);
	assert_false(is_direct(pair, false));
	for (uint32_t i = 0; i < 2; i++) { /* a real GPU's thread polls from the first ones on */
		RUN(pair, words, DOCA_SUCCESS);
		assert_true(is_direct(pair, true));
	}
}

static void they_begin_and_end_with_a_commit(void **state)
{
	struct pair pair;
	static const struct step three[] = {WORD(0, 4), WORD(8, 5), WORD(0, 6), COMMIT, WAIT};
	static const struct step two[] = {WORD(8, 7), WORD(16, 8), COMMIT, WAIT};

	(void)state;
	open_direct(&pair);
	RUN(&pair, three, DOCA_SUCCESS);
	assert_true(is_direct(&pair, true));
	verify_peer(&pair, 0, 8, 6);
	verify_peer(&pair, 8, 8, 5);
	RUN(&pair, two, DOCA_SUCCESS);
	assert_false(is_direct(&pair, false));
	verify_peer(&pair, 8, 8, 7);
	verify_peer(&pair, 16, 8, 8);
	RUN(&pair, three, DOCA_SUCCESS);
	verify_peer(&pair, 0, 8, 6);
	close_pair(&pair);
}

/* Each other operation comes behind the words before it, and before those behind it, without a commit in between. */
static void check_another(const struct step *other, bool receives)
{
	struct pair pair;
	const struct step steps[] = {{.what = STEP_FILL, .local = STEP_GPU_MEMORY, .len = 300, .seed = 20},
				     WORD(0, 30),
				     WORD(8, 31),
				     WORD(0, 32),
				     *other,
				     WORD(8, 33),
				     COMMIT,
				     WAIT};

	open_direct(&pair);
	if (receives)
		ask(&pair, (struct command){.order = RECEIVE, .num = 1, .offset = 1 << 20, .len = 64});
	RUN(&pair, steps, DOCA_SUCCESS);
	if (receives)
		ask(&pair, (struct command){.order = AWAIT_RECEIVES, .num = 1});
	verify_peer(&pair, 0, 4, 32);
	verify_peer(&pair, 8, 8, 33);
	if (other->what == STEP_SEND_INLINE) {
		verify_peer(&pair, 1 << 20, other->len, other->seed);
	} else if (other->what == STEP_READ) {
		const struct step read[] = {{.what = STEP_VERIFY,
					     .local = other->local,
					     .local_offset = other->local_offset,
					     .len = other->len,
					     .seed = 32}};

		RUN(&pair, read, DOCA_SUCCESS);
	} else { /* its first four bytes are over the word before it, or behind all */
		verify_peer(&pair, other->remote_offset, 4, 20);
	}
	close_pair(&pair);
}

static void another_operation_ends_them(void **state)
{
	static const struct step write = {
		.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .remote = STEP_REMOTE, .remote_offset = 4, .len = 300};
	static const struct step unaligned = {
		.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = 4, .len = 8, .seed = 20};
	static const struct step send = {.what = STEP_SEND_INLINE, .len = 16, .seed = 21};
	static const struct step read = {
		.what = STEP_READ, .local = STEP_GPU_MEMORY, .local_offset = 1 << 20, .remote = STEP_REMOTE, .len = 8};
	static const struct step with_immediate = {
		.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = 64, .len = 8, .seed = 20, .has_imm = 1};

	(void)state;
	check_another(&write, false);
	check_another(&unaligned, false);
	check_another(&send, true);
	check_another(&read, false);
	check_another(&with_immediate, true);
}

static void an_invalid_post_leaves_no_gap(void **state)
{
	struct pair pair;
	static const struct step steps[] = {
		WORD(0, 40),
		{.what = STEP_WRITE_INLINE, .remote = STEP_REMOTE, .remote_offset = SIZE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .local_offset = SIZE, .remote = STEP_REMOTE, .len = 8},
		{.what = STEP_WRITE, .local = STEP_GPU_MEMORY, .len = 8},
		{.what = STEP_WRITE, .remote = STEP_REMOTE, .len = 8},
		WORD(8, 41),
		WORD(16, 42),
		COMMIT,
		WAIT,
	};

	(void)state;
	open_direct(&pair);
	for (uint32_t round = 0; round < 100; round++) { /* more than a generation of the rings */
		const struct step_result *results = gpu_rig_run(&pair.rig, steps, sizeof(steps) / sizeof(steps[0]));

		for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			assert_int_equal(results[i].status, i >= 1 && i <= 4 ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);
		assert_true(is_direct(&pair, true));
	}
	verify_peer(&pair, 0, 8, 40);
	verify_peer(&pair, 8, 8, 41);
	verify_peer(&pair, 16, 8, 42);
	close_pair(&pair);
}

/* Weak functions' places are those of the strong ones, which are committed. */
static void weak_posts_end_them(void **state)
{
	struct pair pair;
	static const struct step first[] = {WORD(0, 60), WORD(8, 61), WORD(16, 62), COMMIT, WAIT, {.what = STEP_INFO}};

	(void)state;
	open_direct(&pair);
	for (uint32_t round = 0; round < 100; round++) {
		RUN(&pair, first, DOCA_SUCCESS);
		assert_true(is_direct(&pair, true));
		const uint32_t at = pair.rig.results[5].num, mask = pair.rig.results[5].imms[0];
		struct step weak[] = {WORD(8, round), WORD(0, round + 1), {.what = STEP_COMMIT, .weak = 1, .position = 2}, WAIT};

		for (uint32_t i = 0; i < 2; i++) {
			weak[i].weak = 1;
			weak[i].position = (at + 1 - i) & mask;
		}
		RUN(&pair, weak, DOCA_SUCCESS);
		assert_false(is_direct(&pair, false));
		assert_int_equal(pair.rig.results[3].num, 1);
	}
	verify_peer(&pair, 8, 8, 99);
	verify_peer(&pair, 0, 8, 100);
	close_pair(&pair);
}

static void a_missing_right_is_found(void **state)
{
	static const uint32_t read_only = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ;
	struct pair pair;
	static const struct step words[] = {WORD(0, 50), WORD(8, 51), WORD(16, 52), WORD(0, 53), COMMIT, WAIT};
	struct step refused[] = {WORD(0, 54), WORD(8, 55), WORD(16, 56), COMMIT, WAIT};

	(void)state;
	open_pair(&pair, &(struct peer_kind){.permissions = READ_WRITE, .mmap_permissions = read_only});
	leave_writes_to_the_thread(&pair);
	RUN(&pair, words, DOCA_ERROR_NOT_PERMITTED);
	assert_false(is_direct(&pair, false));
	close_pair(&pair);

	/* Other memory of the peer, whose rights are taken here. A real GPU's array is not accessible. */
	open_direct(&pair);
	if (is_software(&pair)) {
		gpu_rig_import(&pair.rig, STEP_REMOTE + 1, pair.theirs.descriptor, pair.theirs.descriptor_len);
		pair.rig.handles[STEP_REMOTE + 1]->bufs[0].permissions = read_only;
		refused[1].remote = STEP_REMOTE + 1;
		RUN(&pair, refused, DOCA_ERROR_NOT_PERMITTED);
		assert_true(WAIT_UNTIL(ask(&pair, (struct command){.order = VERIFY, .len = 8, .seed = 54}).ok));
		verify_peer(&pair, 8, 8, 2);
		verify_peer(&pair, 16, 8, 3);
	}
	close_pair(&pair);
}

/* With 8 places, and as many threads as can be: they find no room for an entry, none for a command, or a place that another one
 * has taken meanwhile. */
static void threads_of_several_warps_post_words(void **state)
{
	(void)state;
	check_many(&cpu_kind, 8, STEP_WRITE_MANY, 8, 2, 2 * MANY_ROUNDS(8));
	check_many(&two_connections_kind, 64, STEP_WRITE_MANY, 8, 4, 2 * MANY_ROUNDS(64));
	check_many(&cpu_kind, 8, STEP_WRITE_WHENEVER, 8, 8, 0);
	check_many(&two_connections_kind, 64, STEP_WRITE_WHENEVER, 8, 8, 0);
}

static void a_killed_peer_ends_them(void **state)
{
	struct pair pair;
	static const struct step endless[] = {{.what = STEP_FILL, .local = STEP_HOST_MEMORY, .len = 1, .seed = 1},
					      {.what = STEP_WRITE_ROUNDS,
					       .remote = STEP_REMOTE,
					       .remote_offset = 4096,
					       .len = 8,
					       .pieces = 8,
					       .rounds = 65000}};
	uint8_t *mark;

	(void)state;
	open_direct(&pair);
	mark = pair.rig.host_memory;
	*mark = 0;
	uint64_t begin = sf_now_ns();
	gpu_rig_launch(&pair.rig, endless, 2, 1);
	while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) != step_byte(1, 0))
		assert_false(rdma_rig_late(begin));
	kill(pair.peer, SIGKILL);
	reap(&pair, false);
	assert_int_equal(gpu_rig_wait(&pair.rig)[1].status, DOCA_ERROR_CONNECTION_ABORTED);
	gpu_rig_fini(&pair.rig);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_begin_and_end_with_a_commit), cmocka_unit_test(another_operation_ends_them),
		cmocka_unit_test(an_invalid_post_leaves_no_gap),    cmocka_unit_test(weak_posts_end_them),
		cmocka_unit_test(a_missing_right_is_found),	    cmocka_unit_test(threads_of_several_warps_post_words),
		cmocka_unit_test(a_killed_peer_ends_them),
	};

	be_peer_if_asked(argc, argv);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
