/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine threads: a device whose topology gives it some works large tasks off on them, beside the threads of the program. One
 * engine a device and process; its threads run while somebody holds it. No user callback ever runs on them.
 */
#ifndef SF_CORE_ENGINE_H
#define SF_CORE_ENGINE_H

#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>

#include "base/visibility.h"

struct sf_engine;

/* Work of one or more parts, which may run at the same time and in any order. The caller's until the last part has run. */
struct sf_engine_job {
	/* On an engine thread, whose number is below the device's engine_threads; it runs one part at a time. The job may be gone
	 * as soon as every part has said so in its own way. */
	void (*run)(struct sf_engine_job *job, uint32_t part, uint32_t thread);
	uint32_t num_parts;
	uint32_t num_taken;	    /* the engine's */
	struct sf_engine_job *next; /* the engine's */
};

/* The device's engine; its threads run from the first hold on. *engine is NULL for a device without engine threads. NO_MEMORY,
 * logged, when threads cannot be started. Any thread. */
SF_API doca_error_t sf_engine_hold(const struct doca_dev *dev, struct sf_engine **engine);

/* The last release ends the threads. Nothing that the holder submitted is left. NULL does nothing. Any thread,
 * but an engine's. */
SF_API void sf_engine_release(struct sf_engine *engine);

/* Queues a job, after those before it. Any thread. */
SF_API void sf_engine_submit(struct sf_engine *engine, struct sf_engine_job *job);

#endif
