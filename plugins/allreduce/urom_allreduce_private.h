/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the host's half.
 *
 *   urom_allreduce.c  allreduces and their commands
 *   comm.c            comms: access of the worker to this process's memory, and its guards
 */
#ifndef UROM_ALLREDUCE_PRIVATE_H
#define UROM_ALLREDUCE_PRIVATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "allreduce_proto.h"
#include "urom_allreduce.h"

struct allreduce {
	TAILQ_ENTRY(allreduce) next;
	struct urom_allreduce_comm *comm;
	struct allreduce_command command; /* of the next piece */
	const uint8_t *send;
	uint8_t *receive;
	struct allreduce_guard *guard; /* NULL: commands carry the vector */
	bool waiting;		       /* until the comm's way is known */
	uint32_t outstanding;	       /* commands */
	doca_error_t result;
	urom_allreduce_finished finished;
	union doca_data cookie;
};

struct urom_allreduce_comm {
	struct doca_urom_worker *worker;
	uint32_t rank, num_ranks;
	uint32_t num_inflight, inflight_max;
	uint32_t share; /* commands in flight of one allreduce, so that none can block another */
	TAILQ_HEAD(, allreduce) inflight;
	enum urom_allreduce_way way;
	struct allreduce_board *board;
	struct allreduce_attached attached;
	uint64_t serial; /* of the last guard */
	bool proving, admitted, destroyed, detaching;
};

struct pending {     /* stored in the task's 32 bytes */
	void *owner; /* an allreduce, or the comm */
	uint64_t offset;
	uint64_t len;
};

/* ---- urom_allreduce.c ---- */

typedef void (*command_done)(struct doca_urom_worker_cmd_task *task, union doca_data task_user_data,
			     union doca_data ctx_user_data);

doca_error_t take_task(struct urom_allreduce_comm *comm, struct doca_urom_worker_cmd_task **task, uint8_t **place, size_t *room);
/* Submits a command and the len bytes after it, which are at place already. */
doca_error_t submit(struct doca_urom_worker_cmd_task *task, uint8_t *place, const struct allreduce_command *command, size_t len,
		    const struct pending *pending, command_done done);
/* Returns the payload of the answer; NULL: none. */
const void *response_of(struct doca_urom_worker_cmd_task *task, size_t *len);
/* Starts waiting allreduces. */
void begin_waiting(struct urom_allreduce_comm *comm);

/* ---- comm.c ---- */

/* Returns a guard for a vector; there is one for each allreduce in flight. */
struct allreduce_guard *guard_open(struct urom_allreduce_comm *comm);
/* After this no worker accesses the vector. */
void guard_close(struct allreduce_guard *guard);

#endif
