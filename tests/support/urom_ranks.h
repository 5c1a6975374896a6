/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are the ranks of a UROM domain: one worker each, and shared memory through which they gather and wait for
 * each other. */
#ifndef TEST_UROM_RANKS_H
#define TEST_UROM_RANKS_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/urom_rig.h"
#include "support/wait.h"

#define RANKS_MAX 8
#define RANKS_ROUNDS_MAX 8
#define RANKS_PART_MAX 65536

struct ranks_board {
	uint32_t num;
	uint32_t arrived[RANKS_ROUNDS_MAX];
	uint32_t at_barrier[64];
	uint64_t worker_ids[RANKS_MAX];
	uint8_t parts[RANKS_ROUNDS_MAX][RANKS_MAX][RANKS_PART_MAX];
	uint8_t shared[RANKS_MAX][RANKS_PART_MAX]; /* used by the tests */
};

struct rank {
	struct ranks_board *board;
	uint32_t index, num;
	struct urom_rig rig;
	struct doca_urom_worker *worker;
	struct doca_urom_domain *domain;
	uint64_t plugin;
	uint32_t round, barriers;
	uint8_t *out;
	size_t len;
};

static inline doca_error_t rank_allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	struct rank *rank = (struct rank *)coll_info;

	if (msglen > RANKS_PART_MAX || rank->round == RANKS_ROUNDS_MAX)
		return DOCA_ERROR_TOO_BIG;
	memcpy(rank->board->parts[rank->round][rank->index], sbuf, msglen);
	__atomic_fetch_add(&rank->board->arrived[rank->round], 1, __ATOMIC_ACQ_REL);
	rank->out = (uint8_t *)rbuf;
	rank->len = msglen;
	*req = rank;
	return DOCA_SUCCESS;
}

static inline doca_error_t rank_req_test(void *req)
{
	struct rank *rank = (struct rank *)req;

	if (__atomic_load_n(&rank->board->arrived[rank->round], __ATOMIC_ACQUIRE) < rank->num)
		return DOCA_ERROR_IN_PROGRESS;
	for (uint32_t i = 0; i < rank->num; i++)
		memcpy(rank->out + i * rank->len, rank->board->parts[rank->round][i], rank->len);
	rank->round++;
	return DOCA_SUCCESS;
}

static inline doca_error_t rank_req_free(void *req)
{
	(void)req;
	return DOCA_SUCCESS;
}

/* Waits for all ranks, and for num_more processes that are not ranks. */
static inline bool rank_barrier(struct rank *rank, uint32_t num_more)
{
	uint32_t *arrived = &rank->board->at_barrier[rank->barriers++];
	uint64_t until = sf_now_ns() + UROM_RIG_WAIT_NS;
	uint32_t num_idle = 0;

	__atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < rank->num + num_more) {
		bool moved = doca_pe_progress(rank->rig.pe) != 0;

		if (!moved && sf_now_ns() > until)
			return false;
		turn_end(&num_idle, moved);
	}
	return true;
}

static inline bool rank_open(struct rank *rank, const char *plugin, size_t message_size)
{
	struct doca_urom_domain_oob_coll oob = {rank_allgather, rank_req_test, rank_req_free, rank, rank->num, rank->index};
	uint64_t id = rank->index;

	rank->rig.service = urom_rig_service(&rank->rig);
	if (rank->rig.service == NULL ||
	    (message_size != 0 && doca_urom_service_set_max_comm_msg_size(rank->rig.service, message_size) != DOCA_SUCCESS) ||
	    doca_ctx_start(doca_urom_service_as_ctx(rank->rig.service)) != DOCA_SUCCESS)
		return false;
	rank->plugin = urom_rig_plugin(&rank->rig, plugin);
	rank->worker = urom_rig_worker(&rank->rig, DOCA_UROM_WORKER_ID_ANY, plugin);
	if (rank->worker == NULL || !urom_rig_start_worker(&rank->rig, rank->worker))
		return false;
	(void)doca_urom_worker_get_id(rank->worker, &rank->board->worker_ids[rank->index]);
	return doca_urom_domain_create(&rank->domain) == DOCA_SUCCESS &&
	       doca_pe_connect_ctx(rank->rig.pe, doca_urom_domain_as_ctx(rank->domain)) == DOCA_SUCCESS &&
	       doca_urom_domain_set_oob(rank->domain, &oob) == DOCA_SUCCESS &&
	       doca_urom_domain_set_workers(rank->domain, &id, &rank->worker, 1) == DOCA_SUCCESS &&
	       doca_ctx_start(doca_urom_domain_as_ctx(rank->domain)) == DOCA_ERROR_IN_PROGRESS &&
	       urom_rig_await(&rank->rig, doca_urom_domain_as_ctx(rank->domain), DOCA_CTX_STATE_RUNNING);
}

static inline bool rank_close(struct rank *rank)
{
	(void)doca_ctx_stop(doca_urom_domain_as_ctx(rank->domain));
	bool good = doca_urom_domain_destroy(rank->domain) == DOCA_SUCCESS && urom_rig_stop_worker(&rank->rig, rank->worker);
	urom_rig_close(&rank->rig);
	return good;
}

/* How the ranks of a test run: each is a process that returns 0 on success. parent may be NULL. */
struct ranks_run {
	int (*process)(struct rank *rank, void *arg);
	void (*parent)(struct urom_rig *host, struct ranks_board *board, void *arg);
	void *arg;
	const char *plugin;
	size_t message_size; /* 0: the default */
	const char *const *daemon_args;
};

static inline int rank_process(const struct ranks_run *run, struct ranks_board *board, uint32_t index)
{
	struct rank rank = {.board = board, .index = index, .num = board->num};

	if (!rank_open(&rank, run->plugin, run->message_size))
		return 251;
	int status = run->process(&rank, run->arg);
	if (!rank_close(&rank) && status == 0)
		status = 252;
	return status;
}

/* Returns 0, or the first status of a rank that is not 0. */
static inline int ranks_run(uint32_t num, const struct ranks_run *run)
{
	struct urom_rig host = {.pe = NULL};
	pid_t pids[RANKS_MAX];
	int first = 0;
	struct ranks_board *board =
		(struct ranks_board *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	board->num = num;
	if (!urom_rig_start_daemon(&host, run->daemon_args))
		return 253;
	fflush(NULL);
	for (uint32_t i = 0; i < num; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(rank_process(run, board, i));
	}
	if (run->parent != NULL)
		run->parent(&host, board, run->arg);
	for (uint32_t i = 0; i < num; i++) {
		int status;

		(void)waitpid(pids[i], &status, 0);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 254;
		if (status != 0)
			fprintf(stderr, "rank %u of %u: %d\n", i, num, status);
		first = first == 0 ? status : first;
	}
	urom_rig_close(&host);
	munmap(board, sizeof(*board));
	return first;
}

#endif
