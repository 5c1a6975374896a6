/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proof of access to memory. A sender can claim any process id and address, and a worker may have more permissions than the
 * sender. So a worker trusts a claim only after a random number of its own has appeared at that address in that process: its
 * writer could write to that memory anyway. A rank's process writes the number of its own worker. The numbers of other
 * workers are written by the rank's worker, to which its process has proven itself, so the rank need not act.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <doca_log.h>

#include "worker_allreduce.h"

DOCA_LOG_REGISTER(UROM_ALLREDUCE);

static uint64_t number_at(uint64_t board, uint32_t slot)
{
	return board + offsetof(struct allreduce_board, numbers) + (uint64_t)slot * ALLREDUCE_NUMBER_SIZE;
}

static doca_error_t check_number(const struct process_memory *memory, uint64_t board, uint32_t slot, const uint8_t *number)
{
	uint8_t found[ALLREDUCE_NUMBER_SIZE];
	doca_error_t result = process_memory_read(memory, found, number_at(board, slot), sizeof(found));

	if (result == DOCA_SUCCESS && memcmp(found, number, sizeof(found)) != 0)
		result = DOCA_ERROR_NOT_FOUND;
	return result == DOCA_SUCCESS && !process_memory_is_alive(memory) ? DOCA_ERROR_CONNECTION_ABORTED : result;
}

/* ---- the worker's own ranks ---- */

static struct host *host_find(struct allreduce *allreduce, uint64_t client, uint64_t attachment)
{
	struct host *host;

	LIST_FOREACH (host, &allreduce->hosts, next) {
		if (host->client == client && host->attachment == attachment)
			return host;
	}
	return NULL;
}

struct host *hosts_find(struct allreduce *allreduce, uint64_t client, uint64_t attachment)
{
	struct host *host = host_find(allreduce, client, attachment);

	return host != NULL && host->proven ? host : NULL;
}

static void host_drop(struct allreduce *allreduce, struct host *host)
{
	LIST_REMOVE(host, next);
	assert(allreduce->num_hosts > 0);
	allreduce->num_hosts--;
	process_memory_close(&host->memory);
	free(host);
}

doca_error_t hosts_attach(struct allreduce *allreduce, uint64_t client, const struct allreduce_attach *attach,
			  struct allreduce_attached *attached)
{
	struct host made = {.client = client, .board = attach->board};

	if (allreduce->num_hosts == ALLREDUCE_HOSTS_MAX)
		return DOCA_ERROR_FULL;
	if (getrandom(made.number, sizeof(made.number), 0) != sizeof(made.number) ||
	    getrandom(&made.attachment, sizeof(made.attachment), 0) != sizeof(made.attachment))
		return DOCA_ERROR_OPERATING_SYSTEM;
	made.attachment |= 1; /* 0 means none */
	doca_error_t result = process_memory_open(&made.memory, attach->process);
	if (result != DOCA_SUCCESS)
		return result;
	struct host *host = (struct host *)malloc(sizeof(*host));
	if (host == NULL) {
		process_memory_close(&made.memory);
		return DOCA_ERROR_NO_MEMORY;
	}
	*host = made;
	LIST_INSERT_HEAD(&allreduce->hosts, host, next);
	allreduce->num_hosts++;
	attached->attachment = host->attachment;
	memcpy(attached->number, host->number, sizeof(host->number));
	return DOCA_SUCCESS;
}

doca_error_t hosts_prove(struct allreduce *allreduce, uint64_t client, uint64_t attachment)
{
	struct host *host = host_find(allreduce, client, attachment);

	if (host == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	doca_error_t result = check_number(&host->memory, host->board, ALLREDUCE_DIRECT_RANKS_MAX, host->number);
	host->proven = result == DOCA_SUCCESS;
	return result;
}

doca_error_t hosts_detach(struct allreduce *allreduce, uint64_t client, uint64_t attachment)
{
	struct host *host = host_find(allreduce, client, attachment);

	if (host == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	struct vector *vector;
	LIST_FOREACH (vector, &allreduce->vectors, next) {
		if (vector->host == host)
			return DOCA_ERROR_IN_USE;
	}
	host_drop(allreduce, host);
	return DOCA_SUCCESS;
}

void hosts_forget(struct allreduce *allreduce, uint64_t client)
{
	for (struct host *host = LIST_FIRST(&allreduce->hosts), *next; host != NULL; host = next) {
		next = LIST_NEXT(host, next);
		if (host->client == client)
			host_drop(allreduce, host);
	}
}

doca_error_t host_write_number(const struct host *host, uint32_t rank, const uint8_t number[ALLREDUCE_NUMBER_SIZE])
{
	return rank < ALLREDUCE_DIRECT_RANKS_MAX
		       ? process_memory_write(&host->memory, number_at(host->board, rank), number, ALLREDUCE_NUMBER_SIZE)
		       : DOCA_ERROR_INVALID_VALUE;
}

/* ---- other workers' ---- */

static void process_reject(struct process *process, uint32_t rank, doca_error_t why)
{
	process->refused = true;
	process->proven = false;
	DOCA_LOG_INFO("cannot access the memory of rank %u (%s): its vectors are sent between the workers", rank,
		      doca_error_get_name(why));
}

const uint8_t *process_challenge(struct allreduce *allreduce, uint32_t rank, const struct allreduce_offer *offer)
{
	struct process *process = &allreduce->processes[rank];

	if (process->attachment == offer->attachment) /* another vector may have challenged it */
		return process->proven || process->refused ? NULL : process->number;
	process_memory_close(&process->memory);
	*process = (struct process){.attachment = offer->attachment, .board = offer->board};
	doca_error_t result = process_memory_open(&process->memory, offer->process);
	if (result == DOCA_SUCCESS && getrandom(process->number, sizeof(process->number), 0) != sizeof(process->number))
		result = DOCA_ERROR_OPERATING_SYSTEM;
	if (result == DOCA_SUCCESS)
		return process->number;
	process_reject(process, rank, result);
	return NULL;
}

void process_check(struct allreduce *allreduce, uint32_t rank, uint32_t my_rank, doca_error_t status)
{
	struct process *process = &allreduce->processes[rank];

	if (process->attachment == 0 || process->proven || process->refused)
		return;
	doca_error_t result =
		status == DOCA_SUCCESS ? check_number(&process->memory, process->board, my_rank, process->number) : status;
	process->proven = result == DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		process_reject(process, rank, result);
}

bool process_is_proven(const struct allreduce *allreduce, uint32_t rank, uint64_t attachment)
{
	const struct process *process = &allreduce->processes[rank];

	return attachment != 0 && process->attachment == attachment && process->proven;
}

void processes_close(struct allreduce *allreduce)
{
	for (uint32_t rank = 0; rank < ALLREDUCE_DIRECT_RANKS_MAX; rank++) {
		if (allreduce->processes[rank].attachment != 0)
			process_memory_close(&allreduce->processes[rank].memory);
	}
}
