/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield_gpu_launch_*: one launch interface for both kinds of GPU. */
#include <stdlib.h>
#include <time.h>

#include <softfield/gpu.h>

#include "base/clock.h"
#include "base/log.h"
#include "gpu/backend.h"

#define WAIT_STEP_MAX_NS 1000000 /* poll interval of a running kernel */

struct softfield_launch {
	struct doca_gpu *gpu;
	void *state;
	doca_error_t result; /* IN_PROGRESS while it runs */
	const char *error;
};

doca_error_t softfield_gpu_launch(struct doca_gpu *gpu, const struct softfield_kernel *kernel, uint32_t grid, uint32_t block,
				  const void *args, size_t args_size, struct softfield_launch **launch)
{
	struct softfield_launch *l;
	doca_error_t result;

	if (gpu == NULL || kernel == NULL || kernel->name == NULL || args == NULL || launch == NULL) {
		SF_LOG_ERR("launch: an argument is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (grid == 0 || block == 0 || args_size == 0 || args_size > SOFTFIELD_ARGS_MAX) {
		SF_LOG_ERR("launch of %s: %u blocks, %u threads, %zu bytes of argument (at most %d)", kernel->name, grid, block,
			   args_size, SOFTFIELD_ARGS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return DOCA_ERROR_NO_MEMORY;
	l->gpu = gpu;
	l->error = "";
	l->result = DOCA_ERROR_IN_PROGRESS;
	result = gpu->ops->launch(gpu, kernel, grid, block, args, args_size, &l->state);
	if (result != DOCA_SUCCESS) {
		free(l);
		return result;
	}
	__atomic_add_fetch(&gpu->users, 1, __ATOMIC_RELAXED);
	*launch = l;
	return DOCA_SUCCESS;
}

doca_error_t softfield_gpu_launch_query(struct softfield_launch *launch)
{
	if (launch == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (launch->result == DOCA_ERROR_IN_PROGRESS) {
		launch->result = launch->gpu->ops->launch_query(launch->gpu, launch->state, &launch->error);
		if (launch->result == DOCA_ERROR_IO_FAILED)
			SF_LOG_ERR("a kernel on gpu %s faulted: %s; this process cannot use the gpu any more: stop and destroy "
				   "the objects on it",
				   launch->gpu->pci_addr, launch->error);
	}
	return launch->result;
}

doca_error_t softfield_gpu_launch_wait(struct softfield_launch *launch, int timeout_ms)
{
	int64_t deadline = (int64_t)sf_now_ns() + (int64_t)timeout_ms * 1000000;
	struct timespec step = {0, 1000};
	doca_error_t result;

	while ((result = softfield_gpu_launch_query(launch)) == DOCA_ERROR_IN_PROGRESS) {
		if (timeout_ms >= 0 && (int64_t)sf_now_ns() >= deadline)
			return DOCA_ERROR_TIME_OUT;
		nanosleep(&step, NULL);
		if (step.tv_nsec * 2 <= WAIT_STEP_MAX_NS)
			step.tv_nsec *= 2;
	}
	return result;
}

const char *softfield_gpu_launch_error(const struct softfield_launch *launch)
{
	return launch != NULL ? launch->error : "";
}

doca_error_t softfield_gpu_launch_destroy(struct softfield_launch *launch)
{
	if (launch == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	if (softfield_gpu_launch_query(launch) == DOCA_ERROR_IN_PROGRESS) {
		SF_LOG_ERR("the kernel runs; set its stop flag and wait for it, then destroy the launch");
		return DOCA_ERROR_IN_USE;
	}
	launch->gpu->ops->launch_free(launch->gpu, launch->state);
	__atomic_sub_fetch(&launch->gpu->users, 1, __ATOMIC_RELEASE);
	free(launch);
	return DOCA_SUCCESS;
}
