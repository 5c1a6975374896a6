/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time limit on a peer's answer that a busy machine does not exceed.
 *
 * Only the time counts in which the peer shows no sign of life. A sign of life is whatever the caller heard from it
 * (sf_liveness_heard), and a thread of its process that runs, or waits for a processor or for a disk. So a peer that is
 * slow is waited for, and one that is stopped, or sleeps over the question, is given up. The caller's own stops do not count
 *  *either.
 *
 *	struct sf_liveness liveness;
 *
 *	sf_liveness_begin(&liveness);
 *	while (!answered && !sf_liveness_lost(&liveness, pid, limit_ns))
 *		wait for the answer, sf_liveness_interval(limit_ns) at most
 */
#ifndef SF_BASE_LIVENESS_H
#define SF_BASE_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/visibility.h"

/* A peer that runs and sends nothing for so long does not speak our protocol. */
#define SF_LIVENESS_MAX_NS UINT64_C(60000000000)
/* Factor on the limit for a peer whose process is not visible: in another container, or on another machine. */
#define SF_LIVENESS_UNSEEN 5

struct sf_liveness {
	uint64_t begun_ns, looked_ns, silent_ns;
};

void SF_API sf_liveness_begin(struct sf_liveness *liveness);

/*
 * Returns true once the peer was silent for limit_ns. pid is the peer's process, which the caller knows not to be reused; 0 if
 * unknown. Cheap until sf_liveness_interval has passed since the last check; then it reads /proc.
 */
bool SF_API sf_liveness_lost(struct sf_liveness *liveness, pid_t pid, uint64_t limit_ns);

/* The same for a thread of this process. */
bool SF_API sf_liveness_thread_lost(struct sf_liveness *liveness, pid_t tid, uint64_t limit_ns);

/* The caller received something from the peer. */
static inline void sf_liveness_heard(struct sf_liveness *liveness)
{
	liveness->silent_ns = 0;
}

static inline uint64_t sf_liveness_interval(uint64_t limit_ns)
{
	return limit_ns / 8;
}

enum sf_process_state {
	SF_PROCESS_UNSEEN, /* ended, or not visible to us */
	SF_PROCESS_IDLE,   /* stopped, or all of its threads sleep */
	SF_PROCESS_ACTIVE, /* a thread runs, or waits for a CPU or a disk */
};

enum sf_process_state SF_API sf_process_state(pid_t pid);

/* Of a thread of this process. */
enum sf_process_state sf_thread_state(pid_t tid);

/* Returns whether all threads of this process but the calling one sleep. */
bool sf_process_rests(void);

/* By a signal or a debugger. False also for a process that is gone, or not ours to see. */
bool sf_process_is_stopped(pid_t pid);

#endif
