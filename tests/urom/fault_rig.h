/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers with worker_fault, and what they are asked to do wrong. */
#ifndef TEST_FAULT_RIG_H
#define TEST_FAULT_RIG_H

#include "fault_proto.h"
#include "support/urom_rig.h"

#define FAULT_PLUGIN "worker_fault"

struct fault_ask {
	int done;
	doca_error_t status;
	uint64_t value; /* of the answer, if it is a success */
	size_t size;
};

/* Sends the command; the ask is done when the task is. It goes on by itself and frees its task. */
doca_error_t fault_submit(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
			  struct fault_ask *ask);
/* The same, and waits: the task's status. */
doca_error_t fault_ask(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
		       uint64_t *value);
/* A worker that is RUNNING, with FAULT=at in its environment unless that is NULL. */
struct doca_urom_worker *fault_worker(struct urom_rig *rig, const char *at);
/* Waits until it is IDLE, and destroys it. */
bool fault_await_end(struct urom_rig *rig, struct doca_urom_worker *worker);

#endif
