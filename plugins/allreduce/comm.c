/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_log.h>
#include <doca_pe.h>

#include "base/clock.h"
#include "urom_allreduce_private.h"

DOCA_LOG_REGISTER(UROM_ALLREDUCE);

#define LEAVE_NS UINT64_C(2000000000) /* for a worker to leave a guard: longer than its work there takes */
#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* ---- boards: a late worker may still write to a guard of a failed allreduce, so boards are reused but never freed ---- */

struct free_board {
	struct allreduce_board board; /* first */
	SLIST_ENTRY(free_board) next;
};

static pthread_mutex_t boards_lock = PTHREAD_MUTEX_INITIALIZER;
static SLIST_HEAD(, free_board) boards = SLIST_HEAD_INITIALIZER(boards);

static struct allreduce_board *board_alloc(void)
{
	pthread_mutex_lock(&boards_lock);
	struct free_board *taken = SLIST_FIRST(&boards);
	if (taken != NULL)
		SLIST_REMOVE_HEAD(&boards, next);
	pthread_mutex_unlock(&boards_lock);
	if (taken == NULL)
		taken = (struct free_board *)calloc(1, sizeof(*taken));
	return taken != NULL ? &taken->board : NULL;
}

static void board_free(struct allreduce_board *board)
{
	struct free_board *given = (struct free_board *)(void *)board;

	if (board == NULL)
		return;
	pthread_mutex_lock(&boards_lock);
	SLIST_INSERT_HEAD(&boards, given, next);
	pthread_mutex_unlock(&boards_lock);
}

/* ---- guards ---- */

struct allreduce_guard *guard_open(struct urom_allreduce_comm *comm)
{
	struct allreduce_guard *guard = comm->board->guards;

	while (__atomic_load_n(&guard->serial, __ATOMIC_RELAXED) != 0)
		guard++;
	__atomic_store_n(&guard->serial, ++comm->serial != 0 ? comm->serial : ++comm->serial, __ATOMIC_SEQ_CST);
	return guard;
}

void guard_close(struct allreduce_guard *guard)
{
	uint64_t until = 0;

	__atomic_store_n(&guard->serial, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i <= ALLREDUCE_DIRECT_RANKS_MAX; i++) {
		for (uint32_t pid; (pid = __atomic_load_n(&guard->busy[i], __ATOMIC_SEQ_CST)) != 0;) {
			if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
				__atomic_store_n(&guard->busy[i], 0, __ATOMIC_SEQ_CST);
				break;
			}
			until = until != 0 ? until : sf_now_ns() + LEAVE_NS;
			if (sf_now_ns() > until) {
				DOCA_LOG_ERR(
					"allreduce: worker process %u does not release a vector of this process: is it stopped?",
					pid);
				break;
			}
			sched_yield();
		}
	}
}

/* ---- attach ---- */

static doca_error_t try_to_ask(struct urom_allreduce_comm *comm, enum allreduce_command_kind kind);
static void attach_ask(struct urom_allreduce_comm *comm, enum allreduce_command_kind kind);

static void comm_free(struct urom_allreduce_comm *comm)
{
	board_free(comm->board);
	free(comm);
}

static void way_decide(struct urom_allreduce_comm *comm, doca_error_t result)
{
	comm->way = result == DOCA_SUCCESS ? UROM_ALLREDUCE_BY_MEMORY : UROM_ALLREDUCE_BY_COMMANDS;
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("allreduce, rank %u: the worker accesses this process's memory", comm->rank);
	else
		DOCA_LOG_INFO(
			"allreduce, rank %u: commands carry the vectors: the worker cannot access this process's memory (%s)",
			comm->rank, doca_error_get_name(result));
	begin_waiting(comm);
}

/* Yama allows access only to a process that PR_SET_PTRACER names, and to its children. A new name replaces an older one, so it is
 * set only if access is not allowed yet. Naming the daemon allows all its workers. */
static bool worker_admit(struct urom_allreduce_comm *comm)
{
	int scope = 0;
	FILE *file = fopen(YAMA, "r");

	if (file != NULL) {
		if (fscanf(file, "%d", &scope) != 1)
			scope = 0;
		fclose(file);
	}
	if (scope != 1 || comm->admitted)
		return false;
	comm->admitted = true;
	uint64_t tracer = comm->attached.daemon > 1 ? comm->attached.daemon : comm->attached.worker;
	return prctl(PR_SET_PTRACER, (unsigned long)tracer, 0, 0, 0) == 0;
}

static void access_proven(struct urom_allreduce_comm *comm, doca_error_t result)
{
	if (result == DOCA_ERROR_NOT_PERMITTED && worker_admit(comm))
		attach_ask(comm, ALLREDUCE_PROVE);
	else
		way_decide(comm, result);
}

static void attach_done(struct urom_allreduce_comm *comm, doca_error_t result, const void *answer, size_t len)
{
	if (result == DOCA_SUCCESS)
		result = allreduce_attached_parse(answer, len, &comm->attached);
	if (result != DOCA_SUCCESS) {
		way_decide(comm, result);
		return;
	}
	memcpy(comm->board->numbers[ALLREDUCE_DIRECT_RANKS_MAX], comm->attached.number, ALLREDUCE_NUMBER_SIZE);
	comm->proving = true;
	attach_ask(comm, ALLREDUCE_PROVE);
}

/* Completes a comm that was destroyed meanwhile. */
static void comm_detach(struct urom_allreduce_comm *comm, doca_error_t result, const void *answer, size_t len)
{
	bool holds = comm->attached.attachment != 0 ||
		     (result == DOCA_SUCCESS && allreduce_attached_parse(answer, len, &comm->attached) == DOCA_SUCCESS);
	bool first = !comm->detaching;

	comm->detaching = true;
	if (!first || !holds || try_to_ask(comm, ALLREDUCE_DETACH) != DOCA_SUCCESS)
		comm_free(comm);
}

static void attach_answered(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	doca_error_t result = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct allreduce_attached copy;
	struct pending pending;
	size_t len = 0;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	struct urom_allreduce_comm *comm = (struct urom_allreduce_comm *)pending.owner;
	const void *answer = response_of(task, &len);
	if (len == sizeof(copy))
		answer = memcpy(&copy, answer, sizeof(copy));
	(void)doca_urom_worker_cmd_task_release(task);
	if (comm->destroyed)
		comm_detach(comm, result, answer, len);
	else if (comm->proving)
		access_proven(comm, result);
	else
		attach_done(comm, result, answer, len);
}

static doca_error_t try_to_ask(struct urom_allreduce_comm *comm, enum allreduce_command_kind kind)
{
	const struct allreduce_command command = {.kind = kind, .rank = comm->rank, .tag = comm->attached.attachment};
	const struct allreduce_attach attach = {(uint64_t)getpid(), (uint64_t)(uintptr_t)comm->board};
	const struct pending pending = {.owner = comm};
	struct doca_urom_worker_cmd_task *task;
	size_t room, len = kind == ALLREDUCE_ATTACH ? sizeof(attach) : 0;
	uint8_t *place;
	doca_error_t result = take_task(comm, &task, &place, &room);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(place + sizeof(command), &attach, len);
	return submit(task, place, &command, len, &pending, attach_answered);
}

static void attach_ask(struct urom_allreduce_comm *comm, enum allreduce_command_kind kind)
{
	doca_error_t result = try_to_ask(comm, kind);

	if (result != DOCA_SUCCESS)
		way_decide(comm, result);
}

/* ---- public ---- */

static doca_error_t check_worker(struct doca_urom_worker *worker)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_get_state(doca_urom_worker_as_ctx(worker), &state);
	if (state == DOCA_CTX_STATE_RUNNING)
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("allreduce: the worker context is not RUNNING: start it and call doca_pe_progress() before creating a comm");
	return DOCA_ERROR_BAD_STATE;
}

/* Finds out whether the worker can access this process's memory, or asks the worker. */
static doca_error_t find_way(struct urom_allreduce_comm *comm)
{
	if (comm->num_ranks == 1 || !allreduce_tls_allows_memory(getenv("UCX_TLS"))) {
		way_decide(comm, DOCA_ERROR_NOT_SUPPORTED);
		return DOCA_SUCCESS;
	}
	doca_error_t result = try_to_ask(comm, ALLREDUCE_ATTACH);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("allreduce, rank %u: the worker accepts no command (%s): are all its tasks in flight?", comm->rank,
			     doca_error_get_name(result));
	return result;
}

doca_error_t urom_allreduce_comm_create(struct doca_urom_worker *worker, uint32_t rank, uint32_t num_ranks, uint32_t depth,
					struct urom_allreduce_comm **out)
{
	if (worker == NULL || out == NULL || rank >= num_ranks || num_ranks > ALLREDUCE_RANKS_MAX || depth == 0)
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = check_worker(worker);
	if (result != DOCA_SUCCESS)
		return result;
	struct urom_allreduce_comm *comm = (struct urom_allreduce_comm *)calloc(1, sizeof(*comm));
	if (comm == NULL)
		return DOCA_ERROR_NO_MEMORY;
	comm->worker = worker;
	comm->rank = rank;
	comm->num_ranks = num_ranks;
	comm->inflight_max = depth < UROM_ALLREDUCE_INFLIGHT_MAX ? depth : UROM_ALLREDUCE_INFLIGHT_MAX;
	comm->share = depth / comm->inflight_max;
	TAILQ_INIT(&comm->inflight);
	comm->board = board_alloc();
	if (comm->board == NULL || getrandom(&comm->serial, sizeof(comm->serial), 0) != sizeof(comm->serial)) {
		comm_free(comm);
		return DOCA_ERROR_NO_MEMORY;
	}
	result = find_way(comm);
	if (result != DOCA_SUCCESS)
		comm_free(comm);
	else
		*out = comm;
	return result;
}

doca_error_t urom_allreduce_comm_destroy(struct urom_allreduce_comm *comm)
{
	if (comm == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!TAILQ_EMPTY(&comm->inflight))
		return DOCA_ERROR_IN_USE;
	comm->destroyed = true;
	if (comm->way != UROM_ALLREDUCE_BY_UNKNOWN) /* otherwise when the answer arrives */
		comm_detach(comm, DOCA_ERROR_AGAIN, NULL, 0);
	return DOCA_SUCCESS;
}

enum urom_allreduce_way urom_allreduce_comm_get_way(const struct urom_allreduce_comm *comm)
{
	return comm != NULL ? comm->way : UROM_ALLREDUCE_BY_UNKNOWN;
}
