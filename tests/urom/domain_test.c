/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains: what their processes exchange, and what is rejected. directory_test.c covers what plugins see of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/urom_rig.h"

#define GRAPH "worker_graph"
#define ROUNDS_MAX 8
#define PART_MAX 65536

/* An exchange between processes that share memory. In each round, each process stores its part and increments the counter. */
struct board {
	uint32_t num;
	uint32_t arrived[ROUNDS_MAX];
	uint8_t parts[ROUNDS_MAX][2][PART_MAX];
};

struct participant {
	struct board *board;
	uint32_t index, round;
	uint8_t *out;
	size_t len;
	uint32_t num_freed;
	bool swapped; /* returns the other processes' parts in another order */
};

static doca_error_t allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	struct participant *self = (struct participant *)coll_info;

	if (msglen > PART_MAX || self->round == ROUNDS_MAX)
		return DOCA_ERROR_TOO_BIG;
	memcpy(self->board->parts[self->round][self->index], sbuf, msglen);
	__atomic_fetch_add(&self->board->arrived[self->round], 1, __ATOMIC_ACQ_REL);
	self->out = (uint8_t *)rbuf;
	self->len = msglen;
	*req = self;
	return DOCA_SUCCESS;
}

static doca_error_t req_test(void *req)
{
	struct participant *self = (struct participant *)req;

	if (__atomic_load_n(&self->board->arrived[self->round], __ATOMIC_ACQUIRE) < self->board->num)
		return DOCA_ERROR_IN_PROGRESS;
	for (uint32_t i = 0; i < self->board->num; i++)
		memcpy(self->out + (self->swapped ? self->board->num - 1 - i : i) * self->len, self->board->parts[self->round][i],
		       self->len);
	self->round++;
	return DOCA_SUCCESS;
}

static doca_error_t req_free(void *req)
{
	((struct participant *)req)->num_freed++;
	return DOCA_SUCCESS;
}

static struct board *make_board(uint32_t num)
{
	struct board *board =
		(struct board *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	board->num = num;
	return board;
}

static struct doca_urom_domain *make_domain(struct urom_rig *rig, struct participant *self, uint64_t *ids,
					    struct doca_urom_worker **workers, size_t num)
{
	struct doca_urom_domain_oob_coll oob = {allgather, req_test, req_free, self, self->board->num, self->index};
	struct doca_urom_domain *domain;

	if (doca_urom_domain_create(&domain) != DOCA_SUCCESS ||
	    doca_pe_connect_ctx(rig->pe, doca_urom_domain_as_ctx(domain)) != DOCA_SUCCESS ||
	    doca_urom_domain_set_oob(domain, &oob) != DOCA_SUCCESS ||
	    doca_urom_domain_set_workers(domain, ids, workers, num) != DOCA_SUCCESS)
		return NULL;
	return domain;
}

/* Starts the domain. Returns the state in which the start ends. */
static enum doca_ctx_states start_domain(struct urom_rig *rig, struct doca_urom_domain *domain)
{
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(domain);
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	if (doca_ctx_start(ctx) != DOCA_ERROR_IN_PROGRESS)
		return DOCA_CTX_STATE_IDLE;
	do {
		urom_rig_progress(rig->pe);
		(void)doca_ctx_get_state(ctx, &state);
	} while (state == DOCA_CTX_STATE_STARTING && sf_now_ns() < until);
	return state;
}

/* ---- one process ---- */

static struct urom_rig rig;
static struct doca_urom_worker *workers[2];
static struct participant self;

static int open_rig(void **state)
{
	(void)state;
	memset(&self, 0, sizeof(self));
	self.board = make_board(1);
	if (!urom_rig_open(&rig, NULL))
		return -1;
	for (int i = 0; i < 2; i++) {
		workers[i] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
		if (workers[i] == NULL || !urom_rig_start_worker(&rig, workers[i]))
			return -1;
	}
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		(void)urom_rig_stop_worker(&rig, workers[i]);
	urom_rig_close(&rig);
	munmap(self.board, sizeof(*self.board));
	return 0;
}

static void workers_of_one_process(void **state)
{
	uint64_t ids[] = {7, UINT64_MAX};
	uint8_t buffer[64], key[100];
	struct doca_urom_domain *domain = make_domain(&rig, &self, ids, workers, 2);

	(void)state;
	memset(key, 1, sizeof(key));
	assert_int_equal(doca_urom_domain_add_buffer(domain, buffer, 64, key, 10, key, 20), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_urom_domain_set_buffers_count(domain, 1), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_add_buffer(domain, buffer, 0, key, 10, key, 20), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_domain_add_buffer(domain, buffer, 64, key, 10, key, 20), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_add_buffer(domain, buffer, 64, key, 10, key, 20), DOCA_ERROR_FULL);
	assert_int_equal(start_domain(&rig, domain), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(self.num_freed, self.round);
	assert_int_equal(doca_urom_domain_set_buffers_count(domain, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(urom_rig_loopback(&rig, workers[0], 5), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
}

static void ids_are_there_once(void **state)
{
	uint64_t ids[] = {3, 3};
	struct doca_urom_domain *domain;

	(void)state;
	assert_int_equal(doca_urom_domain_create(&domain), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_workers(domain, ids, workers, 2), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_domain_set_workers(domain, ids, workers, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
}

static void an_exchange_is_whole(void **state)
{
	struct doca_urom_domain_oob_coll oob = {allgather, req_test, req_free, &self, 2, 2};
	struct doca_urom_domain *domain;

	(void)state;
	assert_int_equal(doca_urom_domain_create(&domain), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_ERROR_INVALID_VALUE);
	oob.oob_index = 1;
	oob.req_free = NULL;
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_ERROR_INVALID_VALUE);
	oob.req_free = req_free;
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(rig.pe, doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_BAD_STATE); /* no workers */
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
}

static void a_worker_may_stop_before_its_domain(void **state)
{
	uint64_t ids[] = {1, 2};
	struct doca_urom_domain *domain = make_domain(&rig, &self, ids, workers, 2);

	(void)state;
	assert_int_equal(start_domain(&rig, domain), DOCA_CTX_STATE_RUNNING);
	assert_true(urom_rig_stop_worker(&rig, workers[0]));
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
	workers[0] = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	assert_true(urom_rig_start_worker(&rig, workers[0]));
}

static void a_stop_in_the_middle(void **state)
{
	uint64_t ids[] = {1, 2};
	struct doca_urom_domain *domain;

	(void)state;
	self.board->num = 2; /* the second participant never arrives */
	domain = make_domain(&rig, &self, ids, workers, 2);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 100; i++)
		(void)doca_pe_progress(rig.pe);
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(self.num_freed, 1);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);
}

/* ---- two processes ---- */

/* Runs one of the two processes. Returns the state in which the start ended, or 100 if something failed earlier. */
static int run_process(struct board *board, uint32_t index, uint64_t id, bool swapped)
{
	struct urom_rig own = {.pe = NULL};
	struct participant participant = {.board = board, .index = index, .swapped = swapped};
	struct doca_urom_worker *worker;

	own.service = urom_rig_service(&own);
	if (own.service == NULL || doca_ctx_start(doca_urom_service_as_ctx(own.service)) != DOCA_SUCCESS)
		return 100;
	worker = urom_rig_worker(&own, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	if (worker == NULL || !urom_rig_start_worker(&own, worker))
		return 100;
	struct doca_urom_domain *domain = make_domain(&own, &participant, &id, &worker, 1);
	enum doca_ctx_states state = domain != NULL ? start_domain(&own, domain) : DOCA_CTX_STATE_IDLE;
	if (state == DOCA_CTX_STATE_RUNNING)
		(void)doca_ctx_stop(doca_urom_domain_as_ctx(domain));
	if (domain == NULL || doca_urom_domain_destroy(domain) != DOCA_SUCCESS || !urom_rig_stop_worker(&own, worker))
		return 100;
	urom_rig_close(&own);
	return (int)state;
}

static void run_two(uint64_t id0, uint64_t id1, bool swapped, int states[2])
{
	struct board *board = make_board(2);
	struct urom_rig host = {.pe = NULL};
	pid_t pids[2];

	assert_true(urom_rig_start_daemon(&host, NULL));
	fflush(NULL);
	for (uint32_t i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(run_process(board, i, i == 0 ? id0 : id1, swapped));
	}
	for (int i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		states[i] = WIFEXITED(status) ? WEXITSTATUS(status) : 200;
	}
	urom_rig_close(&host);
	munmap(board, sizeof(*board));
}

static void two_processes(void **state)
{
	int states[2];

	(void)state;
	run_two(1, 2, false, states);
	assert_int_equal(states[0], DOCA_CTX_STATE_RUNNING);
	assert_int_equal(states[1], DOCA_CTX_STATE_RUNNING);
}

static void the_same_id_in_two_processes(void **state)
{
	int states[2];

	(void)state;
	run_two(5, 5, false, states);
	assert_int_equal(states[0], DOCA_CTX_STATE_IDLE);
	assert_int_equal(states[1], DOCA_CTX_STATE_IDLE);
}

static void an_exchange_that_mixes_up_its_parts(void **state)
{
	int states[2];

	(void)state;
	run_two(1, 2, true, states);
	assert_int_equal(states[0], DOCA_CTX_STATE_IDLE);
	assert_int_equal(states[1], DOCA_CTX_STATE_IDLE);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_processes),
		cmocka_unit_test(the_same_id_in_two_processes),
		cmocka_unit_test(an_exchange_that_mixes_up_its_parts),
		WITH_RIG(workers_of_one_process),
		WITH_RIG(ids_are_there_once),
		WITH_RIG(an_exchange_is_whole),
		WITH_RIG(a_worker_may_stop_before_its_domain),
		WITH_RIG(a_stop_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
