/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_pe.h>

#include "urom_allreduce_private.h"

/* Workers reduce each piece independently, so the pieces of a vector are pipelined. */
#define HEADERS (sizeof(struct allreduce_command) + sizeof(struct urom_worker_notify)) /* upper bound for both directions */

static uint64_t allreduce_id;

doca_error_t urom_allreduce_init(uint64_t plugin_id, uint64_t version)
{
	if (version != ALLREDUCE_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	allreduce_id = plugin_id;
	return DOCA_SUCCESS;
}

/* ---- commands ---- */

doca_error_t take_task(struct urom_allreduce_comm *comm, struct doca_urom_worker_cmd_task **task, uint8_t **place, size_t *room)
{
	doca_error_t result = doca_urom_worker_cmd_task_allocate_init(comm->worker, allreduce_id, task);

	if (result != DOCA_SUCCESS)
		return result;
	struct doca_buf *payload = doca_urom_worker_cmd_task_get_payload(*task);
	(void)doca_buf_get_data(payload, (void **)place);
	(void)doca_buf_get_data_len(payload, room);
	return DOCA_SUCCESS;
}

doca_error_t submit(struct doca_urom_worker_cmd_task *task, uint8_t *place, const struct allreduce_command *command, size_t len,
		    const struct pending *pending, command_done done)
{
	memcpy(place, command, sizeof(*command));
	(void)doca_buf_set_data(doca_urom_worker_cmd_task_get_payload(task), place, sizeof(*command) + len);
	memcpy(doca_urom_worker_cmd_task_get_user_data(task), pending, sizeof(*pending));
	doca_urom_worker_cmd_task_set_cb(task, done);
	doca_error_t result = doca_task_submit(doca_urom_worker_cmd_task_as_task(task));
	if (result != DOCA_SUCCESS)
		(void)doca_urom_worker_cmd_task_release(task);
	return result;
}

const void *response_of(struct doca_urom_worker_cmd_task *task, size_t *len)
{
	struct doca_buf *response = doca_urom_worker_cmd_task_get_response(task);
	void *data;

	*len = 0;
	if (response == NULL || doca_buf_get_data(response, &data) != DOCA_SUCCESS ||
	    doca_buf_get_data_len(response, len) != DOCA_SUCCESS)
		return NULL;
	return data;
}

static void piece_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data);
static void vector_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data);

/* Sets the length of pieces from the message size, which only a task reports. */
static doca_error_t size_pieces(struct allreduce_shape *shape, size_t room)
{
	size_t most = room > HEADERS ? (room - HEADERS) & ~(size_t)(ALLREDUCE_PIECE_MIN - 1) : 0;

	shape->piece_max = most < ALLREDUCE_PIECE_MAX ? (uint32_t)most : ALLREDUCE_PIECE_MAX;
	return most != 0 ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG;
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
	result = size_pieces(&command->shape, room);
	if (result != DOCA_SUCCESS) {
		(void)doca_urom_worker_cmd_task_release(task);
		return result;
	}
	if (command->shape.algorithm == ALLREDUCE_AUTO)
		command->shape.algorithm = allreduce_piece_algorithm(&command->shape);
	const struct pending pending = {allreduce, command->offset,
					left < command->shape.piece_max ? left : command->shape.piece_max};
	memcpy(place + sizeof(*command), allreduce->send + command->offset, pending.len);
	result = submit(task, place, command, pending.len, &pending, piece_done);
	if (result != DOCA_SUCCESS)
		return result;
	allreduce->outstanding++;
	command->offset += pending.len;
	return DOCA_SUCCESS;
}

static doca_error_t submit_vector(struct allreduce *allreduce)
{
	struct allreduce_command *command = &allreduce->command;
	struct urom_allreduce_comm *comm = allreduce->comm;
	struct allreduce_vector vector = {.attachment = 0};
	const struct pending pending = {.owner = allreduce};
	struct doca_urom_worker_cmd_task *task;
	uint8_t *place = NULL;
	size_t room = 0;
	doca_error_t result = take_task(comm, &task, &place, &room);

	if (result != DOCA_SUCCESS)
		return result;
	result = size_pieces(&command->shape, room);
	if (result != DOCA_SUCCESS || room < sizeof(*command) + sizeof(vector)) {
		(void)doca_urom_worker_cmd_task_release(task);
		return DOCA_ERROR_TOO_BIG;
	}
	if (comm->way == UROM_ALLREDUCE_BY_MEMORY) {
		allreduce->guard = guard_open(comm);
		vector.attachment = comm->attached.attachment;
		vector.place =
			(struct allreduce_place){(uint64_t)(uintptr_t)allreduce->send, (uint64_t)(uintptr_t)allreduce->receive,
						 (uint64_t)(uintptr_t)allreduce->guard, allreduce->guard->serial};
	}
	memcpy(place + sizeof(*command), &vector, sizeof(vector));
	result = submit(task, place, command, sizeof(vector), &pending, vector_done);
	if (result == DOCA_SUCCESS)
		allreduce->outstanding++;
	return result;
}

/* The other ranks would wait for pieces of this rank that will not come, so its worker is asked to cancel. */
static void allreduce_cancel(struct allreduce *allreduce)
{
	struct allreduce_command command = {.kind = ALLREDUCE_CANCEL,
					    .rank = allreduce->comm->rank,
					    .tag = allreduce->command.tag,
					    .shape = {.num_ranks = allreduce->comm->num_ranks},
					    .status = (uint64_t)allreduce->result};
	const struct pending pending = {.owner = allreduce};
	struct doca_urom_worker_cmd_task *task;
	uint8_t *place;
	size_t room;

	if (take_task(allreduce->comm, &task, &place, &room) != DOCA_SUCCESS)
		return; /* then the worker has ended */
	if (submit(task, place, &command, 0, &pending, piece_done) == DOCA_SUCCESS)
		allreduce->outstanding++;
}

static void allreduce_abort(struct allreduce *allreduce, doca_error_t result)
{
	if (allreduce->result != DOCA_SUCCESS)
		return;
	allreduce->result = result;
	if (allreduce->outstanding != 0)
		allreduce_cancel(allreduce);
}

static bool may_submit(const struct allreduce *allreduce)
{
	return allreduce->command.kind == ALLREDUCE_PIECE && allreduce->result == DOCA_SUCCESS &&
	       allreduce->outstanding < allreduce->comm->share && allreduce->command.offset < allreduce->command.shape.total;
}

/* ---- completion of a command ---- */

static void end_if_over(struct allreduce *allreduce)
{
	if (allreduce->outstanding != 0)
		return;
	if (allreduce->guard != NULL)
		guard_close(allreduce->guard);
	TAILQ_REMOVE(&allreduce->comm->inflight, allreduce, next);
	assert(allreduce->comm->num_inflight > 0);
	allreduce->comm->num_inflight--;
	const struct allreduce ended = *allreduce;
	free(allreduce);
	ended.finished(ended.result, ended.cookie);
}

static void submit_more(struct allreduce *allreduce)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && may_submit(allreduce))
		result = submit_piece(allreduce);
	/* The program's own tasks may use all tasks: then the next completion tries again. */
	if (result != DOCA_SUCCESS && !(result == DOCA_ERROR_NO_MEMORY && allreduce->outstanding != 0))
		allreduce_abort(allreduce, result);
}

static void take_result(struct allreduce *allreduce, struct doca_urom_worker_cmd_task *task, const struct pending *pending)
{
	doca_error_t status = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	size_t len;
	const void *data = response_of(task, &len);

	if (status == DOCA_SUCCESS && pending->len != 0) {
		if (data != NULL && len == pending->len)
			memcpy(allreduce->receive + pending->offset, data, len);
		else
			status = DOCA_ERROR_UNEXPECTED;
	}
	(void)doca_urom_worker_cmd_task_release(task);
	if (status != DOCA_SUCCESS)
		allreduce_abort(allreduce, status);
}

static void piece_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	struct pending pending;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	struct allreduce *allreduce = (struct allreduce *)pending.owner;
	allreduce->outstanding--;
	take_result(allreduce, task, &pending);
	submit_more(allreduce);
	end_if_over(allreduce);
}

static void vector_done(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	doca_error_t status = doca_task_get_status(doca_urom_worker_cmd_task_as_task(task));
	struct allreduce_done done = {.as_pieces = 0};
	struct pending pending;
	size_t len;

	(void)task_user_data;
	(void)ctx_user_data;
	memcpy(&pending, doca_urom_worker_cmd_task_get_user_data(task), sizeof(pending));
	struct allreduce *allreduce = (struct allreduce *)pending.owner;
	const void *data = response_of(task, &len);
	allreduce->outstanding--;
	if (status == DOCA_SUCCESS)
		status = allreduce_done_parse(data, len, &done);
	(void)doca_urom_worker_cmd_task_release(task);
	if (status != DOCA_SUCCESS) {
		allreduce_abort(allreduce, status);
	} else if (done.as_pieces != 0) {
		allreduce->command.kind = ALLREDUCE_PIECE;
		allreduce->command.shape.algorithm = (uint8_t)done.algorithm;
		submit_more(allreduce);
	}
	end_if_over(allreduce);
}

/* ---- start ---- */

static bool args_check(const struct urom_allreduce_comm *comm, const struct urom_allreduce_args *args,
		       urom_allreduce_finished finished)
{
	return comm != NULL && args != NULL && finished != NULL && args->send != NULL && args->receive != NULL &&
	       args->count != 0 && args->count <= (SIZE_MAX >> 17) / sizeof(uint64_t) && (unsigned)args->type < ALLREDUCE_TYPES &&
	       (unsigned)args->op < ALLREDUCE_OPS && (unsigned)args->algorithm <= UROM_ALLREDUCE_DIRECT;
}

static bool is_under_way(const struct urom_allreduce_comm *comm, uint64_t tag)
{
	const struct allreduce *other;

	TAILQ_FOREACH (other, &comm->inflight, next) {
		if (other->command.tag == tag)
			return true;
	}
	return false;
}

/* Returns whether the workers decide how to reduce the vector. All ranks must return the same. */
static bool is_whole(const struct allreduce *allreduce)
{
	const struct allreduce_shape *shape = &allreduce->command.shape;
	bool few = shape->num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX || allreduce->comm->way == UROM_ALLREDUCE_BY_MEMORY;

	return shape->num_ranks > 1 && few && (shape->total >= ALLREDUCE_IN_PLACE_MIN || shape->algorithm == ALLREDUCE_DIRECT);
}

static doca_error_t allreduce_begin(struct allreduce *allreduce)
{
	bool whole = is_whole(allreduce);

	allreduce->command.kind = whole ? ALLREDUCE_VECTOR : ALLREDUCE_PIECE;
	doca_error_t result = whole ? submit_vector(allreduce) : submit_piece(allreduce);
	while (result == DOCA_SUCCESS && may_submit(allreduce))
		result = submit_piece(allreduce);
	return allreduce->outstanding != 0 ? DOCA_SUCCESS : result; /* the rest follows as commands complete */
}

void begin_waiting(struct urom_allreduce_comm *comm)
{
	for (struct allreduce *allreduce = TAILQ_FIRST(&comm->inflight), *next; allreduce != NULL; allreduce = next) {
		next = TAILQ_NEXT(allreduce, next);
		if (!allreduce->waiting)
			continue;
		allreduce->waiting = false;
		allreduce->result = allreduce_begin(allreduce);
		end_if_over(allreduce);
	}
}

static struct allreduce *allreduce_new(struct urom_allreduce_comm *comm, union doca_data cookie,
				       const struct urom_allreduce_args *args, urom_allreduce_finished finished)
{
	static const uint8_t algorithm[] = {ALLREDUCE_AUTO, ALLREDUCE_TREE, ALLREDUCE_RING, ALLREDUCE_DIRECT};
	struct allreduce *allreduce = (struct allreduce *)calloc(1, sizeof(*allreduce));

	if (allreduce == NULL)
		return NULL;
	allreduce->comm = comm;
	allreduce->send = (const uint8_t *)args->send;
	allreduce->receive = (uint8_t *)args->receive;
	allreduce->finished = finished;
	allreduce->cookie = cookie;
	allreduce->command = (struct allreduce_command){
		.rank = comm->rank,
		.tag = args->tag,
		.shape = {comm->num_ranks, (uint8_t)args->type, (uint8_t)args->op, algorithm[args->algorithm],
			  .total = args->count * allreduce_element_size((uint8_t)args->type)},
	};
	if (comm->num_ranks == 1) /* all algorithms are equal */
		allreduce->command.shape.algorithm = ALLREDUCE_TREE;
	return allreduce;
}

doca_error_t urom_allreduce_task(struct urom_allreduce_comm *comm, union doca_data cookie, const struct urom_allreduce_args *args,
				 urom_allreduce_finished finished)
{
	if (!args_check(comm, args, finished) || is_under_way(comm, args->tag))
		return DOCA_ERROR_INVALID_VALUE;
	if (args->algorithm == UROM_ALLREDUCE_DIRECT && comm->num_ranks > ALLREDUCE_DIRECT_RANKS_MAX)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (comm->num_inflight == comm->inflight_max)
		return DOCA_ERROR_AGAIN;
	struct allreduce *allreduce = allreduce_new(comm, cookie, args, finished);
	if (allreduce == NULL)
		return DOCA_ERROR_NO_MEMORY;
	allreduce->waiting = comm->way == UROM_ALLREDUCE_BY_UNKNOWN &&
			     (is_whole(allreduce) || allreduce->command.shape.total >= ALLREDUCE_IN_PLACE_MIN);
	doca_error_t result = allreduce->waiting ? DOCA_SUCCESS : allreduce_begin(allreduce);
	if (result != DOCA_SUCCESS) {
		if (allreduce->guard != NULL)
			guard_close(allreduce->guard);
		free(allreduce);
		return result;
	}
	TAILQ_INSERT_TAIL(&comm->inflight, allreduce, next);
	comm->num_inflight++;
	return DOCA_SUCCESS;
}
