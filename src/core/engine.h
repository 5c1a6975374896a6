/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine threads: a device whose topology has some executes large tasks on them, beside the threads of the program. There is one
 * engine for each device and process; its threads run while it is held. No user callback runs on them.
 */
#ifndef SF_CORE_ENGINE_H
#define SF_CORE_ENGINE_H

#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>

#include "base/visibility.h"

struct sf_engine;

/* Work of one or more parts, which may run in parallel and in any order. It belongs to the caller again once the last part has
 * run. */
struct sf_engine_job {
	/* Runs on an engine thread, whose number is below the device's engine_threads; a thread runs one part at a time. The job
	 * may be freed as soon as every part has reported its end in its own way. */
	void (*run)(struct sf_engine_job *job, uint32_t part, uint32_t thread);
	uint32_t num_parts;
	uint32_t num_taken;	    /* the engine's */
	struct sf_engine_job *next; /* the engine's */
};

/* The device's engine; its threads run from the first hold on. *engine is NULL for a device without engine threads. NO_MEMORY,
 * logged, when threads cannot be started. Any thread. */
SF_API doca_error_t sf_engine_hold(const struct doca_dev *dev, struct sf_engine **engine);

/* The last release ends the threads. No job of the holder may be left. NULL has no effect. Any thread except an engine thread. */
SF_API void sf_engine_release(struct sf_engine *engine);

/* Queues a job, after those before it. Any thread. */
SF_API void sf_engine_submit(struct sf_engine *engine, struct sf_engine_job *job);

#endif
