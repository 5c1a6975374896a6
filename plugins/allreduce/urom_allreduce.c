/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_allreduce.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <doca_buf.h>
#include <doca_pe.h>

#include "allreduce_proto.h"

/* Each piece is reduced by itself, so the pieces of a vector follow each other through the workers. */
#define RING_MIN 32768 /* bytes of a piece: below, a ring's many messages cost more than they share out */
#define PIECE_ALIGN 64
#define HEADERS (sizeof(struct allreduce_command) + sizeof(struct urom_worker_notify)) /* more than what either way takes */

struct allreduce {
	TAILQ_ENTRY(allreduce) next;
	struct urom_allreduce_comm *comm;
	struct allreduce_command command; /* of the next piece */
	const uint8_t *send;
	uint8_t *receive;
	uint32_t outstanding; /* commands */
	doca_error_t result;
	urom_allreduce_finished finished;
	union doca_data cookie;
};

struct urom_allreduce_comm {
	struct doca_urom_worker *worker;
	uint32_t rank, num_ranks;
	uint32_t num_inflight, inflight_max;
	uint32_t share; /* commands that one allreduce may have under way: so none can keep another from its next piece */
	TAILQ_HEAD(, allreduce) inflight;
};

struct pending { /* in the task's 32 bytes */
	struct allreduce *allreduce;
	uint64_t offset;
	uint64_t len;
};

static uint64_t allreduce_id;

doca_error_t urom_allreduce_init(uint64_t plugin_id, uint64_t version)
{
	if (version != ALLREDUCE_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	allreduce_id = plugin_id;
	return DOCA_SUCCESS;
}

/* ---- the comm ---- */

doca_error_t urom_allreduce_comm_create(struct doca_urom_worker *worker, uint32_t rank, uint32_t num_ranks, uint32_t depth,
					struct urom_allreduce_comm **out)
{
	if (worker == NULL || out == NULL || rank >= num_ranks || depth == 0)
		return DOCA_ERROR_INVALID_VALUE;
	struct urom_allreduce_comm *comm = (struct urom_allreduce_comm *)calloc(1, sizeof(*comm));
	if (comm == NULL)
		return DOCA_ERROR_NO_MEMORY;
	comm->worker = worker;
	comm->rank = rank;
	comm->num_ranks = num_ranks;
	comm->inflight_max = depth < UROM_ALLREDUCE_INFLIGHT_MAX ? depth : UROM_ALLREDUCE_INFLIGHT_MAX;
	comm->share = depth / comm->inflight_max;
	TAILQ_INIT(&comm->inflight);
	*out = comm;
	return DOCA_SUCCESS;
}

doca_error_t urom_allreduce_comm_destroy(struct urom_allreduce_comm *comm)
{
	if (comm == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (!TAILQ_EMPTY(&comm->inflight))
		return DOCA_ERROR_IN_USE;
	free(comm);
	return DOCA_SUCCESS;
}

/* ---- commands ---- */

static void command_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

static doca_error_t take_task(struct urom_allreduce_comm *comm, struct doca_urom_worker_cmd_task **task, uint8_t **place, size_t *room)
{
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(comm->worker, allreduce_id, task);
	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(*task);
	(void)doca_buf_get_data(payload, (void **)place);
	(void)doca_buf_get_data_len(payload, room);
	return DOCA_SUCCESS;
}

static doca_error_t submit(struct allreduce *allreduce, struct doca_urom_worker_cmd_task *task, uint8_t *place, size_t len,
			   const struct pending *pending)
{
	(void)doca_buf_set_data(doca_urom_worker_cmd_task_get_payload(task), place, len);
	memcpy(doca_urom_worker_cmd_task_get_user_data(task), pending, sizeof(*pending));
	doca_urom_worker_cmd_task_set_cb(task, command_done);
	doca_error_t result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	else
		allreduce->outstanding++;
	return result;
}

static doca_error_t submit_piece(struct allreduce *allreduce)
{
	struct allreduce_command *command = &allreduce->command;
	struct doca_urom_worker_cmd_task *task;
	uint64_t left = command->shape.total - command->offset;
	uint8_t *place = NULL;
	size_t room = 0;
	doca_error_t result = take_task(allreduce->comm, &task, &place, &room);
	if (result != DOCA_SUCCESS)
		return result;
	if (command->offset == 0) { /* the first: only a task tells the message size */
		command->shape.piece_max = room > HEADERS + PIECE_ALIGN ? (uint32_t)((room - HEADERS) & ~(size_t)(PIECE_ALIGN - 1)) : 0;
		if (command->shape.algorithm == ALLREDUCE_AUTO) {
			uint64_t largest = left < command->shape.piece_max ? left : command->shape.piece_max;
			bool ring = largest >= RING_MIN && command->shape.num_ranks > 2;
			command->shape.algorithm = ring ? ALLREDUCE_RING : ALLREDUCE_TREE;
		}
	}
	if (command->shape.piece_max == 0) {
		(void)doca_urom_worker_cmd_task_release(task);
		return DOCA_ERROR_TOO_BIG;
	}
	const struct pending pending = {allreduce, command->offset, left < command->shape.piece_max ? left : command->shape.piece_max};
	memcpy(place, command, sizeof(*command));
	memcpy(place + sizeof(*command), allreduce->send + command->offset, pending.len);
	result = submit(allreduce, task, place, sizeof(*command) + pending.len, &pending);
	if (result == DOCA_SUCCESS)
		command->offset += pending.len;
	return result;
}

/* What is under way elsewhere waits for pieces of this rank that will not come: each worker is told so by its own host. */
static void cancel(struct allreduce *allreduce)
{
	struct allreduce_command command = {.kind = ALLREDUCE_CANCEL, .rank = allreduce->comm->rank, .tag = allreduce->command.tag,
					    .status = (uint64_t)allreduce->result};
	const struct pending pending = {allreduce, 0, 0};
	struct doca_urom_worker_cmd_task *task;
	uint8_t *place;
	size_t room;
	if (take_task(allreduce->comm, &task, &place, &room) != DOCA_SUCCESS)
		return; /* the worker is gone, then */
	memcpy(place, &command, sizeof(command));
	(void)submit(allreduce, task, place, sizeof(command), &pending);
}

static void fail(struct allreduce *allreduce, doca_error_t result)
{
	if (allreduce->result != DOCA_SUCCESS)
		return;
	allreduce->result = result;
	if (allreduce->outstanding != 0)
		cancel(allreduce);
}

static bool may_submit(const struct allreduce *allreduce)
{
	return allreduce->result == DOCA_SUCCESS && allreduce->outstanding < allreduce->comm->share &&
	       allreduce->command.offset < allreduce->command.shape.total;
}

/* ---- the end of a command ---- */

static void take_result(struct allreduce *allreduce, struct doca_urom_worker_cmd_task *task, const struct pending *pending)
{
	doca_error_t status = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	size_t len = 0;
	void *data;
	if (status == DOCA_SUCCESS && pending->len != 0) {
		if (response != NULL && doca_buf_get_data(response, &data) == DOCA_SUCCESS &&
		    doca_buf_get_data_len(response, &len) == DOCA_SUCCESS && len == pending->len)
			memcpy(allreduce->receive + pending->offset, data, len);
		else
			status = DOCA_ERROR_UNEXPECTED;
	}
	(void)doca_urom_worker_cmd_task_release(task);
	if (status != DOCA_SUCCESS)
		fail(allreduce, status);
}

static void command_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	doca_error_t result = DOCA_SUCCESS;
	struct pending pending;
	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	struct allreduce *allreduce = pending.allreduce;
	allreduce->outstanding--;
	take_result(allreduce, task, &pending);
	while (result == DOCA_SUCCESS && may_submit(allreduce))
		result = submit_piece(allreduce);
	/* The program's own tasks may have taken the last: then the next end of a command tries again. */
	if (result != DOCA_SUCCESS && !(result == DOCA_ERROR_NO_MEMORY && allreduce->outstanding != 0))
		fail(allreduce, result);
	if (allreduce->outstanding != 0)
		return;
	TAILQ_REMOVE(&allreduce->comm->inflight, allreduce, next);
	allreduce->comm->num_inflight--;
	const struct allreduce ended = *allreduce;
	free(allreduce);
	ended.finished(ended.result, ended.cookie);
}

/* ---- the beginning ---- */

static bool check(const struct urom_allreduce_comm *comm, const struct urom_allreduce_args *args, urom_allreduce_finished finished)
{
	return comm != NULL && args != NULL && finished != NULL && args->send != NULL && args->receive != NULL && args->count != 0 &&
	       args->count <= SIZE_MAX / sizeof(uint64_t) && (unsigned)args->type < ALLREDUCE_TYPES && (unsigned)args->op < ALLREDUCE_OPS &&
	       (unsigned)args->algorithm <= UROM_ALLREDUCE_RING;
}

static bool is_under_way(const struct urom_allreduce_comm *comm, uint64_t tag)
{
	const struct allreduce *other;
	TAILQ_FOREACH(other, &comm->inflight, next) {
		if (other->command.tag == tag)
			return true;
	}
	return false;
}

doca_error_t urom_allreduce_task(struct urom_allreduce_comm *comm, union doca_data cookie, const struct urom_allreduce_args *args,
				 urom_allreduce_finished finished)
{
	static const uint8_t element[] = {sizeof(float), sizeof(double), sizeof(int32_t), sizeof(int64_t)};
	static const uint8_t algorithm[] = {ALLREDUCE_AUTO, ALLREDUCE_TREE, ALLREDUCE_RING};
	if (!check(comm, args, finished) || is_under_way(comm, args->tag))
		return DOCA_ERROR_INVALID_VALUE;
	if (comm->num_inflight == comm->inflight_max)
		return DOCA_ERROR_AGAIN;
	struct allreduce *allreduce = (struct allreduce *)calloc(1, sizeof(*allreduce));
	if (allreduce == NULL)
		return DOCA_ERROR_NO_MEMORY;
	allreduce->comm = comm;
	allreduce->send = (const uint8_t *)args->send;
	allreduce->receive = (uint8_t *)args->receive;
	allreduce->finished = finished;
	allreduce->cookie = cookie;
	allreduce->command = (struct allreduce_command){
		.kind = ALLREDUCE_PIECE,
		.rank = comm->rank,
		.tag = args->tag,
		.shape = {comm->num_ranks, (uint8_t)args->type, (uint8_t)args->op, algorithm[args->algorithm],
			  .total = args->count * element[args->type]},
	};
	doca_error_t result = submit_piece(allreduce);
	if (result != DOCA_SUCCESS) {
		free(allreduce);
		return result;
	}
	TAILQ_INSERT_TAIL(&comm->inflight, allreduce, next);
	comm->num_inflight++;
	while (result == DOCA_SUCCESS && may_submit(allreduce))
		result = submit_piece(allreduce);
	return DOCA_SUCCESS; /* the rest follows as commands end */
}
