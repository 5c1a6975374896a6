/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's share of a vector: it reads it from all ranks' memories, reduces it in the order of the ranks, and writes it to
 * all. Each element is reduced only once, so all ranks get the same bits.
 */
#include <unistd.h>

#include "worker_allreduce.h"

#define STEP_BYTES (4 * ALLREDUCE_CHUNK) /* bytes before the worker does other work */

static const struct process_memory *memory_of(const struct vector *vector, uint32_t rank)
{
	return rank == vector->command.rank ? &vector->host->memory : &vector->allreduce->processes[rank].memory;
}

/* ---- guards ---- */

static uint64_t busy_at(const struct allreduce_place *place, uint32_t slot)
{
	return place->guard + offsetof(struct allreduce_guard, busy) + slot * sizeof(uint32_t);
}

static doca_error_t guard_enter(const struct process_memory *memory, const struct allreduce_place *place, uint32_t slot)
{
	const uint32_t pid = (uint32_t)getpid(), nobody = 0;
	uint64_t serial;

	if (!process_memory_is_alive(memory))
		return DOCA_ERROR_CONNECTION_ABORTED;
	doca_error_t result = process_memory_write(memory, busy_at(place, slot), &pid, sizeof(pid));
	if (result == DOCA_SUCCESS)
		result = process_memory_read(memory, &serial, place->guard + offsetof(struct allreduce_guard, serial),
					     sizeof(serial));
	if (result != DOCA_SUCCESS || serial == place->serial)
		return result;
	(void)process_memory_write(memory, busy_at(place, slot), &nobody, sizeof(nobody));
	return DOCA_ERROR_CONNECTION_ABORTED; /* the rank has abandoned it */
}

static void guard_leave(const struct process_memory *memory, const struct allreduce_place *place, uint32_t slot)
{
	const uint32_t nobody = 0;

	(void)process_memory_write(memory, busy_at(place, slot), &nobody, sizeof(nobody));
}

doca_error_t share_enter(struct vector *vector)
{
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		struct party *party = &vector->parties[rank];
		doca_error_t result = guard_enter(memory_of(vector, rank), &party->offer.place, vector->command.rank);

		if (result != DOCA_SUCCESS)
			return result;
		party->entered = true;
	}
	return DOCA_SUCCESS;
}

void share_leave(struct vector *vector)
{
	for (uint32_t rank = 0; rank < vector->shape.num_ranks; rank++) {
		struct party *party = &vector->parties[rank];

		if (party->entered)
			guard_leave(memory_of(vector, rank), &party->offer.place, vector->command.rank);
		party->entered = false;
	}
}

doca_error_t own_enter(struct vector *vector)
{
	doca_error_t result = guard_enter(&vector->host->memory, &vector->place, ALLREDUCE_DIRECT_RANKS_MAX);

	vector->entered = result == DOCA_SUCCESS;
	return result;
}

void own_leave(struct vector *vector)
{
	if (vector->entered)
		guard_leave(&vector->host->memory, &vector->place, ALLREDUCE_DIRECT_RANKS_MAX);
	vector->entered = false;
}

/* ---- the share ---- */

static doca_error_t reduce_chunk(struct vector *vector, size_t len)
{
	uint8_t *sum = vector->allreduce->chunks, *one = sum + ALLREDUCE_CHUNK;
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t rank = 0; rank < vector->shape.num_ranks && result == DOCA_SUCCESS; rank++) {
		result = process_memory_read(memory_of(vector, rank), rank == 0 ? sum : one,
					     vector->parties[rank].offer.place.send + vector->at, len);
		if (rank != 0 && result == DOCA_SUCCESS)
			reduce(vector->shape.type, vector->shape.op, sum, one, len);
	}
	for (uint32_t rank = 0; rank < vector->shape.num_ranks && result == DOCA_SUCCESS; rank++)
		result = process_memory_write(memory_of(vector, rank), vector->parties[rank].offer.place.receive + vector->at,
					      sum, len);
	return result;
}

doca_error_t share_step(struct vector *vector)
{
	for (size_t done = 0, len; vector->at < vector->end; done += len, vector->at += len) {
		if (done >= STEP_BYTES)
			return DOCA_ERROR_AGAIN;
		uint64_t left = vector->end - vector->at;
		len = left < ALLREDUCE_CHUNK ? (size_t)left : ALLREDUCE_CHUNK;
		doca_error_t result = reduce_chunk(vector, len);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}
