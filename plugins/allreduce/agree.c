/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement on how to reduce a vector. Each worker sends an offer for its rank to all others; with all offers, all know the
 * same:
 *
 *   If each worker can access its rank's memory, and equal digests show that all have accessed all memories before, each
 *   reduces its share immediately.
 *   If not before, each challenges the processes it does not know and sends its verdict to all; if all verdicts are positive,
 *   the same follows.
 *   Otherwise the vector is sent in pieces, along a ring or a tree.
 */
#include <assert.h>
#include <string.h>

#include "worker_allreduce.h"

/* ---- agreement ---- */

#define DIGEST_BEGIN UINT64_C(0x51ed270b35ae2ac1)

static uint64_t digest_add(uint64_t sum, uint64_t attachment)
{
	sum = (sum ^ attachment) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 31;
}

static uint64_t offers_digest(const struct vector *vector)
{
	uint64_t sum = DIGEST_BEGIN;

	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++)
		sum = digest_add(sum, vector->parties[rank].offer.attachment);
	return sum;
}

/* Digest of the known processes, for an offer; 0: some are unknown. */
static uint64_t known_digest(const struct vector *vector)
{
	uint64_t sum = DIGEST_BEGIN;

	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		const struct process *process = &vector->allreduce->processes[rank];

		if (vector->host == NULL || (rank != vector->command.rank && !process->proven))
			return 0;
		sum = digest_add(sum, rank == vector->command.rank ? vector->host->attachment : process->attachment);
	}
	return sum;
}

static void verdict_send(struct vector *vector)
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
	vector_send_all(vector, ALLREDUCE_VERDICT, good ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED, NULL, 0);
}

static void check_judged(struct vector *vector)
{
	if (vector->ended || vector->stage != VECTOR_PROVING || vector->num_judged != vector->shape.num_ranks)
		return;
	if (vector->refused)
		vector_go_in_pieces(vector, true);
	else
		vector_begin_share(vector);
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
		vector_send(vector, rank, ALLREDUCE_CHALLENGE, DOCA_SUCCESS, number, ALLREDUCE_NUMBER_SIZE);
	}
	verdict_send(vector);
	check_judged(vector);
}

static void check_offers(struct vector *vector)
{
	bool memories = true, known = true;

	if (vector->ended || vector->stage != VECTOR_OFFERED)
		return;
	if (vector->mismatched) {
		vector_fail(vector, DOCA_ERROR_INVALID_VALUE);
		return;
	}
	if (vector->num_offered != vector->shape.num_ranks)
		return;
	uint64_t all = offers_digest(vector);
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		memories &= vector->parties[rank].offer.attachment != 0;
		known &= vector->parties[rank].offer.known == all;
	}
	bool near = vector->shape.algorithm == ALLREDUCE_AUTO || vector->shape.algorithm == ALLREDUCE_DIRECT;
	if (!memories || !near)
		vector_go_in_pieces(vector, memories);
	else if (known)
		vector_begin_share(vector);
	else
		begin_proof(vector);
}

static void answer_challenge(struct vector *vector, uint32_t rank)
{
	doca_error_t result = vector->host != NULL ? host_write_number(vector->host, rank, vector->parties[rank].challenge)
						   : DOCA_ERROR_NOT_SUPPORTED;

	vector_send(vector, rank, ALLREDUCE_PROOF, result, NULL, 0);
}

/* ---- messages ---- */

static void offer_handle(struct vector *vector, struct party *party, const struct inbound *inbound)
{
	if (party->offered)
		return;
	party->offered = true;
	vector->num_offered++;
	if (allreduce_offer_parse(inbound->data, inbound->len, &inbound->message.shape, &party->offer) != DOCA_SUCCESS)
		vector->mismatched = true;
}

static void message_handle(struct vector *vector, struct party *party, const struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;
	bool good = message->number == DOCA_SUCCESS;

	switch (message->kind) {
	case ALLREDUCE_OFFER:
		offer_handle(vector, party, inbound);
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
		assert(vector->num_asked > 0);
		vector->num_asked--;
		process_check(vector->allreduce, message->source, vector->command.rank,
			      good ? DOCA_SUCCESS : allreduce_known_error(message->number));
		verdict_send(vector);
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
		vector_check_left(vector);
	}
}

void agree_handle_message(struct vector *vector, const struct inbound *inbound)
{
	const struct allreduce_message *message = &inbound->message;
	bool own = vector->stage != VECTOR_AWAITED && message->source == vector->command.rank;

	vector->mismatched |= memcmp(&message->shape, &vector->shape, sizeof(vector->shape)) != 0;
	if (!vector->mismatched && !own)
		message_handle(vector, &vector->parties[message->source], inbound);
	else
		check_offers(vector);
}

void agree_offer(struct vector *vector)
{
	struct party *own = &vector->parties[vector->command.rank];

	vector->num_offered += !own->offered;
	own->offered = true;
	own->offer = (struct allreduce_offer){.known = known_digest(vector), .place = vector->place};
	if (vector->host != NULL) {
		own->offer.attachment = vector->host->attachment;
		own->offer.process = (uint64_t)vector->host->memory.pid;
		own->offer.board = vector->host->board;
	}
	vector_send_all(vector, ALLREDUCE_OFFER, DOCA_SUCCESS, &own->offer, sizeof(own->offer));
	for (uint32_t rank = 0; rank < vector->shape.num_ranks && !vector->ended; rank++) {
		if (vector->parties[rank].challenges)
			answer_challenge(vector, rank);
	}
	check_offers(vector);
}
