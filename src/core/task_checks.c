/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/task_checks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/thread_safety.h"
#include "core/pe_checks.h"
#include "validation/validation.h"

/* Its address identifies the thread. Static TLS, because each submit uses it: see pe.c. */
#ifdef __GLIBC__
static __thread char own_thread __attribute__((tls_model("initial-exec")));
#else
static __thread char own_thread;
#endif

static struct sf_task_check *check_of(const struct doca_task *task)
{
	const struct sf_task_pool *pool = task->pool;
	size_t index = (size_t)((const char *)task - (const char *)pool->memory) / pool->slot_built;

	return &pool->checks->tasks[index];
}

/* ---- what tasks use ---- */

#define USES 4096 /* slots; a power of two */

/* Written without a lock, which would cost as much as the task. Two writers can mix their words, or a reader see half of them:
 * then the sum is wrong, and the slot counts as empty. */
struct use {
	uintptr_t object, task;
	uint64_t num_submits; /* of the task, then: a later submit may use something else */
	uint64_t sum;
};

static struct use uses[USES];
/* Held to read what a slot's task points to: a pool takes its tasks out of the table before they end. */
static pthread_mutex_t uses_lock = PTHREAD_MUTEX_INITIALIZER;

SF_FORK_LOCK(SF_FORK_TABLE, &uses_lock, NULL);

static struct use *use_of(const void *object)
{
	return &uses[((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52 & (USES - 1)];
}

static uint64_t use_sum(const struct use *use)
{
	return ((use->object * UINT64_C(0x9e3779b97f4a7c15)) ^ use->task) * UINT64_C(0xff51afd7ed558ccd) + use->num_submits;
}

static void use_store(struct use *slot, const struct use *use)
{
	__atomic_store_n(&slot->object, use->object, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->task, use->task, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->num_submits, use->num_submits, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->sum, use->sum, __ATOMIC_RELAXED);
}

static struct use use_load(struct use *slot)
{
	return (struct use){.object = __atomic_load_n(&slot->object, __ATOMIC_RELAXED),
			    .task = __atomic_load_n(&slot->task, __ATOMIC_RELAXED),
			    .num_submits = __atomic_load_n(&slot->num_submits, __ATOMIC_RELAXED),
			    .sum = __atomic_load_n(&slot->sum, __ATOMIC_RELAXED)};
}

void sf_task_use_note(const struct doca_task *task, const void *object)
{
	const struct sf_task_checks *checks = task->pool->checks;
	struct use use = {.object = (uintptr_t)object, .task = (uintptr_t)task};

	if (checks == NULL || task->cls->may_wait) /* programs release buffers of receives that they cancel */
		return;
	use.num_submits = checks->now->num_submits;
	use.sum = use_sum(&use);
	use_store(use_of(object), &use);
}

const char *sf_task_use_find(const void *object)
{
	const char *name = NULL;

	pthread_mutex_lock(&uses_lock);
	struct use use = use_load(use_of(object));
	const struct doca_task *task = (const struct doca_task *)use.task;
	if (use.object == (uintptr_t)object && use.sum == use_sum(&use) && sf_task_is_inflight(task) &&
	    __atomic_load_n(&check_of(task)->num_submits, __ATOMIC_RELAXED) == use.num_submits)
		name = task->cls->name;
	pthread_mutex_unlock(&uses_lock);
	return name;
}

/* The pool's tasks end, and perhaps their memory. */
static void uses_forget(const struct sf_task_pool *pool)
{
	static const struct use none;
	uintptr_t begin = (uintptr_t)pool->memory, end = begin + pool->slot_built * pool->num_built;

	pthread_mutex_lock(&uses_lock);
	for (uint32_t i = 0; i < USES; i++) {
		uintptr_t task = __atomic_load_n(&uses[i].task, __ATOMIC_RELAXED);

		if (task >= begin && task < end)
			use_store(&uses[i], &none);
	}
	pthread_mutex_unlock(&uses_lock);
}

/* ---- submit ---- */

static void check_thread(const struct doca_task *task, bool is_alone)
{
	const struct doca_ctx *ctx = task->ctx;
	const struct doca_pe *pe = ctx->pe;

	if (!is_alone)
		SF_BROKEN_TYPE(PE_003, ctx, ctx->ops->name, "doca_task_submit",
			       "another thread is in a submit of the same context");
	else if (pe != NULL && sf_pe_is_inside_elsewhere(pe))
		SF_BROKEN_TYPE(PE_003, ctx, ctx->ops->name, "doca_task_submit",
			       "another thread is in doca_pe_progress of its engine");
}

/* Fast path: in most pools no submit has ever failed. */
static void answer_note(struct sf_task_checks *checks, const struct doca_task *task, doca_error_t result)
{
	if (__builtin_expect(result != DOCA_SUCCESS, 0)) {
		struct sf_task_check *check = check_of(task);

		checks->was_refused = true;
		__atomic_store_n(&check->answer, (uint32_t)result, __ATOMIC_RELAXED);
		__atomic_store_n(&check->refused_ns, sf_now_ns(), __ATOMIC_RELAXED);
	} else if (__builtin_expect(checks->was_refused, 0)) {
		__atomic_store_n(&check_of(task)->refused_ns, 0, __ATOMIC_RELAXED);
	}
}

static doca_error_t checked_submit(struct doca_task *task, uint32_t flags)
{
	struct sf_task_checks *checks = task->pool->checks;
	const void *before = __atomic_load_n(&checks->inside, __ATOMIC_RELAXED);

	/* Not an exchange, which costs as much as the task. If two threads miss each other here, a later submit detects them. */
	__atomic_store_n(&checks->inside, &own_thread, __ATOMIC_RELAXED);
	check_thread(task, before == NULL || before == &own_thread);
	if (checks->cls->inspect != NULL) {
		checks->now = check_of(task);
		__atomic_store_n(&checks->now->num_submits, checks->now->num_submits + 1, __ATOMIC_RELAXED);
		checks->cls->inspect(task);
	}
	doca_error_t result = checks->cls->submit(task, flags);
	__atomic_store_n(&checks->inside, NULL, __ATOMIC_RELAXED);
	answer_note(checks, task, result);
	return result;
}

/* ---- pools ---- */

static size_t extent_of(const struct sf_task_class *cls)
{
	return cls->extent != 0 ? cls->extent : sizeof(*cls);
}

static struct sf_task_checks *checks_new(uint32_t num_tasks, size_t extent)
{
	struct sf_task_checks *checks = calloc(1, sizeof(*checks) + num_tasks * sizeof(checks->tasks[0]));
	struct sf_task_class *copy = malloc(extent);

	if (checks == NULL || copy == NULL) {
		free(checks);
		free(copy);
		return NULL;
	}
	checks->copy = copy;
	checks->extent = extent;
	checks->num_tasks = num_tasks;
	return checks;
}

static void checks_free(struct sf_task_checks *checks)
{
	if (checks != NULL)
		free(checks->copy);
	free(checks);
}

struct sf_task_checks *sf_task_checks_renew(const struct sf_task_pool *pool)
{
	struct sf_task_checks *checks = pool->checks;
	size_t extent = extent_of(pool->cls);

	if (checks == NULL || checks->num_tasks != pool->num_tasks || checks->extent != extent) {
		checks_free(checks);
		checks = checks_new(pool->num_tasks, extent);
	}
	if (checks == NULL)
		return NULL;
	uses_forget(pool);
	memset(checks->tasks, 0, checks->num_tasks * sizeof(checks->tasks[0]));
	checks->was_refused = false;
	checks->cls = pool->cls;
	memcpy(checks->copy, pool->cls, extent);
	checks->copy->submit = checked_submit;
	sf_objects_forget((uintptr_t)pool->memory, pool->slot_built * pool->num_tasks);
	return checks;
}

void sf_task_checks_end(struct sf_task_pool *pool)
{
	if (pool->checks == NULL)
		return;
	uses_forget(pool);
	checks_free(pool->checks);
	pool->checks = NULL;
}

void sf_task_checks_freed(const struct doca_task *task)
{
	if (task->pool->checks != NULL && task->pool->checks->was_refused)
		__atomic_store_n(&check_of(task)->refused_ns, 0, __ATOMIC_RELAXED);
}

struct sf_task_census sf_task_census_count(const struct sf_task_pool *pool)
{
	struct sf_task_census census = {0, 0};

	for (uint32_t i = 0; i < pool->num_begun; i++) {
		const struct doca_task *task = (const struct doca_task *)((const char *)pool->memory + pool->slot_built * i);

		census.num_inflight += sf_task_is_inflight(task);
		census.num_idle += task->state == SF_TASK_ALLOCATED;
	}
	return census;
}
