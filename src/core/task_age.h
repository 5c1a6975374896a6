/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long tasks have been in flight, without a word or an instruction on the data path. The status thread looks at the tasks at
 * each tick and counts up the state of those in flight, from SF_TASK_INFLIGHT on. The next submit or completion overwrites it.
 * The count grows more slowly the higher it is, because a byte has to do.
 */
#ifndef SF_CORE_TASK_AGE_H
#define SF_CORE_TASK_AGE_H

#include "core/ctx.h"

/* Looks at the pool's tasks, at most *left, which it reduces. number: of this look, from 0 on. Returns how many are in flight,
 * and raises *looks to the number of earlier looks that saw the oldest in flight, at least. Only the status thread calls it. */
uint64_t sf_task_ages_look(const struct sf_task_pool *pool, uint64_t number, uint32_t *left, uint64_t *looks);

#endif
