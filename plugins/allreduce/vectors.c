/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole vectors. Each worker offers its rank's to all others; when all offers are there, all know the same:
 *
 *   every rank's memory is reached by its worker, and all say by the same digest that they have reached all of them before: each
 *   reduces its share at once;
 *   not so before: each challenges those it does not know, and tells all what it found; when all found all, the same;
 *   otherwise the vector goes in pieces, along a ring or a tree.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "answer.h"
#include "worker_allreduce.h"

DOCA_LOG_REGISTER(UROM_ALLREDUCE);

#define MEMORY_PIECE 131072 /* bytes of a piece where no command has to carry it */
#define WINDOW 8	    /* pieces of a vector under way at once */
#define SHARE_ALIGN 64	    /* bytes */

/* A host may begin the next allreduce under the same tag while this worker still waits for others to leave the one before. */
static struct vector *find(const struct allreduce *allreduce, uint64_t tag, bool awaited)
{
	struct vector *vector;
	LIST_FOREACH (vector, &allreduce->vectors, next) {
		if (vector->command.tag == tag && (vector->stage == VECTOR_AWAITED) == awaited)
			return vector;
	}
	return NULL;
}

/* Messages of one worker come in order: after it has left, or in pieces, the next one is meant. */
static bool is_over_for(const struct vector *vector, uint32_t rank)
{
	return vector->stage == VECTOR_PIECES || (rank < vector->shape.num_ranks && vector->parties[rank].left);
}

static struct vector *find_for(const struct allreduce *allreduce, const struct allreduce_message *message)
{
	struct vector *vector = find(allreduce, message->tag, false);
	return vector != NULL && !is_over_for(vector, message->source) ? vector : find(allreduce, message->tag, true);
}

static void work(struct vector *vector)
{
	if (!vector->working)
		TAILQ_INSERT_TAIL(&vector->allreduce->working, vector, in_working);
	vector->working = true;
}

/* ---- the end ---- */

/* Those who call may still look at it: it is freed later. */
static void end(struct vector *vector, doca_error_t status, bool as_pieces)
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

static void fail(struct vector *vector, doca_error_t status)
{
	if (!vector->ended)
		allreduce_fail(vector->allreduce, vector->command.tag, status, true);
}

/* ---- what the others are told ---- */

static void tell(struct vector *vector, uint32_t rank, enum allreduce_message_kind kind, doca_error_t status, const void *data,
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
		fail(vector, result);
}

static void tell_all(struct vector *vector, enum allreduce_message_kind kind, doca_error_t status, const void *data, size_t len)
{
	for (uint32_t i = 1; i < vector->shape.num_ranks && !vector->ended; i++) /* not all the same one first */
		tell(vector, (vector->command.rank + i) % vector->shape.num_ranks, kind, status, data, len);
}

/* ---- in pieces ---- */

static void feed(struct vector *vector)
{
	struct allreduce_command command = vector->command;
	while (!vector->ended && vector->num_pieces < WINDOW && vector->at < vector->end) {
		uint64_t left = vector->end - vector->at;
		size_t len = left < command.shape.piece_max ? (size_t)left : command.shape.piece_max;
		uint8_t *data = (uint8_t *)malloc(len);
		command.offset = vector->at;
		doca_error_t result = data != NULL ? reach_read(&vector->host->reach, data, vector->place.send + vector->at, len)
						   : DOCA_ERROR_NO_MEMORY;
		vector->at += len;
		if (result == DOCA_SUCCESS) {
			vector->num_pieces++;
			result = piece_start_of(vector, &command, data, len);
		} else {
			free(data);
		}
		if (result != DOCA_SUCCESS)
			fail(vector, result);
	}
	if (!vector->ended && vector->num_pieces == 0)
		end(vector, DOCA_SUCCESS, false);
}

void vector_piece_ended(struct vector *vector, uint64_t offset, const uint8_t *data, size_t len, doca_error_t status)
{
	if (vector->ended)
		return;
	vector->num_pieces--;
	if (status == DOCA_SUCCESS) {
		status = reach_write(&vector->host->reach, vector->place.receive + offset, data, len);
		if (status != DOCA_SUCCESS)
			fail(vector, status);
	}
	if (!vector->ended)
		work(vector);
}

/* all_memories: no piece comes in a command. */
static void go_in_pieces(struct vector *vector, bool all_memories)
{
	struct allreduce_shape *shape = &vector->command.shape;
	if (shape->algorithm == ALLREDUCE_DIRECT) {
		DOCA_LOG_INFO("allreduce %llu: not all ranks' memories are within reach",
			      (unsigned long long)vector->command.tag);
		fail(vector, DOCA_ERROR_NOT_SUPPORTED);
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
		end(vector, DOCA_SUCCESS, true);
		return;
	}
	doca_error_t result = own_enter(vector);
	if (result == DOCA_SUCCESS)
		work(vector);
	else
		fail(vector, result);
}

/* ---- a share of each ---- */

static void check_left(struct vector *vector)
{
	if (!vector->ended && vector->stage == VECTOR_LEAVING && vector->num_left == vector->shape.num_ranks)
		end(vector, DOCA_SUCCESS, false);
}

static void begin_share(struct vector *vector)
{
	uint64_t total = vector->shape.total, parts = (total + SHARE_ALIGN - 1) / SHARE_ALIGN;
	uint32_t rank = vector->command.rank, num = vector->shape.num_ranks;
	vector->command.shape.algorithm = ALLREDUCE_DIRECT;
	vector->at = parts * rank / num * SHARE_ALIGN;
	vector->end = parts * (rank + 1) / num * SHARE_ALIGN;
	if (vector->end > total)
		vector->end = total;
	vector->stage = VECTOR_SHARING;
	doca_error_t result = share_enter(vector);
	if (result == DOCA_SUCCESS)
		work(vector);
	else
		fail(vector, result);
}

static void share(struct vector *vector)
{
	doca_error_t result = share_step(vector);
	if (result == DOCA_ERROR_AGAIN) {
		work(vector);
		return;
	}
	share_leave(vector);
	if (result != DOCA_SUCCESS) {
		fail(vector, result);
		return;
	}
	vector->stage = VECTOR_LEAVING;
	vector->num_left++;
	tell_all(vector, ALLREDUCE_LEFT, DOCA_SUCCESS, NULL, 0);
	check_left(vector);
}

/* ---- agreement ---- */

static uint64_t digest(const struct vector *vector)
{
	uint64_t sum = UINT64_C(0x51ed270b35ae2ac1);
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		sum = (sum ^ vector->parties[rank].offer.attachment) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 31;
	}
	return sum;
}

/* Of the processes as they are known, for an offer; 0: not of all. */
static uint64_t digest_of_known(const struct vector *vector)
{
	uint64_t sum = UINT64_C(0x51ed270b35ae2ac1);
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		const struct process *process = &vector->allreduce->processes[rank];
		if (vector->host == NULL || (rank != vector->command.rank && !process->proven))
			return 0;
		sum = (sum ^ (rank == vector->command.rank ? vector->host->attachment : process->attachment)) *
		      UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 31;
	}
	return sum;
}

static void judge(struct vector *vector)
{
	bool good = true;
	if (vector->ended || vector->stage != VECTOR_PROVING || vector->num_asked != 0 ||
	    vector->parties[vector->command.rank].judged)
		return;
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++)
		good &= rank == vector->command.rank ||
			process_is_proven(vector->allreduce, rank, vector->parties[rank].offer.attachment);
	vector->parties[vector->command.rank].judged = true;
	vector->num_judged++;
	vector->refused |= !good;
	tell_all(vector, ALLREDUCE_VERDICT, good ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED, NULL, 0);
}

static void check_judged(struct vector *vector)
{
	if (vector->ended || vector->stage != VECTOR_PROVING || vector->num_judged != vector->shape.num_ranks)
		return;
	if (vector->refused)
		go_in_pieces(vector, true);
	else
		begin_share(vector);
}

static void begin_proof(struct vector *vector)
{
	vector->stage = VECTOR_PROVING;
	for (uint32_t rank = 0; rank < vector->shape.num_ranks && !vector->ended; rank++) {
		struct party *party = &vector->parties[rank];
		const uint8_t *number =
			rank != vector->command.rank ? process_challenge(vector->allreduce, rank, &party->offer) : NULL;
		if (number == NULL)
			continue;
		party->asked = true;
		vector->num_asked++;
		tell(vector, rank, ALLREDUCE_CHALLENGE, DOCA_SUCCESS, number, ALLREDUCE_NUMBER_SIZE);
	}
	judge(vector);
	check_judged(vector);
}

static void check_offers(struct vector *vector)
{
	bool memories = true, known = true;
	if (vector->ended || vector->stage != VECTOR_OFFERED)
		return;
	if (vector->mismatched) {
		fail(vector, DOCA_ERROR_INVALID_VALUE);
		return;
	}
	if (vector->num_offered != vector->shape.num_ranks)
		return;
	uint64_t all = digest(vector);
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		memories &= vector->parties[rank].offer.attachment != 0;
		known &= vector->parties[rank].offer.known == all;
	}
	bool near = vector->shape.algorithm == ALLREDUCE_AUTO || vector->shape.algorithm == ALLREDUCE_DIRECT;
	if (!memories || !near)
		go_in_pieces(vector, memories);
	else if (known)
		begin_share(vector);
	else
		begin_proof(vector);
}

static void answer_challenge(struct vector *vector, uint32_t rank)
{
	doca_error_t result = vector->host != NULL ? host_write_number(vector->host, rank, vector->parties[rank].challenge)
						   : DOCA_ERROR_NOT_SUPPORTED;
	tell(vector, rank, ALLREDUCE_PROOF, result, NULL, 0);
}

/* ---- messages ---- */

static struct vector *make(struct allreduce *allreduce, uint64_t tag, const struct allreduce_shape *shape)
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

/* Of those that the host does not begin. */
static void give_up_oldest(struct allreduce *allreduce)
{
	const struct vector *vector, *oldest = NULL;
	LIST_FOREACH (vector, &allreduce->vectors, next)
		oldest = vector->stage == VECTOR_AWAITED ? vector : oldest;
	if (oldest != NULL)
		allreduce_fail_among(allreduce, oldest->command.tag, DOCA_ERROR_NO_MEMORY, oldest->shape.num_ranks);
}

/* The first of an allreduce that this worker's host has not begun. */
static struct vector *await(struct allreduce *allreduce, const struct allreduce_message *message)
{
	if (message->kind != ALLREDUCE_OFFER || allreduce_failed(allreduce, message->tag) != DOCA_SUCCESS)
		return NULL;
	if (allreduce->num_awaited == ALLREDUCE_AWAITED_MAX)
		give_up_oldest(allreduce);
	struct vector *vector = make(allreduce, message->tag, &message->shape);
	if (vector == NULL)
		allreduce_fail_among(allreduce, message->tag, DOCA_ERROR_NO_MEMORY, message->shape.num_ranks);
	return vector;
}

static void take_offer(struct vector *vector, struct party *party, const struct inbound *inbound)
{
	if (party->offered)
		return;
	party->offered = true;
	vector->num_offered++;
	if (allreduce_offer_parse(inbound->data, inbound->len, &inbound->message.shape, &party->offer) != DOCA_SUCCESS)
		vector->mismatched = true;
}

static void take(struct vector *vector, struct party *party, const struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;
	bool good = message->number == DOCA_SUCCESS;
	switch (message->kind) {
	case ALLREDUCE_OFFER:
		take_offer(vector, party, inbound);
		check_offers(vector);
		break;
	case ALLREDUCE_CHALLENGE:
		party->challenges = true;
		memcpy(party->challenge, inbound->data, sizeof(party->challenge));
		if (vector->stage != VECTOR_AWAITED)
			answer_challenge(vector, message->source);
		break;
	case ALLREDUCE_PROOF:
		if (!party->asked)
			break;
		party->asked = false;
		vector->num_asked--;
		process_check(vector->allreduce, message->source, vector->command.rank,
			      good ? DOCA_SUCCESS : allreduce_known_error(message->number));
		judge(vector);
		check_judged(vector);
		break;
	case ALLREDUCE_VERDICT:
		vector->num_judged += !party->judged;
		party->judged = true;
		vector->refused |= !good;
		check_judged(vector);
		break;
	default:
		vector->num_left += !party->left;
		party->left = true;
		check_left(vector);
	}
}

void vectors_take(struct allreduce *allreduce, const struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;
	if (inbound->lacks_data) {
		allreduce_fail_among(allreduce, message->tag, DOCA_ERROR_NO_MEMORY, message->shape.num_ranks);
		return;
	}
	struct vector *vector = find_for(allreduce, message);
	if (vector == NULL)
		vector = await(allreduce, message);
	if (vector == NULL)
		return;
	bool own = vector->stage != VECTOR_AWAITED && message->source == vector->command.rank;
	vector->mismatched |= memcmp(&message->shape, &vector->shape, sizeof(vector->shape)) != 0;
	if (!vector->mismatched && !own)
		take(vector, &vector->parties[message->source], inbound);
	else
		check_offers(vector);
}

/* ---- the beginning ---- */

static doca_error_t connect_all(const struct vector *vector)
{
	for (uint32_t i = 1; i < vector->shape.num_ranks; i++) {
		doca_error_t result = network_connect(vector->allreduce, (vector->command.rank + i) % vector->shape.num_ranks);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static void begin(struct vector *vector)
{
	struct party *own = vector->shape.num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX ? &vector->parties[vector->command.rank] : NULL;
	if (own == NULL) { /* too many to ask: each by itself, as if not all memories were reached */
		go_in_pieces(vector, false);
		return;
	}
	vector->stage = VECTOR_OFFERED;
	vector->num_offered += !own->offered;
	own->offered = true;
	own->offer = (struct allreduce_offer){.known = digest_of_known(vector), .place = vector->place};
	if (vector->host != NULL) {
		own->offer.attachment = vector->host->attachment;
		own->offer.process = (uint64_t)vector->host->reach.pid;
		own->offer.board = vector->host->board;
	}
	tell_all(vector, ALLREDUCE_OFFER, DOCA_SUCCESS, &own->offer, sizeof(own->offer));
	for (uint32_t rank = 0; rank < vector->shape.num_ranks && !vector->ended; rank++) {
		if (vector->parties[rank].challenges)
			answer_challenge(vector, rank);
	}
	check_offers(vector);
}

static void adopt(struct vector *vector, const struct urom_worker_cmd_desc *desc, const struct allreduce_command *command,
		  const struct allreduce_vector *body, struct urom_worker_notif_desc *notification)
{
	struct allreduce *allreduce = vector->allreduce;
	bool same = memcmp(&vector->shape, &command->shape, sizeof(vector->shape)) == 0;
	vector->stage = VECTOR_OFFERED;
	allreduce->num_awaited--;
	vector->command = *command;
	vector->notification = notification;
	vector->client = desc->dest_id;
	vector->host = body->attachment != 0 ? hosts_find(allreduce, desc->dest_id, body->attachment) : NULL;
	vector->place = body->place;
	doca_error_t result = command->shape.num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX ? connect_all(vector) : DOCA_SUCCESS;
	if (result == DOCA_SUCCESS && (!same || vector->mismatched || (body->attachment != 0 && vector->host == NULL)))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS)
		begin(vector);
	else
		fail(vector, result);
}

doca_error_t vector_start(struct allreduce *allreduce, const struct urom_worker_cmd_desc *desc,
			  const struct allreduce_command *command, const void *body, size_t len)
{
	struct allreduce_vector wanted;
	struct vector *vector = find(allreduce, command->tag, true);
	bool many = command->shape.num_ranks > ALLREDUCE_DIRECT_RANKS_MAX;
	if (allreduce_vector_parse(body, len, &command->shape, &wanted) != DOCA_SUCCESS || (many && wanted.attachment == 0) ||
	    find(allreduce, command->tag, false) != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	struct urom_worker_notif_desc *notification = answer_create(desc, sizeof(struct allreduce_done));
	if (notification != NULL && vector == NULL)
		vector = make(allreduce, command->tag, &command->shape);
	if (notification == NULL || vector == NULL) {
		free(notification);
		return DOCA_ERROR_NO_MEMORY;
	}
	adopt(vector, desc, command, &wanted, notification);
	return DOCA_SUCCESS;
}

/* ---- all ---- */

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
			share(vector);
		else
			feed(vector);
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
		end(vector, status, false);
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
