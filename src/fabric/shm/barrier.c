/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/barrier.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/control/agent.h"
#include "fabric/shm/ring.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool barriers;

static void first_use(void)
{
#ifdef SYS_membarrier
	barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#endif
}

doca_error_t sf_shm_barrier_join(uint32_t *generation)
{
	pthread_once(&once, first_use);
	return sf_control_hold(generation);
}

bool sf_shm_barrier_is_possible(void)
{
	return barriers;
}

void sf_shm_barrier_run(void)
{
	SHM_FENCE(memory_order_seq_cst);
#ifdef SYS_membarrier
	if (barriers)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}
