/* SPDX-License-Identifier: BSD-3-Clause */
/* The rdmo plugin when an initiator, a client, a region, a queue or the worker goes away. */
#include "rdmo_rig.h"
#include "support/stop.h"

static void an_initiator_that_leaves(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		append(&initiators[1], 0, "leaves", 6);
	close_initiator(&initiators[1]);
	uint64_t before = *word;
	append(&initiators[0], 0, "stays", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal((uint8_t *)*word - 5, "stays", 5);
	assert_in_range(*word - before, 5, 5 + 20 * 6);
}

/* ---- clients of one worker ---- */

static struct doca_urom_worker *second_client(void)
{
	uint64_t id;

	assert_int_equal(doca_urom_worker_get_id(worker, &id), DOCA_SUCCESS);
	struct doca_urom_worker *second = urom_rig_worker(&rig, id, RDMO);
	assert_true(urom_rig_start_worker(&rig, second));
	return second;
}

/* The worker learns that the first client is gone when its connection ends. */
static doca_error_t init_when_free(uint64_t id)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result;

	do
		result = init_client(id);
	while (result == DOCA_ERROR_ALREADY_EXIST && sf_now_ns() < until);
	return result;
}

static void a_client_that_leaves_gives_its_id_back(void **state)
{
	struct doca_urom_worker *first = worker, *second = second_client();

	(void)state;
	append(&initiators[0], 0, "first", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	worker = second;
	assert_int_equal(init_client(CLIENT), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(create_queue(&initiators[0]),
			 DOCA_ERROR_BAD_STATE); /* the second client may not use the first one's id */
	assert_true(urom_rig_stop_worker(&rig, first));
	assert_int_equal(init_when_free(CLIENT), DOCA_SUCCESS);
	assert_int_equal(flush(&initiators[0]), DOCA_ERROR_NOT_FOUND); /* its queues no longer exist */
	assert_int_equal(register_region(&words, words.len), DOCA_SUCCESS);
	assert_int_equal(register_region(&data, data.len), DOCA_SUCCESS);
	close_initiator(&initiators[0]);
	assert_true(open_initiator(&initiators[0]));
	append(&initiators[0], 0, "second", 6);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "firstsecond", 11);
}

static void a_client_that_leaves_while_its_memory_is_written(void **state)
{
	struct doca_urom_worker *first = worker, *second = second_client();
	struct end end = {0};

	(void)state;
	append(&initiators[0], 0, "x", 1);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	target_sleeps = true; /* operations from here on do not complete */
	for (int i = 0; i < 50; i++)
		append(&initiators[0], 0, "lost", 4);
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, first));
	worker = second;
	assert_true(await(&end.done));
	assert_int_equal(end.result, DOCA_ERROR_NOT_FOUND);
	assert_int_equal(init_when_free(CLIENT), DOCA_SUCCESS);
	target_sleeps = false;
	assert_int_equal(register_region(&words, words.len), DOCA_SUCCESS);
}

/* ---- a region that is removed while it is written ---- */

#define PIECES 8
#define PIECE_BYTES 100000u

struct removal {
	struct end end;
	bool landed; /* whether all bytes had arrived when the removal was answered */
};

static bool has_landed(void)
{
	for (size_t i = 0; i < PIECES * PIECE_BYTES; i++) {
		if (data.memory[i] != 'x')
			return false;
	}
	return true;
}

static void removed(doca_error_t result, union doca_data cookie, uint64_t number)
{
	struct removal *removal = (struct removal *)cookie.ptr;

	removal->landed = has_landed();
	finished(result, (union doca_data){.ptr = &removal->end}, number);
}

static void scatter_pieces(void)
{
	struct urom_rdmo_piece pieces[PIECES];
	uint8_t *bytes = (uint8_t *)malloc(PIECE_BYTES);

	memset(bytes, 'x', PIECE_BYTES);
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = (struct urom_rdmo_piece){(uintptr_t)data.memory + i * PIECE_BYTES, data.number, bytes, PIECE_BYTES};
	assert_int_equal(urom_rdmo_scatter(initiators[0].queue, 0, pieces, PIECES), DOCA_SUCCESS);
	free(bytes);
}

static void a_region_is_removed_when_all_has_landed(void **state)
{
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	struct removal removal = {.end = {0}};

	(void)state;
	scatter_pieces();
	while (*(volatile uint8_t *)data.memory != 'x' && sf_now_ns() < until)
		progress();
	target_sleeps = true; /* all pieces were begun together with the first */
	assert_int_equal(urom_rdmo_task_mr_deregister(worker, (union doca_data){.ptr = &removal}, data.number, removed),
			 DOCA_SUCCESS);
	assert_int_equal(destroy_queue(1), DOCA_ERROR_NOT_FOUND); /* a later command, which does not wait */
	assert_int_equal(deregister_region(data.number), DOCA_ERROR_NOT_FOUND);
	target_sleeps = false;
	assert_true(await(&removal.end.done));
	assert_int_equal(removal.end.result, DOCA_SUCCESS);
	assert_int_equal(removal.end.number, data.number);
	assert_true(removal.landed);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_int_equal(register_region(&data, data.len), DOCA_SUCCESS);
	append(&initiators[0], 0, "again", 5);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_memory_equal(data.memory, "again", 5);
}

static doca_error_t asked_again;

static void flushed_again(doca_error_t result, union doca_data cookie)
{
	const struct urom_rdmo_piece piece = {(uintptr_t)data.memory, data.number, "y", 1};

	asked_again = urom_rdmo_scatter(initiators[1].queue, 0, &piece, 1);
	if (asked_again == DOCA_ERROR_CONNECTION_ABORTED)
		asked_again = urom_rdmo_flush(initiators[1].queue, cookie, flushed);
	finished(result, cookie, 0);
}

static void a_queue_that_closes_takes_no_more(void **state)
{
	struct end end = {0};

	(void)state;
	assert_int_equal(flush(&initiators[1]), DOCA_SUCCESS);
	asked_again = DOCA_SUCCESS;
	assert_int_equal(urom_rdmo_flush(initiators[1].queue, (union doca_data){.ptr = &end}, flushed_again), DOCA_SUCCESS);
	close_initiator(&initiators[1]);
	assert_true(end.done);
	assert_int_equal(end.result, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(asked_again, DOCA_ERROR_CONNECTION_ABORTED);
}

static void a_worker_that_ends(void **state)
{
	struct end end = {0};
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	doca_error_t result = DOCA_SUCCESS;

	(void)state;
	append(&initiators[0], 0, "before", 6);
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	assert_true(urom_rig_stop_worker(&rig, worker));
	worker = NULL;
	/* Until its process is gone, it may answer that the queue is gone. */
	while ((result == DOCA_SUCCESS || result == DOCA_ERROR_NOT_FOUND) && sf_now_ns() < until) {
		end.done = 0;
		result = urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed);
		if (result != DOCA_SUCCESS)
			break;
		assert_true(await(&end.done));
		result = end.result;
	}
	assert_int_equal(result, DOCA_ERROR_CONNECTION_ABORTED);
}

/* It never answers the initiator's first message. */
static void a_worker_that_dies_before_it_answers(void **state)
{
	uint8_t bytes[1000] = {0};
	struct end end = {0};
	pid_t process = urom_rig_process_of(&rig, worker);

	(void)state;
	append(&initiators[0], 0, "before", 6); /* UCX 1.13 leaks memory if its peer exits while they connect */
	assert_int_equal(flush(&initiators[0]), DOCA_SUCCESS);
	process_stop(process);
	append(&initiators[0], 0, bytes, sizeof(bytes));
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed), DOCA_SUCCESS);
	kill(process, SIGKILL);
	assert_true(await(&end.done));
	assert_int_equal(end.result, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(urom_rdmo_flush(initiators[0].queue, (union doca_data){.ptr = &end}, flushed),
			 DOCA_ERROR_CONNECTION_ABORTED);
}

/* The argument: which tests, as a pattern. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		WITH_RIG(an_initiator_that_leaves),
		WITH_RIG(a_client_that_leaves_gives_its_id_back),
		WITH_RIG(a_client_that_leaves_while_its_memory_is_written),
		WITH_RIG(a_region_is_removed_when_all_has_landed),
		WITH_RIG(a_queue_that_closes_takes_no_more),
		WITH_RIG(a_worker_that_ends),
		WITH_RIG(a_worker_that_dies_before_it_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
