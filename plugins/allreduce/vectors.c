/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole vectors: start, reduction after the workers have agreed (agree.c), and completion. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "answer.h"
#include "worker_allreduce.h"

DOCA_LOG_REGISTER(UROM_ALLREDUCE);

#define MEMORY_PIECE 131072 /* bytes of a piece that no command carries */
#define WINDOW 8	    /* pieces of a vector in flight */
#define SHARE_ALIGN 64	    /* bytes */
#define SHARE_MIN 65536	    /* bytes: below, notifying each other costs the workers more than sharing gains */

/* A host may reuse a tag while this worker still waits for others to leave the previous allreduce. */
static struct vector *vector_find(const struct allreduce *allreduce, uint64_t tag, bool awaited)
{
	struct vector *vector;

	LIST_FOREACH (vector, &allreduce->vectors, next) {
		if (vector->command.tag == tag && (vector->stage == VECTOR_AWAITED) == awaited)
			return vector;
	}
	return NULL;
}

/* Messages of one worker arrive in order: after it has left or switched to pieces, and for a second offer, the message belongs to
 * the next allreduce. */
static bool is_over_for(const struct vector *vector, const struct allreduce_message *message)
{
	if (vector->stage == VECTOR_PIECES)
		return true;
	if (message->source >= vector->shape.num_ranks)
		return false;
	const struct party *party = &vector->parties[message->source];
	return party->left || (message->kind == ALLREDUCE_OFFER && party->offered);
}

static struct vector *find_for(const struct allreduce *allreduce, const struct allreduce_message *message)
{
	struct vector *vector = vector_find(allreduce, message->tag, false);

	return vector != NULL && !is_over_for(vector, message) ? vector : vector_find(allreduce, message->tag, true);
}

static void vector_schedule(struct vector *vector)
{
	if (!vector->working)
		TAILQ_INSERT_TAIL(&vector->allreduce->working, vector, in_working);
	vector->working = true;
}

/* ---- completion ---- */

/* Frees the vector later, because callers may still read it. */
static void vector_end(struct vector *vector, doca_error_t status, bool as_pieces)
{
	struct allreduce *allreduce = vector->allreduce;
	const struct allreduce_done done = {as_pieces, vector->command.shape.algorithm};

	if (vector->stage == VECTOR_AWAITED)
		allreduce->num_awaited--;
	if (vector->stage == VECTOR_SHARING)
		share_leave(vector);
	own_leave(vector);
	if (vector->working)
		TAILQ_REMOVE(&allreduce->working, vector, in_working);
	vector->working = false;
	vector->ended = true;
	LIST_REMOVE(vector, next);
	LIST_INSERT_HEAD(&allreduce->ended_vectors, vector, next);
	if (vector->notification == NULL)
		return;
	vector->notification->worker_notif.status = status;
	vector->notification->worker_notif.len = status == DOCA_SUCCESS ? sizeof(done) : 0;
	memcpy(vector->notification->worker_notif.plugin_notif, &done, sizeof(done));
	ucs_list_add_tail(&allreduce->notifications, &vector->notification->entry);
	vector->notification = NULL;
}

void vector_fail(struct vector *vector, doca_error_t status)
{
	if (!vector->ended)
		allreduce_fail(vector->allreduce, vector->command.tag, status, true);
}

/* ---- messages to other workers ---- */

void vector_send(struct vector *vector, uint32_t rank, enum allreduce_message_kind kind, doca_error_t status, const void *data,
		 size_t len)
{
	const struct allreduce_message message = {
		.kind = kind,
		.source = vector->command.rank,
		.tag = vector->command.tag,
		.number = (uint32_t)status,
		.shape = vector->shape,
	};
	doca_error_t result = network_send(vector->allreduce, rank, &message, data, len, NULL);

	if (result != DOCA_SUCCESS)
		vector_fail(vector, result);
}

void vector_send_all(struct vector *vector, enum allreduce_message_kind kind, doca_error_t status, const void *data, size_t len)
{
	for (uint32_t i = 1; i < vector->shape.num_ranks && !vector->ended; i++) /* each begins with another rank */
		vector_send(vector, (vector->command.rank + i) % vector->shape.num_ranks, kind, status, data, len);
}

/* ---- pieces ---- */

static void vector_feed(struct vector *vector)
{
	struct allreduce_command command = vector->command;

	while (!vector->ended && vector->num_pieces < WINDOW && vector->at < vector->end) {
		uint64_t left = vector->end - vector->at;
		size_t len = left < command.shape.piece_max ? (size_t)left : command.shape.piece_max;
		uint8_t *data = (uint8_t *)malloc(len);

		command.offset = vector->at;
		doca_error_t result =
			data != NULL ? process_memory_read(&vector->host->memory, data, vector->place.send + vector->at, len)
				     : DOCA_ERROR_NO_MEMORY;
		vector->at += len;
		if (result == DOCA_SUCCESS) {
			vector->num_pieces++;
			result = piece_start_of(vector, &command, data, len);
		} else {
			free(data);
		}
		if (result != DOCA_SUCCESS)
			vector_fail(vector, result);
	}
	if (!vector->ended && vector->num_pieces == 0)
		vector_end(vector, DOCA_SUCCESS, false);
}

void vector_piece_ended(struct vector *vector, uint64_t offset, const uint8_t *data, size_t len, doca_error_t status)
{
	if (vector->ended)
		return;
	assert(vector->num_pieces > 0);
	vector->num_pieces--;
	if (status == DOCA_SUCCESS) {
		status = process_memory_write(&vector->host->memory, vector->place.receive + offset, data, len);
		if (status != DOCA_SUCCESS)
			vector_fail(vector, status);
	}
	if (!vector->ended)
		vector_schedule(vector);
}

/* all_memories: each worker can access its rank's memory, so no command carries a piece. */
void vector_go_in_pieces(struct vector *vector, bool all_memories)
{
	struct allreduce_shape *shape = &vector->command.shape;

	if (shape->algorithm == ALLREDUCE_DIRECT) {
		DOCA_LOG_INFO("allreduce %llu: cannot access the memory of all ranks", (unsigned long long)vector->command.tag);
		vector_fail(vector, DOCA_ERROR_NOT_SUPPORTED);
		return;
	}
	if (all_memories)
		shape->piece_max = MEMORY_PIECE;
	if (shape->algorithm == ALLREDUCE_AUTO)
		shape->algorithm = allreduce_piece_algorithm(shape);
	vector->stage = VECTOR_PIECES;
	vector->at = 0;
	vector->end = shape->total;
	if (vector->host == NULL) {
		vector_end(vector, DOCA_SUCCESS, true);
		return;
	}
	doca_error_t result = own_enter(vector);
	if (result == DOCA_SUCCESS)
		vector_schedule(vector);
	else
		vector_fail(vector, result);
}

/* ---- shares ---- */

void vector_check_left(struct vector *vector)
{
	if (!vector->ended && vector->stage == VECTOR_LEAVING && vector->num_left == vector->shape.num_ranks)
		vector_end(vector, DOCA_SUCCESS, false);
}

/* Returns the index of the rank's share; num_shares or more: none. The first rank depends on the tag. */
static uint32_t share_of(const struct vector *vector, uint32_t rank)
{
	uint32_t num = vector->shape.num_ranks;

	return (rank + num - (uint32_t)(vector->command.tag % num)) % num;
}

/* Ranks without a share send nothing, so they count as left. */
static void leave_out(struct vector *vector, uint32_t num_shares)
{
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		struct party *party = &vector->parties[rank];

		if (share_of(vector, rank) < num_shares)
			continue;
		vector->num_left += !party->left;
		party->left = true;
	}
}

void vector_begin_share(struct vector *vector)
{
	uint64_t total = vector->shape.total, parts = (total + SHARE_ALIGN - 1) / SHARE_ALIGN,
		 most = total / SHARE_MIN + (total < SHARE_MIN);
	uint32_t share = share_of(vector, vector->command.rank), num = vector->shape.num_ranks;

	if (num > most)
		num = (uint32_t)most;
	vector->command.shape.algorithm = ALLREDUCE_DIRECT;
	leave_out(vector, num);
	if (share >= num) {
		vector->stage = VECTOR_LEAVING;
		vector_check_left(vector);
		return;
	}
	vector->at = parts * share / num * SHARE_ALIGN;
	vector->end = parts * (share + 1) / num * SHARE_ALIGN;
	if (vector->end > total)
		vector->end = total;
	vector->stage = VECTOR_SHARING;
	doca_error_t result = share_enter(vector);
	if (result == DOCA_SUCCESS)
		vector_schedule(vector);
	else
		vector_fail(vector, result);
}

static void vector_reduce(struct vector *vector)
{
	doca_error_t result = share_step(vector);

	if (result == DOCA_ERROR_AGAIN) {
		vector_schedule(vector);
		return;
	}
	share_leave(vector);
	if (result != DOCA_SUCCESS) {
		vector_fail(vector, result);
		return;
	}
	vector->stage = VECTOR_LEAVING;
	vector->num_left++;
	vector_send_all(vector, ALLREDUCE_LEFT, DOCA_SUCCESS, NULL, 0);
	vector_check_left(vector);
}

/* ---- messages ---- */

static struct vector *vector_new(struct allreduce *allreduce, uint64_t tag, const struct allreduce_shape *shape)
{
	uint32_t num = shape->num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX ? shape->num_ranks : 0;
	struct vector *vector = (struct vector *)calloc(1, sizeof(*vector) + num * sizeof(vector->parties[0]));

	if (vector == NULL)
		return NULL;
	vector->allreduce = allreduce;
	vector->command.tag = tag;
	vector->shape = *shape;
	vector->stage = VECTOR_AWAITED;
	allreduce->num_awaited++;
	LIST_INSERT_HEAD(&allreduce->vectors, vector, next);
	return vector;
}

/* Drops the oldest vector that the host has not begun. */
static void give_up_oldest(struct allreduce *allreduce)
{
	const struct vector *vector, *oldest = NULL;

	LIST_FOREACH (vector, &allreduce->vectors, next)
		oldest = vector->stage == VECTOR_AWAITED ? vector : oldest;
	if (oldest != NULL)
		allreduce_fail_among(allreduce, oldest->command.tag, DOCA_ERROR_NO_MEMORY, oldest->shape.num_ranks);
}

/* Handles the first message of an allreduce that this worker's host has not begun. */
static struct vector *vector_await(struct allreduce *allreduce, const struct allreduce_message *message)
{
	doca_error_t failed = allreduce_failed(allreduce, message->tag);

	if (message->kind == ALLREDUCE_OFFER && failed != DOCA_SUCCESS) /* the sender may not know of the failure */
		allreduce_send_abort(allreduce, message->source, message->tag, failed);
	if (message->kind != ALLREDUCE_OFFER || failed != DOCA_SUCCESS)
		return NULL;
	if (allreduce->num_awaited == ALLREDUCE_AWAITED_MAX)
		give_up_oldest(allreduce);
	struct vector *vector = vector_new(allreduce, message->tag, &message->shape);
	if (vector == NULL)
		allreduce_fail_among(allreduce, message->tag, DOCA_ERROR_NO_MEMORY, message->shape.num_ranks);
	return vector;
}

void vectors_handle_message(struct allreduce *allreduce, const struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;

	if (inbound->lacks_data) {
		allreduce_fail_among(allreduce, message->tag, DOCA_ERROR_NO_MEMORY, message->shape.num_ranks);
		return;
	}
	struct vector *vector = find_for(allreduce, message);
	if (vector == NULL)
		vector = vector_await(allreduce, message);
	if (vector == NULL)
		return;
	agree_handle_message(vector, inbound);
}

/* ---- start ---- */

static doca_error_t connect_all(const struct vector *vector)
{
	for (uint32_t i = 1; i < vector->shape.num_ranks; i++) {
		doca_error_t result = network_connect(vector->allreduce, (vector->command.rank + i) % vector->shape.num_ranks);

		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static void vector_adopt(struct vector *vector, const struct urom_worker_cmd_desc *desc, const struct allreduce_command *command,
			 const struct allreduce_vector *body, struct urom_worker_notif_desc *notification)
{
	struct allreduce *allreduce = vector->allreduce;
	bool same = memcmp(&vector->shape, &command->shape, sizeof(vector->shape)) == 0;

	vector->stage = VECTOR_OFFERED;
	assert(allreduce->num_awaited > 0);
	allreduce->num_awaited--;
	vector->command = *command;
	vector->notification = notification;
	vector->client = desc->dest_id;
	vector->host = body->attachment != 0 ? hosts_find(allreduce, desc->dest_id, body->attachment) : NULL;
	vector->place = body->place;
	doca_error_t result = command->shape.num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX ? connect_all(vector) : DOCA_SUCCESS;
	if (result == DOCA_SUCCESS && (!same || vector->mismatched || (body->attachment != 0 && vector->host == NULL)))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result != DOCA_SUCCESS)
		vector_fail(vector, result);
	else if (command->shape.num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX)
		agree_offer(vector);
	else /* too many ranks to agree: each uses pieces, as if not all memories were accessible */
		vector_go_in_pieces(vector, false);
}

doca_error_t vector_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			  const struct allreduce_command *command, const void *body, size_t len)
{
	struct allreduce_vector wanted;
	struct vector *vector = vector_find(allreduce, command->tag, true);
	bool many = command->shape.num_ranks > ALLREDUCE_DIRECT_RANKS_MAX;

	if (allreduce_vector_parse(body, len, &command->shape, &wanted) != DOCA_SUCCESS || (many && wanted.attachment == 0) ||
	    vector_find(allreduce, command->tag, false) != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	struct urom_worker_notif_desc *notification = answer_create(desc, sizeof(struct allreduce_done));
	if (notification != NULL && vector == NULL)
		vector = vector_new(allreduce, command->tag, &command->shape);
	if (notification == NULL || vector == NULL) {
		free(notification);
		return DOCA_ERROR_NO_MEMORY;
	}
	vector_adopt(vector, desc, command, &wanted, notification);
	return DOCA_SUCCESS;
}

/* ---- all vectors ---- */

static void free_ended(struct allreduce *allreduce)
{
	for (struct vector *vector; (vector = LIST_FIRST(&allreduce->ended_vectors)) != NULL;) {
		LIST_REMOVE(vector, next);
		free(vector->notification);
		free(vector);
	}
}

bool vectors_run(struct allreduce *allreduce)
{
	struct vector *vector = TAILQ_FIRST(&allreduce->working);
	bool any = vector != NULL;

	if (any) {
		TAILQ_REMOVE(&allreduce->working, vector, in_working);
		vector->working = false;
		if (vector->stage == VECTOR_SHARING)
			vector_reduce(vector);
		else
			vector_feed(vector);
	}
	free_ended(allreduce);
	return any;
}

bool vectors_find_bereaved(const struct allreduce *allreduce, uint64_t *tag)
{
	const struct vector *vector;

	LIST_FOREACH (vector, &allreduce->vectors, next) {
		*tag = vector->command.tag;
		for (uint32_t rank = 0;
		     vector->stage != VECTOR_PIECES && vector->stage != VECTOR_AWAITED && rank < vector->shape.num_ranks;
		     rank++) {
			if (!vector->parties[rank].left && rank != vector->command.rank && network_is_dead(allreduce, rank))
				return true;
		}
	}
	return false;
}

bool vectors_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag)
{
	const struct vector *vector;

	LIST_FOREACH (vector, &allreduce->vectors, next) {
		*tag = vector->command.tag;
		if (vector->stage != VECTOR_AWAITED && vector->client == client)
			return true;
	}
	return false;
}

void vectors_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks)
{
	for (struct vector *vector = LIST_FIRST(&allreduce->vectors), *next; vector != NULL; vector = next) {
		next = LIST_NEXT(vector, next);
		if (vector->command.tag != tag)
			continue;
		if (vector->shape.num_ranks > *num_ranks)
			*num_ranks = vector->shape.num_ranks;
		vector_end(vector, status, false);
	}
}

void vectors_free(struct allreduce *allreduce)
{
	while (!LIST_EMPTY(&allreduce->vectors)) {
		struct vector *vector = LIST_FIRST(&allreduce->vectors);

		if (vector->stage == VECTOR_SHARING)
			share_leave(vector);
		own_leave(vector);
		LIST_REMOVE(vector, next);
		LIST_INSERT_HEAD(&allreduce->ended_vectors, vector, next);
	}
	free_ended(allreduce);
}
