/* SPDX-License-Identifier: BSD-3-Clause */
/* The allreduce plugin: processes as ranks, each with a worker, and their results beside a plain loop. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/urom_ranks.h"
#include "urom_allreduce.h"

#define PLUGIN "worker_allreduce"
#define BIG 65536 /* bytes of a message, where it matters */

/* Its line is the status of the process. */
#define EXPECT(condition)                                                                                                                  \
	do {                                                                                                                               \
		if (!(condition)) {                                                                                                        \
			fprintf(stderr, "rank %u, line %d: %s\n", rank->index, __LINE__, #condition);                                      \
			return 1;                                                                                                          \
		}                                                                                                                          \
	} while (0)

/* ---- vectors ---- */

static size_t element_of(enum urom_allreduce_type type)
{
	return type == UROM_ALLREDUCE_FLOAT || type == UROM_ALLREDUCE_INT32 ? 4 : 8;
}

/* Whole numbers, small for floats: so the order of a sum does not matter; large for integers: so sums wrap around. */
static int64_t value_of(uint32_t rank, size_t i, enum urom_allreduce_type type)
{
	uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (rank + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
	mixed ^= mixed >> 29;
	if (type == UROM_ALLREDUCE_INT64)
		return (int64_t)mixed;
	return type == UROM_ALLREDUCE_INT32 ? (int32_t)mixed : (int64_t)(mixed % 20001) - 10000;
}

static void put(void *vector, size_t i, enum urom_allreduce_type type, int64_t value)
{
	switch (type) {
	case UROM_ALLREDUCE_FLOAT:
		((float *)vector)[i] = (float)value;
		break;
	case UROM_ALLREDUCE_DOUBLE:
		((double *)vector)[i] = (double)value;
		break;
	case UROM_ALLREDUCE_INT32:
		((int32_t *)vector)[i] = (int32_t)value;
		break;
	case UROM_ALLREDUCE_INT64:
		((int64_t *)vector)[i] = value;
	}
}

static int64_t expected(uint32_t num, size_t i, enum urom_allreduce_type type, enum urom_allreduce_op op)
{
	int64_t result = value_of(0, i, type);
	for (uint32_t rank = 1; rank < num; rank++) {
		int64_t value = value_of(rank, i, type);
		if (op == UROM_ALLREDUCE_SUM)
			result = (int64_t)((uint64_t)result + (uint64_t)value);
		else if (op == UROM_ALLREDUCE_MIN ? value < result : value > result)
			result = value;
	}
	return type == UROM_ALLREDUCE_INT32 ? (int32_t)(uint32_t)(uint64_t)result : result;
}

/* ---- one allreduce ---- */

struct run {
	struct urom_allreduce_args args;
	uint8_t *vector;
	int done;
	doca_error_t result;
};

static void finished(doca_error_t result, union doca_data cookie)
{
	struct run *run = (struct run *)cookie.ptr;
	run->done++;
	run->result = result;
}

static void fill(struct run *run, uint32_t rank, uint64_t tag, size_t count, enum urom_allreduce_type type, enum urom_allreduce_op op,
		 enum urom_allreduce_algorithm algorithm)
{
	size_t size = count * element_of(type);
	run->vector = (uint8_t *)malloc(2 * size);
	for (size_t i = 0; i < count; i++)
		put(run->vector, i, type, value_of(rank, i, type));
	memset(run->vector + size, 0xee, size);
	run->args = (struct urom_allreduce_args){tag, run->vector, run->vector + size, count, type, op, algorithm};
	run->done = 0;
}

static doca_error_t begin(struct urom_allreduce_comm *comm, struct run *run)
{
	return urom_allreduce_task(comm, (union doca_data){.ptr = run}, &run->args, finished);
}

/* Its result is the plain loop's, and what was sent is as it was. */
static bool is_right(const struct run *run, uint32_t rank, uint32_t num)
{
	const struct urom_allreduce_args *args = &run->args;
	size_t size = args->count * element_of(args->type);
	uint8_t *plain = (uint8_t *)malloc(size);
	bool right = run->done == 1 && run->result == DOCA_SUCCESS;
	for (size_t i = 0; i < args->count; i++)
		put(plain, i, args->type, expected(num, i, args->type, args->op));
	right = right && memcmp(plain, args->receive, size) == 0;
	for (size_t i = 0; args->send != args->receive && i < args->count; i++)
		put(plain, i, args->type, value_of(rank, i, args->type));
	right = right && (args->send == args->receive || memcmp(plain, args->send, size) == 0);
	free(plain);
	if (!right)
		fprintf(stderr, "%zu of type %d, operation %d, algorithm %d: %s\n", args->count, (int)args->type, (int)args->op,
			(int)args->algorithm, doca_error_get_name(run->result));
	return right;
}

static bool open_comm(struct rank *rank, struct urom_allreduce_comm **comm)
{
	return urom_allreduce_init(rank->plugin, 2) == DOCA_SUCCESS &&
	       urom_allreduce_comm_create(rank->worker, rank->index, rank->num, UROM_ALLREDUCE_DEPTH, comm) == DOCA_SUCCESS;
}

/* ---- results ---- */

static int all_kinds(struct rank *rank, void *arg)
{
	static const size_t counts[] = {1, 3, 1021, 4999};
	struct urom_allreduce_comm *comm;
	uint64_t tag = 0;
	(void)arg;
	EXPECT(open_comm(rank, &comm));
	for (size_t which = 0; which < 4 * 3 * 3 * 4; which++) {
		struct run run;
		fill(&run, rank->index, tag++, counts[which / 36], (enum urom_allreduce_type)(which % 4), (enum urom_allreduce_op)(which / 4 % 3),
		     (enum urom_allreduce_algorithm)(which / 12 % 3));
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		EXPECT(is_right(&run, rank->index, rank->num));
		free(run.vector);
	}
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void every_type_and_operation(void **state)
{
	const struct ranks_run run = {.process = all_kinds, .plugin = PLUGIN};
	(void)state;
	for (uint32_t num = 2; num <= 5; num++)
		assert_int_equal(ranks_run(num, &run), 0);
}

static int one_large(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm;
	struct run run;
	(void)arg;
	EXPECT(open_comm(rank, &comm));
	fill(&run, rank->index, 1, (1 << 18) + 1, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO);
	EXPECT(begin(comm, &run) == DOCA_SUCCESS);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_ERROR_IN_USE);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(is_right(&run, rank->index, rank->num));
	free(run.vector);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void a_large_vector(void **state)
{
	static const char *const args[] = {"--max-msg-size", "65536", NULL};
	const struct ranks_run small = {.process = one_large, .plugin = PLUGIN};
	const struct ranks_run large = {.process = one_large, .plugin = PLUGIN, .message_size = BIG, .daemon_args = args};
	(void)state;
	assert_int_equal(ranks_run(1, &small), 0);
	assert_int_equal(ranks_run(3, &small), 0);
	assert_int_equal(ranks_run(4, &large), 0);
}

/* Rounding depends on the order, which is the same for all who get a result. */
static int rounded(struct rank *rank, void *arg)
{
	enum urom_allreduce_algorithm algorithm = *(enum urom_allreduce_algorithm *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;
	EXPECT(open_comm(rank, &comm));
	fill(&run, rank->index, 1, 4001, UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_SUM, algorithm);
	for (size_t i = 0; i < 4001; i++)
		((float *)(void *)run.vector)[i] = 1.0f / (float)(i + 1 + 977 * rank->index);
	run.args.receive = run.vector; /* in place */
	EXPECT(begin(comm, &run) == DOCA_SUCCESS);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(run.result == DOCA_SUCCESS);
	memcpy(rank->board->shared[rank->index], run.vector, 4001 * sizeof(float));
	EXPECT(rank_barrier(rank, 0));
	EXPECT(memcmp(rank->board->shared[0], run.vector, 4001 * sizeof(float)) == 0);
	for (size_t i = 0; i < 4001; i++) {
		double sum = 0;
		for (uint32_t other = 0; other < rank->num; other++)
			sum += 1.0 / (double)(i + 1 + 977 * other);
		double off = ((float *)(void *)run.vector)[i] - sum;
		EXPECT(off < 1e-6 && off > -1e-6);
	}
	free(run.vector);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void every_rank_has_the_same_bits(void **state)
{
	enum urom_allreduce_algorithm algorithm = UROM_ALLREDUCE_TREE;
	const struct ranks_run run = {.process = rounded, .arg = &algorithm, .plugin = PLUGIN};
	(void)state;
	assert_int_equal(ranks_run(5, &run), 0);
	algorithm = UROM_ALLREDUCE_RING;
	assert_int_equal(ranks_run(5, &run), 0);
}

/* ---- several at once ---- */

static int many(struct rank *rank, void *arg)
{
	struct run runs[UROM_ALLREDUCE_INFLIGHT_MAX + 1];
	struct urom_allreduce_comm *comm;
	(void)arg;
	EXPECT(open_comm(rank, &comm));
	for (int round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) { /* each rank begins with another, and goes another way */
			uint32_t which = (rank->index + (rank->index % 2 != 0 ? 8 - i : i)) % UROM_ALLREDUCE_INFLIGHT_MAX;
			fill(&runs[which], rank->index, which, 100 + which * 3001, (enum urom_allreduce_type)(which % 4), UROM_ALLREDUCE_SUM,
			     (enum urom_allreduce_algorithm)(which % 3));
			EXPECT(begin(comm, &runs[which]) == DOCA_SUCCESS);
		}
		runs[8] = runs[0];
		EXPECT(begin(comm, &runs[8]) == DOCA_ERROR_INVALID_VALUE); /* the tag is under way */
		runs[8].args.tag = 8;
		EXPECT(begin(comm, &runs[8]) == DOCA_ERROR_AGAIN);
		for (uint32_t i = 0; i < UROM_ALLREDUCE_INFLIGHT_MAX; i++) {
			EXPECT(urom_rig_await_flag(&rank->rig, &runs[i].done));
			EXPECT(is_right(&runs[i], rank->index, rank->num));
			free(runs[i].vector);
		}
	}
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void several_in_any_order(void **state)
{
	const struct ranks_run run = {.process = many, .plugin = PLUGIN};
	(void)state;
	assert_int_equal(ranks_run(2, &run), 0);
	assert_int_equal(ranks_run(4, &run), 0);
}

/* ---- what goes wrong ---- */

static int disagree(struct rank *rank, void *arg)
{
	size_t count = rank->index == 1 ? 90001 : 30001; /* more than is under way at once */
	struct urom_allreduce_comm *comm;
	struct run run;
	EXPECT(open_comm(rank, &comm));
	fill(&run, rank->index, 1, count, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, *(enum urom_allreduce_algorithm *)arg);
	EXPECT(begin(comm, &run) == DOCA_SUCCESS);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(run.done == 1 && run.result == DOCA_ERROR_INVALID_VALUE);
	free(run.vector);
	EXPECT(rank_barrier(rank, 0));
	fill(&run, rank->index, 2, 30001, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO); /* another is as ever */
	EXPECT(begin(comm, &run) == DOCA_SUCCESS);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(is_right(&run, rank->index, rank->num));
	free(run.vector);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void ranks_that_do_not_agree(void **state)
{
	enum urom_allreduce_algorithm algorithm = UROM_ALLREDUCE_TREE;
	const struct ranks_run run = {.process = disagree, .arg = &algorithm, .plugin = PLUGIN};
	(void)state;
	assert_int_equal(ranks_run(4, &run), 0);
	algorithm = UROM_ALLREDUCE_RING;
	assert_int_equal(ranks_run(4, &run), 0);
}

static int bad_arguments(struct rank *rank, void *arg)
{
	struct urom_allreduce_comm *comm, *wrong;
	struct run run;
	(void)arg;
	EXPECT(urom_allreduce_init(rank->plugin, 1) == DOCA_ERROR_UNSUPPORTED_VERSION);
	EXPECT(open_comm(rank, &comm));
	EXPECT(urom_allreduce_comm_create(rank->worker, 2, 2, 8, &wrong) == DOCA_ERROR_INVALID_VALUE);
	fill(&run, 0, 1, 10, UROM_ALLREDUCE_INT32, UROM_ALLREDUCE_SUM, UROM_ALLREDUCE_AUTO);
	run.args.count = 0;
	EXPECT(begin(comm, &run) == DOCA_ERROR_INVALID_VALUE);
	run.args.count = 10;
	run.args.type = (enum urom_allreduce_type)4;
	EXPECT(begin(comm, &run) == DOCA_ERROR_INVALID_VALUE);
	run.args.type = UROM_ALLREDUCE_INT32;
	/* a rank that is not in the domain, then a rank that is another's */
	EXPECT(urom_allreduce_comm_create(rank->worker, 0, 2, 8, &wrong) == DOCA_SUCCESS);
	EXPECT(begin(wrong, &run) == DOCA_SUCCESS);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(run.result == DOCA_ERROR_NOT_FOUND);
	EXPECT(urom_allreduce_comm_destroy(wrong) == DOCA_SUCCESS);
	EXPECT(urom_allreduce_comm_create(rank->worker, 1, 2, 8, &wrong) == DOCA_SUCCESS);
	run.done = 0;
	EXPECT(begin(wrong, &run) == DOCA_SUCCESS);
	EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
	EXPECT(run.result == DOCA_ERROR_INVALID_VALUE);
	EXPECT(urom_allreduce_comm_destroy(wrong) == DOCA_SUCCESS);
	free(run.vector);
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void what_cannot_be(void **state)
{
	const struct ranks_run run = {.process = bad_arguments, .plugin = PLUGIN};
	(void)state;
	assert_int_equal(ranks_run(1, &run), 0);
}

struct murder {
	enum urom_allreduce_algorithm algorithm;
	uint32_t victim;
};

/* All but the victim have an allreduce under way that waits for it. */
static int bereaved(struct rank *rank, void *arg)
{
	const struct murder *murder = (const struct murder *)arg;
	struct urom_allreduce_comm *comm;
	struct run run;
	EXPECT(open_comm(rank, &comm));
	for (uint64_t tag = 1; tag <= 3; tag++) { /* the first is whole; the second loses its worker, the third has none */
		if (tag == 2 && rank->index == murder->victim) {
			EXPECT(rank_barrier(rank, 1));
			EXPECT(urom_rig_await(&rank->rig, doca_urom_worker_as_ctx(rank->worker), DOCA_CTX_STATE_IDLE));
			break;
		}
		fill(&run, rank->index, tag, 30001, UROM_ALLREDUCE_DOUBLE, UROM_ALLREDUCE_MAX, murder->algorithm);
		EXPECT(begin(comm, &run) == DOCA_SUCCESS);
		if (tag == 2)
			EXPECT(rank_barrier(rank, 1));
		uint64_t began = urom_rig_now_ns();
		EXPECT(urom_rig_await_flag(&rank->rig, &run.done));
		EXPECT(tag == 1 ? is_right(&run, rank->index, rank->num) : run.result == DOCA_ERROR_CONNECTION_ABORTED);
		EXPECT(tag == 1 || urom_rig_now_ns() - began < UINT64_C(5000000000));
		free(run.vector);
	}
	EXPECT(urom_allreduce_comm_destroy(comm) == DOCA_SUCCESS);
	return 0;
}

static void kill_worker(struct urom_rig *host, struct ranks_board *board, void *arg)
{
	const struct murder *murder = (const struct murder *)arg;
	struct rank outsider = {.board = board, .num = board->num, .rig = {.pe = NULL}};
	uint64_t until = urom_rig_now_ns() + UROM_RIG_WAIT_NS;
	char text[64];
	int pid = 0;
	while (__atomic_load_n(&board->at_barrier[0], __ATOMIC_ACQUIRE) < outsider.num && urom_rig_now_ns() < until)
		usleep(1000);
	snprintf(text, sizeof(text), "worker %llu runs, process ", (unsigned long long)board->worker_ids[murder->victim]);
	assert_true(program_await(&host->daemon, text));
	assert_int_equal(sscanf(strstr(host->daemon.output, text) + strlen(text), "%d", &pid), 1);
	assert_true(pid > 1);
	kill(pid, SIGKILL);
	__atomic_fetch_add(&board->at_barrier[0], 1, __ATOMIC_ACQ_REL);
}

static void a_worker_that_dies(void **state)
{
	struct murder murder;
	const struct ranks_run run = {.process = bereaved, .parent = kill_worker, .arg = &murder, .plugin = PLUGIN};
	(void)state;
	for (murder.algorithm = UROM_ALLREDUCE_TREE; murder.algorithm <= UROM_ALLREDUCE_RING; murder.algorithm++) {
		for (murder.victim = 0; murder.victim < 4; murder.victim++)
			assert_int_equal(ranks_run(4, &run), 0);
	}
}

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_operation), cmocka_unit_test(a_large_vector), cmocka_unit_test(every_rank_has_the_same_bits),
		cmocka_unit_test(several_in_any_order),	    cmocka_unit_test(ranks_that_do_not_agree), cmocka_unit_test(what_cannot_be),
		cmocka_unit_test(a_worker_that_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
