/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/offload.h"

#include <assert.h>
#include <sched.h>
#include <sys/eventfd.h>

doca_error_t sf_offload_start(struct sf_offload *offload, const struct doca_ctx *ctx, const struct doca_dev *dev)
{
	*offload = (struct sf_offload){.event_fd = sf_ctx_event_fd(ctx)};
	assert(offload->num_handed == 0);
	offload->last = &offload->first;
	return sf_engine_hold(dev, &offload->engine);
}

void sf_offload_cancel(struct sf_offload *offload)
{
	atomic_store_explicit(&offload->cancelled, true, memory_order_relaxed);
}

/* Programs expect IDLE in the same call in which the last task is freed. So this waits for the thread that finished the task,
 * which has only to release the ctx. */
bool sf_offload_drained(const struct sf_offload *offload)
{
	if (offload->num_handed != 0)
		return false;
	while (atomic_load_explicit(&offload->num_busy, memory_order_acquire) != 0)
		sched_yield();
	return true;
}

void sf_offload_stop(struct sf_offload *offload)
{
	assert(offload->num_handed == 0 && atomic_load(&offload->num_busy) == 0);
	sf_engine_release(offload->engine);
	offload->engine = NULL;
}

/* Does not run tasks that follow a failed one, or any during a stop: they will be flushed. */
void sf_offload_send_pending(struct sf_offload *offload, const struct doca_ctx *ctx, const struct sf_offload_ops *ops)
{
	struct doca_task *task = offload->early != NULL ? offload->early->next : offload->first;

	if (ctx->cancelled || (offload->early != NULL && offload->early->status != DOCA_SUCCESS) ||
	    (offload->in_order && offload->num_handed != 0))
		return;
	for (uint32_t i = 0; i < SF_OFFLOAD_BUDGET && task != NULL; i++, task = task->next) {
		doca_error_t status = sf_offload_run(offload, task, ops);

		if (status == DOCA_ERROR_IN_PROGRESS)
			return;
		task->status = status;
		offload->early = task;
		if (status != DOCA_SUCCESS)
			return;
	}
}

/* ---- on the engine ---- */

/* Called after the last part: returns the task to its ctx and wakes a sleeping program. num_busy must be decremented last. */
static void task_finish(struct sf_offload *offload, struct doca_task *task)
{
	struct doca_task *before = atomic_load_explicit(&offload->finished, memory_order_relaxed);

	do
		task->next = before;
	while (!atomic_compare_exchange_weak(&offload->finished, &before, task));
	if (atomic_exchange(&offload->armed, false))
		eventfd_write(offload->event_fd, 1);
	assert(atomic_load(&offload->num_busy) > 0);
	atomic_fetch_sub_explicit(&offload->num_busy, 1, memory_order_release);
}

static void run_part(struct sf_engine_job *base, uint32_t part, uint32_t thread)
{
	struct sf_offload_job *job = (struct sf_offload_job *)base;
	doca_error_t status = DOCA_ERROR_BAD_STATE;
	uint32_t good = DOCA_SUCCESS;

	if (!atomic_load_explicit(&job->offload->cancelled, memory_order_relaxed))
		status = job->run(job->task, part, thread);
	if (status != DOCA_SUCCESS)
		atomic_compare_exchange_strong_explicit(&job->status, &good, status, memory_order_relaxed, memory_order_relaxed);
	assert(atomic_load(&job->num_left) > 0);
	if (atomic_fetch_sub_explicit(&job->num_left, 1, memory_order_acq_rel) != 1)
		return;
	job->task->status = (doca_error_t)atomic_load_explicit(&job->status, memory_order_relaxed);
	task_finish(job->offload, job->task);
}

/* ---- on the ctx's thread ---- */

void sf_offload_hand_over(struct sf_offload *offload, struct sf_offload_job *job, struct doca_task *task, uint32_t num_parts,
			  doca_error_t (*run)(struct doca_task *task, uint32_t part, uint32_t thread))
{
	assert(num_parts > 0 && offload->engine != NULL);
	job->base = (struct sf_engine_job){.run = run_part, .num_parts = num_parts};
	job->task = task;
	job->offload = offload;
	job->run = run;
	atomic_store_explicit(&job->num_left, num_parts, memory_order_relaxed);
	atomic_store_explicit(&job->status, DOCA_SUCCESS, memory_order_relaxed);
	atomic_fetch_add_explicit(&offload->num_busy, 1, memory_order_relaxed);
	offload->num_handed++;
	sf_engine_submit(offload->engine, &job->base);
}

struct doca_task *sf_offload_pop_finished(struct sf_offload *offload)
{
	struct doca_task *task, *next, *first = NULL;

	if (atomic_load_explicit(&offload->finished, memory_order_relaxed) == NULL)
		return NULL;
	for (task = atomic_exchange_explicit(&offload->finished, NULL, memory_order_acquire); task != NULL; task = next) {
		next = task->next;
		task->next = first;
		first = task;
	}
	return first;
}

bool sf_offload_arm(struct sf_offload *offload)
{
	if (offload->first != NULL && !(offload->in_order && offload->num_handed != 0))
		return true;
	if (offload->num_handed == 0)
		return false;
	atomic_store(&offload->armed, true);
	return atomic_load(&offload->finished) != NULL;
}
