/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers with worker_fault, and requests for its faults. */
#ifndef TEST_FAULT_RIG_H
#define TEST_FAULT_RIG_H

#include "fault_proto.h"
#include "support/urom_rig.h"

#define FAULT_PLUGIN "worker_fault"

struct fault_ask {
	int done;
	doca_error_t status;
	uint64_t value; /* the answer's value, if the status is DOCA_SUCCESS */
	size_t size;
};

/* Submits the command. ask->done is set when the task completes; the task is freed then. */
doca_error_t fault_submit(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
			  struct fault_ask *ask);
/* Submits the command and waits. Returns the task's status. */
doca_error_t fault_ask(struct urom_rig *rig, struct doca_urom_worker *worker, enum fault_what what, enum fault_where where,
		       uint64_t *value);
/* Returns a RUNNING worker, with FAULT=at in its environment unless at is NULL. */
struct doca_urom_worker *fault_worker(struct urom_rig *rig, const char *at);
/* Waits until the worker is IDLE, and destroys it. */
bool fault_await_end(struct urom_rig *rig, struct doca_urom_worker *worker);

#endif
