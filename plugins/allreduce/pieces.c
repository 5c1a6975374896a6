/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "worker_allreduce.h"

static uint32_t bucket_of(uint64_t tag, uint64_t offset)
{
	return (uint32_t)((tag * UINT64_C(0x9e3779b97f4a7c15) + offset * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 56) % ALLREDUCE_BUCKETS;
}

static struct piece *find_piece(struct allreduce *allreduce, uint64_t tag, uint64_t offset)
{
	struct piece *piece;
	LIST_FOREACH(piece, &allreduce->pieces[bucket_of(tag, offset)], next) {
		if (piece->command.tag == tag && piece->command.offset == offset && !piece->ended)
			return piece;
	}
	return NULL;
}

static struct step step_of(const struct piece *piece, uint32_t i)
{
	return schedule_step(&piece->command.shape, piece->command.rank, piece->len, piece->element, i);
}

/* ---- the end ---- */

static void release(struct piece *piece)
{
	if (piece->sends != 0)
		return;
	LIST_REMOVE(piece, next);
	ucs_list_add_tail(&piece->allreduce->notifications, &piece->notification->entry);
	free(piece);
}

static void end(struct piece *piece, doca_error_t status)
{
	if (piece->ready)
		TAILQ_REMOVE(&piece->allreduce->ready, piece, in_ready);
	piece->ready = false;
	piece->ended = true;
	piece->notification->worker_notif.status = status;
	piece->notification->worker_notif.len = status == DOCA_SUCCESS ? piece->len : 0;
	release(piece);
}

void piece_sent(struct piece *piece)
{
	piece->sends--;
	if (piece->ended)
		release(piece);
}

static struct message message_of(const struct piece *piece, uint32_t kind)
{
	return (struct message){
		.kind = kind,
		.source = piece->command.rank,
		.tag = piece->command.tag,
		.offset = piece->command.offset,
		.shape = piece->command.shape,
	};
}

/* The others would wait for this rank. */
static void fail(struct piece *piece, doca_error_t status)
{
	struct message message = message_of(piece, MESSAGE_ABORT);
	message.status = (uint32_t)status;
	for (uint32_t rank = 0; rank < piece->command.shape.num_ranks; rank++) {
		if (rank != piece->command.rank && network_connect(piece->allreduce, rank) == DOCA_SUCCESS)
			(void)network_send(piece->allreduce, rank, &message, NULL, 0, NULL);
	}
	end(piece, status);
}

/* ---- messages that came early ---- */

static bool keep(struct allreduce *allreduce, const struct message *message, const void *data, size_t len)
{
	struct kept *kept = NULL;
	if (allreduce->kept_bytes + len + sizeof(*kept) <= ALLREDUCE_KEPT_MAX)
		kept = (struct kept *)malloc(sizeof(*kept) + len);
	if (kept == NULL)
		return false;
	kept->message = *message;
	kept->len = (uint32_t)len;
	memcpy(kept->data, data, len);
	allreduce->kept_bytes += len + sizeof(*kept);
	LIST_INSERT_HEAD(&allreduce->kept[bucket_of(message->tag, message->offset)], kept, next);
	return true;
}

static void drop(struct allreduce *allreduce, struct kept *kept)
{
	LIST_REMOVE(kept, next);
	allreduce->kept_bytes -= kept->len + sizeof(*kept);
	free(kept);
}

/* An abort, or what the step waits for. */
static struct kept *find_kept(const struct piece *piece, const struct step *step)
{
	struct kept *kept;
	LIST_FOREACH(kept, &piece->allreduce->kept[bucket_of(piece->command.tag, piece->command.offset)], next) {
		const struct message *message = &kept->message;
		if (message->tag == piece->command.tag && message->offset == piece->command.offset &&
		    (message->kind == MESSAGE_ABORT || (message->source == step->rank && message->number == step->number)))
			return kept;
	}
	return NULL;
}

/* ---- steps ---- */

/* What another process says. */
static doca_error_t known_error(uint64_t status)
{
	return status > DOCA_SUCCESS && status <= DOCA_ERROR_SKIPPED ? (doca_error_t)status : DOCA_ERROR_UNEXPECTED;
}

/* False: the piece has ended, and may be gone. */
static bool take_step(struct piece *piece, const struct step *step, const struct message *message, const void *data, size_t len)
{
	const struct allreduce_shape *shape = &piece->command.shape;
	if (message->kind == MESSAGE_ABORT) {
		end(piece, known_error(message->status));
		return false;
	}
	if (memcmp(&message->shape, shape, sizeof(*shape)) != 0 || len != step->len) {
		fail(piece, DOCA_ERROR_INVALID_VALUE);
		return false;
	}
	if (step->kind == STEP_REDUCE)
		reduce(shape->type, shape->op, piece->data + step->offset, data, len);
	else
		memcpy(piece->data + step->offset, data, len);
	piece->step++;
	return true;
}

static bool send_step(struct piece *piece, const struct step *step)
{
	struct message message = message_of(piece, MESSAGE_DATA);
	message.number = step->number;
	doca_error_t result = network_send(piece->allreduce, step->rank, &message, piece->data + step->offset, step->len, piece);
	if (result != DOCA_SUCCESS) {
		fail(piece, result);
		return false;
	}
	piece->step++;
	return true;
}

/* As far as it goes. */
static void run(struct piece *piece)
{
	bool on = true;
	while (on) {
		struct step step = step_of(piece, piece->step);
		if (step.kind == STEP_END) {
			end(piece, DOCA_SUCCESS);
			return;
		}
		if (step.kind == STEP_SEND) {
			on = send_step(piece, &step);
			continue;
		}
		struct allreduce *allreduce = piece->allreduce;
		struct kept *kept = find_kept(piece, &step);
		if (kept == NULL)
			return;
		on = take_step(piece, &step, &kept->message, kept->data, kept->len);
		drop(allreduce, kept);
	}
}

void pieces_take(struct allreduce *allreduce, const struct message *message, const void *data, size_t len)
{
	struct piece *piece = find_piece(allreduce, message->tag, message->offset);
	if (!keep(allreduce, message, data, len) || piece == NULL || piece->ready)
		return;
	piece->ready = true;
	TAILQ_INSERT_TAIL(&allreduce->ready, piece, in_ready);
}

void pieces_run(struct allreduce *allreduce)
{
	for (struct piece *piece; (piece = TAILQ_FIRST(&allreduce->ready)) != NULL;) {
		TAILQ_REMOVE(&allreduce->ready, piece, in_ready);
		piece->ready = false;
		run(piece);
	}
}

/* ---- the beginning ---- */

static doca_error_t check(struct allreduce *allreduce, const struct allreduce_command *command, size_t len)
{
	const struct allreduce_shape *shape = &command->shape;
	if (shape->type >= ALLREDUCE_TYPES || shape->op >= ALLREDUCE_OPS || shape->algorithm > ALLREDUCE_RING || len == 0 ||
	    len > UINT32_MAX || len % reduce_element_size(shape->type) != 0 || shape->num_ranks == 0 ||
	    shape->num_ranks > ALLREDUCE_RANKS_MAX || command->rank >= shape->num_ranks || !network_is_self(allreduce, command->rank) ||
	    find_piece(allreduce, command->tag, command->offset) != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

/* Those that the piece will send to, and those whose death it has to notice. */
static doca_error_t connect_partners(const struct piece *piece)
{
	struct step step = step_of(piece, 0);
	for (uint32_t i = 0; step.kind != STEP_END; step = step_of(piece, ++i)) {
		doca_error_t result = network_connect(piece->allreduce, step.rank);
		if (result != DOCA_SUCCESS)
			return result;
		if (piece->command.shape.algorithm == ALLREDUCE_RING && i == 1)
			break; /* it has no more than two neighbours */
	}
	return DOCA_SUCCESS;
}

doca_error_t piece_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc)
{
	size_t len = desc->worker_cmd.len - sizeof(struct allreduce_command);
	struct urom_worker_notif_desc *notification = (struct urom_worker_notif_desc *)malloc(sizeof(*notification) + len);
	struct piece *piece = (struct piece *)calloc(1, sizeof(*piece));
	if (notification == NULL || piece == NULL) {
		free(notification);
		free(piece);
		return DOCA_ERROR_NO_MEMORY;
	}
	memset(notification, 0, sizeof(*notification));
	notification->dest_id = desc->dest_id;
	notification->worker_notif.type = desc->worker_cmd.type;
	notification->worker_notif.urom_context = desc->worker_cmd.urom_context;
	memcpy(notification->worker_notif.plugin_notif, desc->worker_cmd.plugin_cmd + sizeof(struct allreduce_command), len);
	memcpy(&piece->command, desc->worker_cmd.plugin_cmd, sizeof(piece->command));
	piece->allreduce = allreduce;
	piece->notification = notification;
	piece->data = notification->worker_notif.plugin_notif;
	piece->len = (uint32_t)len;
	doca_error_t result = check(allreduce, &piece->command, len);
	LIST_INSERT_HEAD(&allreduce->pieces[bucket_of(piece->command.tag, piece->command.offset)], piece, next);
	if (result != DOCA_SUCCESS) {
		end(piece, result); /* it is not known whom to tell */
		return DOCA_SUCCESS;
	}
	piece->element = reduce_element_size(piece->command.shape.type);
	result = connect_partners(piece);
	if (result == DOCA_SUCCESS)
		run(piece);
	else
		fail(piece, result);
	return DOCA_SUCCESS;
}

/* ---- all ---- */

static bool needs_dead(const struct piece *piece)
{
	struct step step = step_of(piece, piece->step);
	for (uint32_t i = piece->step; step.kind != STEP_END; step = step_of(piece, ++i)) {
		if (network_is_dead(piece->allreduce, step.rank))
			return true;
	}
	return false;
}

void pieces_check_peers(struct allreduce *allreduce)
{
	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		for (struct piece *piece = LIST_FIRST(&allreduce->pieces[i]), *next; piece != NULL; piece = next) {
			next = LIST_NEXT(piece, next);
			if (!piece->ended && needs_dead(piece))
				fail(piece, DOCA_ERROR_CONNECTION_ABORTED);
		}
	}
}

void pieces_cancel(struct allreduce *allreduce, uint64_t tag, uint64_t why)
{
	doca_error_t status = known_error(why);
	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		for (struct piece *piece = LIST_FIRST(&allreduce->pieces[i]), *next; piece != NULL; piece = next) {
			next = LIST_NEXT(piece, next);
			if (!piece->ended && piece->command.tag == tag)
				fail(piece, status);
		}
		for (struct kept *kept = LIST_FIRST(&allreduce->kept[i]), *next; kept != NULL; kept = next) {
			next = LIST_NEXT(kept, next);
			if (kept->message.tag == tag)
				drop(allreduce, kept);
		}
	}
}

void pieces_free(struct allreduce *allreduce)
{
	for (int i = 0; i < ALLREDUCE_BUCKETS; i++) {
		for (struct piece *piece; (piece = LIST_FIRST(&allreduce->pieces[i])) != NULL;) {
			LIST_REMOVE(piece, next);
			free(piece->notification);
			free(piece);
		}
		while (!LIST_EMPTY(&allreduce->kept[i]))
			drop(allreduce, LIST_FIRST(&allreduce->kept[i]));
	}
}
