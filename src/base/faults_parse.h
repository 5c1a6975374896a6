/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of SOFTFIELD_FAULTS: docs/faults.md has the grammar. */
#ifndef SF_BASE_FAULTS_PARSE_H
#define SF_BASE_FAULTS_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"

/* Where a fault can happen. The table in faults_parse.c gives the kind of object of each. */
enum sf_fault_point {
	SF_FAULT_SUBMIT_AGAIN,
	SF_FAULT_TASK_FAIL,
	SF_FAULT_COPY_SLOW,
	SF_FAULT_ALLOC_TASK,
	SF_FAULT_ALLOC_POOL,
	SF_FAULT_ALLOC_BUF,
	SF_FAULT_NOTIFY_LOST,
	SF_FAULT_NOTIFY_LATE,
	SF_FAULT_DEVICE_OPEN,
	SF_FAULT_DEVICE_REMOVE,
	SF_FAULT_CONN_AGAIN,
	SF_FAULT_CONN_RNR,
	SF_FAULT_CONN_RESET,
	SF_FAULT_CONN_REFUSE,
	SF_FAULT_OP_FAIL,
	SF_FAULT_PEER_LATE,
	SF_FAULT_PEER_STOP,
	SF_FAULT_PEER_DEAD,
	SF_FAULT_POLL_PAUSE,
	SF_FAULT_REGION_MEMORY,
	SF_FAULT_IMPORT_LATE,
	SF_FAULT_ACCESS_FAIL,
	SF_FAULT_POINTS
};

enum sf_fault_kind {
	SF_FAULT_CTX,
	SF_FAULT_PE,
	SF_FAULT_BUFS, /* an inventory or a pool */
	SF_FAULT_DEVICE,
	SF_FAULT_DOMAIN,
	SF_FAULT_EP,
	SF_FAULT_CONN,
	SF_FAULT_KINDS
};

#define SF_FAULT_RULES_MAX 32
#define SF_FAULT_NAME_MAX 64 /* length of the values of on= and peer=, with the NUL */
#define SF_FAULT_ERROR_MAX 192
#define SF_FAULT_ALWAYS 1000000u
#define SF_FAULT_MS_MAX 3600000u

/* Which occurrences fail, of which objects. */
struct sf_fault_rule {
	enum sf_fault_point point;
	uint32_t rate; /* of SF_FAULT_ALWAYS */
	uint32_t ms;
	uint64_t nth, after, every, count; /* 0: not given */
	char on[SF_FAULT_NAME_MAX], peer[SF_FAULT_NAME_MAX];
};

struct sf_fault_plan {
	uint64_t seed;
	bool has_seed;
	uint32_t num_rules;
	struct sf_fault_rule rules[SF_FAULT_RULES_MAX];
};

/*
 * Returns false if the text is wrong; error then says why, with the wrong word and the closest known one. The text need not end
 * with a NUL.
 */
SF_API bool sf_fault_plan_parse(const char *text, size_t len, struct sf_fault_plan *plan, char error[SF_FAULT_ERROR_MAX]);

SF_API const char *sf_fault_point_name(enum sf_fault_point point);
enum sf_fault_kind sf_fault_point_kind(enum sf_fault_point point);

#endif
