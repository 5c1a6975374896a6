/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "worker_allreduce.h"

static uint32_t bucket_of(uint64_t tag, uint64_t offset)
{
	return (uint32_t)((tag * UINT64_C(0x9e3779b97f4a7c15) + offset * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 56) % ALLREDUCE_BUCKETS;
}

static struct piece *find_piece(struct allreduce *allreduce, uint64_t tag, uint64_t offset)
{
	struct piece *piece;

	LIST_FOREACH (piece, &allreduce->pieces[bucket_of(tag, offset)], next) {
		if (piece->command.tag == tag && piece->command.offset == offset && !piece->ended)
			return piece;
	}
	return NULL;
}

static struct step step_of(const struct piece *piece, uint32_t i)
{
	return schedule_step(&piece->command.shape, piece->command.rank, piece->len, piece->element, i);
}

/* ---- completion ---- */

/* Completes only after the last send: the host may then leave immediately, and its worker ends with it. */
static void piece_finish(struct piece *piece)
{
	LIST_REMOVE(piece, next);
	if (piece->notification != NULL) {
		ucs_list_add_tail(&piece->allreduce->notifications, &piece->notification->entry);
	} else {
		if (piece->vector != NULL)
			vector_piece_ended(piece->vector, piece->command.offset, piece->data, piece->len, piece->status);
		free(piece->data);
	}
	free(piece);
}

static void piece_end(struct piece *piece, doca_error_t status)
{
	if (piece->ready)
		TAILQ_REMOVE(&piece->allreduce->ready, piece, in_ready);
	piece->ready = false;
	piece->ended = true;
	piece->status = status;
	if (piece->notification != NULL) {
		piece->notification->worker_notif.status = status;
		piece->notification->worker_notif.len = status == DOCA_SUCCESS ? piece->len : 0;
	}
	if (status != DOCA_SUCCESS)
		piece->vector = NULL; /* the vector ends too */
	if (piece->sends == 0)
		piece_finish(piece);
}

/* Called inside UCX, where nothing may be sent. */
void piece_sent(struct piece *piece)
{
	if (--piece->sends != 0 || !piece->ended || piece->ready)
		return;
	piece->ready = true;
	TAILQ_INSERT_TAIL(&piece->allreduce->ready, piece, in_ready);
}

/* ---- early messages ---- */

static void piece_drop(struct allreduce *allreduce, struct inbound *inbound)
{
	LIST_REMOVE(inbound, next);
	inbound_free(allreduce, inbound);
}

/* Returns the kept message that the step waits for. */
static struct inbound *find_kept(const struct piece *piece, const struct step *step)
{
	struct inbound *inbound;

	LIST_FOREACH (inbound, &piece->allreduce->kept[bucket_of(piece->command.tag, piece->command.offset)], next) {
		const struct allreduce_message *message = &inbound->message;

		if (message->tag == piece->command.tag && message->offset == piece->command.offset &&
		    message->source == step->rank && message->number == step->number)
			return inbound;
	}
	return NULL;
}

/* ---- steps: each returns false if the piece has ended and may be freed ---- */

static bool take_step(struct piece *piece, const struct step *step, const struct inbound *inbound)
{
	const struct allreduce_shape *shape = &piece->command.shape;

	if (memcmp(&inbound->message.shape, shape, sizeof(*shape)) != 0 || inbound->len != step->len) {
		allreduce_fail(piece->allreduce, piece->command.tag, DOCA_ERROR_INVALID_VALUE, true);
		return false;
	}
	if (step->kind == STEP_REDUCE)
		reduce(shape->type, shape->op, piece->data + step->offset, inbound->data, inbound->len);
	else
		memcpy(piece->data + step->offset, inbound->data, inbound->len);
	piece->step++;
	return true;
}

static bool send_step(struct piece *piece, const struct step *step)
{
	const struct allreduce_message message = {
		.kind = ALLREDUCE_DATA,
		.source = piece->command.rank,
		.tag = piece->command.tag,
		.offset = piece->command.offset,
		.number = step->number,
		.shape = piece->command.shape,
	};
	doca_error_t result = network_send(piece->allreduce, step->rank, &message, piece->data + step->offset, step->len, piece);

	if (result != DOCA_SUCCESS) {
		allreduce_fail(piece->allreduce, piece->command.tag, result, true);
		return false;
	}
	piece->step++;
	return true;
}

/* Runs steps until one must wait. */
static void piece_run(struct piece *piece)
{
	for (bool on = true; on;) {
		struct step step = step_of(piece, piece->step);

		if (step.kind == STEP_END) {
			piece_end(piece, DOCA_SUCCESS);
			return;
		}
		if (step.kind == STEP_SEND) {
			on = send_step(piece, &step);
			continue;
		}
		struct allreduce *allreduce = piece->allreduce;
		struct inbound *inbound = find_kept(piece, &step);
		if (inbound == NULL)
			return;
		LIST_REMOVE(inbound, next); /* first, because a failure frees kept messages */
		on = take_step(piece, &step, inbound);
		inbound_free(allreduce, inbound);
	}
}

void pieces_handle_message(struct allreduce *allreduce, struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;
	struct piece *piece = find_piece(allreduce, message->tag, message->offset);
	doca_error_t failed = piece == NULL ? allreduce_failed(allreduce, message->tag) : DOCA_SUCCESS;

	if (failed != DOCA_SUCCESS) { /* the sender may not know of the failure */
		allreduce_send_abort(allreduce, message->source, message->tag, failed);
		inbound_free(allreduce, inbound);
		return;
	}
	if (inbound->lacks_data) {
		uint64_t tag = message->tag;
		uint32_t num_ranks = message->shape.num_ranks;

		inbound_free(allreduce, inbound);
		allreduce_fail_among(allreduce, tag, DOCA_ERROR_NO_MEMORY, num_ranks);
		return;
	}
	LIST_INSERT_HEAD(&allreduce->kept[bucket_of(message->tag, message->offset)], inbound, next);
	if (piece == NULL || piece->ready)
		return;
	piece->ready = true;
	TAILQ_INSERT_TAIL(&allreduce->ready, piece, in_ready);
}

void pieces_run(struct allreduce *allreduce)
{
	for (struct piece *piece; (piece = TAILQ_FIRST(&allreduce->ready)) != NULL;) {
		TAILQ_REMOVE(&allreduce->ready, piece, in_ready);
		piece->ready = false;
		if (piece->ended)
			piece_finish(piece);
		else
			piece_run(piece);
	}
}

/* ---- start ---- */

/* Connects to ranks that the piece sends to, and to those whose death it must detect. */
static doca_error_t connect_partners(const struct piece *piece)
{
	struct step step = step_of(piece, 0);

	for (uint32_t i = 0; step.kind != STEP_END; step = step_of(piece, ++i)) {
		doca_error_t result = network_connect(piece->allreduce, step.rank);

		if (result != DOCA_SUCCESS)
			return result;
		if (piece->command.shape.algorithm == ALLREDUCE_RING && i == 1)
			break; /* a ring has only two neighbours */
	}
	return DOCA_SUCCESS;
}

static void piece_begin(struct piece *piece, struct allreduce *allreduce, const struct allreduce_command *command, uint8_t *data,
			size_t len)
{
	piece->allreduce = allreduce;
	piece->command = *command;
	piece->data = data;
	piece->len = (uint32_t)len;
	piece->element = allreduce_element_size(command->shape.type);
	LIST_INSERT_HEAD(&allreduce->pieces[bucket_of(command->tag, command->offset)], piece, next);
	doca_error_t result = connect_partners(piece);
	if (result == DOCA_SUCCESS)
		piece_run(piece);
	else
		allreduce_fail(allreduce, command->tag, result, true);
}

doca_error_t piece_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			 const struct allreduce_command *command, const void *body, size_t len)
{
	struct urom_worker_notif_desc *notification = answer_create(desc, len);
	struct piece *piece = (struct piece *)calloc(1, sizeof(*piece));

	if (notification == NULL || piece == NULL) {
		free(notification);
		free(piece);
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(notification->worker_notif.plugin_notif, body, len);
	piece->notification = notification;
	piece->client = desc->dest_id;
	piece_begin(piece, allreduce, command, notification->worker_notif.plugin_notif, len);
	return DOCA_SUCCESS;
}

doca_error_t piece_start_of(struct vector *vector, const struct allreduce_command *command, uint8_t *data, size_t len)
{
	struct piece *piece = (struct piece *)calloc(1, sizeof(*piece));

	if (piece == NULL) {
		free(data);
		return DOCA_ERROR_NO_MEMORY;
	}
	piece->vector = vector;
	piece->client = vector->client;
	piece_begin(piece, vector->allreduce, command, data, len);
	return DOCA_SUCCESS;
}

bool piece_exists(struct allreduce *allreduce, uint64_t tag, uint64_t offset)
{
	return find_piece(allreduce, tag, offset) != NULL;
}

/* ---- all pieces ---- */

static bool needs_dead(const struct piece *piece)
{
	struct step step = step_of(piece, piece->step);

	for (uint32_t i = piece->step; step.kind != STEP_END; step = step_of(piece, ++i)) {
		if (network_is_dead(piece->allreduce, step.rank))
			return true;
	}
	return false;
}

bool pieces_find_bereaved(const struct allreduce *allreduce, uint64_t *tag)
{
	const struct piece *piece;

	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		LIST_FOREACH (piece, &allreduce->pieces[i], next) {
			*tag = piece->command.tag;
			if (!piece->ended && needs_dead(piece))
				return true;
		}
	}
	return false;
}

bool pieces_find_of_client(const struct allreduce *allreduce, uint64_t client, uint64_t *tag)
{
	const struct piece *piece;

	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		LIST_FOREACH (piece, &allreduce->pieces[i], next) {
			*tag = piece->command.tag;
			if (!piece->ended && piece->client == client)
				return true;
		}
	}
	return false;
}

void pieces_fail(struct allreduce *allreduce, uint64_t tag, doca_error_t status, uint32_t *num_ranks)
{
	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		for (struct piece *piece = LIST_FIRST(&allreduce->pieces[i]), *next; piece != NULL; piece = next) {
			next = LIST_NEXT(piece, next);
			if (piece->command.tag != tag)
				continue;
			if (piece->ended) {
				piece->vector = NULL;
				continue;
			}
			if (piece->command.shape.num_ranks > *num_ranks)
				*num_ranks = piece->command.shape.num_ranks;
			piece_end(piece, status);
		}
		for (struct inbound *inbound = LIST_FIRST(&allreduce->kept[i]), *next; inbound != NULL; inbound = next) {
			next = LIST_NEXT(inbound, next);
			if (inbound->message.tag != tag)
				continue;
			if (inbound->message.shape.num_ranks > *num_ranks)
				*num_ranks = inbound->message.shape.num_ranks;
			piece_drop(allreduce, inbound);
		}
	}
}

void pieces_free(struct allreduce *allreduce)
{
	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		for (struct piece *piece; (piece = LIST_FIRST(&allreduce->pieces[i])) != NULL;) {
			LIST_REMOVE(piece, next);
			if (piece->notification == NULL)
				free(piece->data);
			free(piece->notification);
			free(piece);
		}
		while (!LIST_EMPTY(&allreduce->kept[i]))
			piece_drop(allreduce, LIST_FIRST(&allreduce->kept[i]));
	}
}
