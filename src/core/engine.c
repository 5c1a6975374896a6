/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/engine.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "core/dev.h"

struct sf_engine;

struct engine_thread {
	struct sf_engine *engine;
	uint32_t number;
	pthread_t id;
};

static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;

struct sf_engine {
	const struct sf_device *device;
	uint32_t holds GUARDED_BY(engines_lock);
	struct sf_engine *next GUARDED_BY(engines_lock);
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct sf_engine_job *first GUARDED_BY_MEMBER(lock), **last GUARDED_BY_MEMBER(lock); /* with parts that no thread took */
	bool ending GUARDED_BY_MEMBER(lock);
	uint32_t num_threads;
	struct engine_thread threads[];
};

static struct sf_engine *engines GUARDED_BY(engines_lock);

/* The threads and their jobs belong to the parent. */
static SF_IN_CHILD void engines_leave(void)
{
	for (struct sf_engine *engine = engines; engine != NULL; engine = engine->next) {
		pthread_mutex_init(&engine->lock, NULL);
		pthread_cond_init(&engine->changed, NULL);
		engine->num_threads = 0;
	}
	engines = NULL;
}

SF_FORK_LOCK(SF_FORK_ENGINE, &engines_lock, engines_leave);

/* ---- the threads ---- */

/* Returns the next part of the first job; false at the end. Releases the lock while it waits. */
static bool part_pop(struct sf_engine *engine, struct sf_engine_job **job, uint32_t *part) REQUIRES(engine->lock);
static bool part_pop(struct sf_engine *engine, struct sf_engine_job **job, uint32_t *part)
{
	while (engine->first == NULL) {
		if (engine->ending)
			return false;
		pthread_cond_wait(&engine->changed, &engine->lock);
	}
	assert(engine->first->num_taken < engine->first->num_parts);
	*job = engine->first;
	*part = (*job)->num_taken++;
	if ((*job)->num_taken == (*job)->num_parts) {
		engine->first = (*job)->next;
		if (engine->first == NULL)
			engine->last = &engine->first;
	}
	return true;
}

static void *thread_main(void *arg)
{
	const struct engine_thread *thread = arg;
	struct sf_engine *engine = thread->engine;
	struct sf_engine_job *job;
	uint32_t part;

	pthread_mutex_lock(&engine->lock);
	while (part_pop(engine, &job, &part)) {
		pthread_mutex_unlock(&engine->lock);
		job->run(job, part, thread->number);
		pthread_mutex_lock(&engine->lock);
	}
	pthread_mutex_unlock(&engine->lock);
	return NULL;
}

/* Ends the first num threads. */
static void threads_end(struct sf_engine *engine, uint32_t num)
{
	pthread_mutex_lock(&engine->lock);
	engine->ending = true;
	pthread_cond_broadcast(&engine->changed);
	pthread_mutex_unlock(&engine->lock);
	for (uint32_t i = 0; i < num; i++)
		pthread_join(engine->threads[i].id, NULL);
}

/* The program's threads handle the program's signals. */
static doca_error_t threads_start(struct sf_engine *engine)
{
	sigset_t all, before;
	uint32_t num = 0;
	int error = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; num < engine->num_threads && error == 0; num += error == 0) {
		struct engine_thread *thread = &engine->threads[num];

		*thread = (struct engine_thread){.engine = engine, .number = num};
		error = pthread_create(&thread->id, NULL, thread_main, thread);
		if (error == 0)
			pthread_setname_np(thread->id, "sf-engine");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("device %s: engine thread %u of %u cannot be started: %s; lower engine_threads in the topology",
		   engine->device->key, num + 1, engine->num_threads, strerror(error));
	threads_end(engine, num);
	return DOCA_ERROR_NO_MEMORY;
}

/* ---- one a device ---- */

static void engine_free(struct sf_engine *engine)
{
	pthread_cond_destroy(&engine->changed);
	pthread_mutex_destroy(&engine->lock);
	free(engine);
}

static doca_error_t engine_make(const struct sf_device *device, struct sf_engine **out)
{
	struct sf_engine *engine = calloc(1, sizeof(*engine) + device->engine_threads * sizeof(engine->threads[0]));
	doca_error_t result;

	if (engine == NULL) {
		SF_LOG_ERR("no memory for the engine of device %s", device->key);
		return DOCA_ERROR_NO_MEMORY;
	}
	engine->device = device;
	engine->num_threads = device->engine_threads;
	assert(engine->num_threads > 0);
	engine->last = &engine->first;
	pthread_mutex_init(&engine->lock, NULL);
	pthread_cond_init(&engine->changed, NULL);
	result = threads_start(engine);
	if (result != DOCA_SUCCESS) {
		engine_free(engine);
		return result;
	}
	*out = engine;
	return DOCA_SUCCESS;
}

doca_error_t sf_engine_hold(const struct doca_dev *dev, struct sf_engine **out)
{
	const struct sf_device *device = sf_dev_desc(dev);
	struct sf_engine *engine;
	doca_error_t result = DOCA_SUCCESS;

	*out = NULL;
	if (device->engine_threads == 0)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&engines_lock);
	for (engine = engines; engine != NULL && engine->device != device;)
		engine = engine->next;
	if (engine == NULL) {
		result = engine_make(device, &engine);
		if (result == DOCA_SUCCESS) {
			engine->next = engines;
			engines = engine;
		}
	}
	if (result == DOCA_SUCCESS) {
		engine->holds++;
		*out = engine;
	}
	pthread_mutex_unlock(&engines_lock);
	return result;
}

void sf_engine_release(struct sf_engine *engine)
{
	struct sf_engine **at;
	bool last;

	if (engine == NULL)
		return;
	pthread_mutex_lock(&engines_lock);
	at = &engines;
	assert(engine->holds > 0);
	last = --engine->holds == 0;
	while (*at != NULL && *at != engine)
		at = &(*at)->next;
	if (last && *at != NULL) /* it does not exist in a child of the process that created it */
		*at = engine->next;
	pthread_mutex_unlock(&engines_lock);
	if (!last)
		return;
	threads_end(engine, engine->num_threads);
	engine_free(engine);
}

void sf_engine_submit(struct sf_engine *engine, struct sf_engine_job *job)
{
	assert(job->num_parts > 0 && job->run != NULL);
	job->num_taken = 0;
	job->next = NULL;
	pthread_mutex_lock(&engine->lock);
	*engine->last = job;
	assert(!engine->ending);
	engine->last = &job->next;
	if (job->num_parts == 1)
		pthread_cond_signal(&engine->changed);
	else
		pthread_cond_broadcast(&engine->changed);
	pthread_mutex_unlock(&engine->lock);
}
