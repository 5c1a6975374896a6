/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where log records go. Program records (doca_log) go to program backends, our own (sf_log) to SDK backends.
 * Backends are never destroyed (the API has no call for it), so their list only grows and is read without a lock.
 */
#ifndef SF_BASE_LOG_BACKEND_H
#define SF_BASE_LOG_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_log.h>

#include "base/log_module.h"
#include "base/visibility.h"

enum sf_log_class { SF_LOG_PROGRAM, SF_LOG_SDK, SF_LOG_CLASSES };

struct doca_log_backend {
	struct doca_log_backend *next;
	enum sf_log_class cls;
	/* Writes one whole record, which ends in a newline. */
	void (*write)(struct doca_log_backend *backend, uint32_t level, const char *record, size_t len);
	/* The levels that it may show: [most severe, least severe]. The two standard backends divide the levels between them. */
	uint32_t band_upper, band_lower;
	uint32_t upper, lower; /* the limits; read without a lock */
	bool upper_strict, lower_strict;
	bool yields;			      /* leaves a record to another backend that writes it to the same file */
	bool json;			      /* its records are JSON lines */
	const struct sf_log_modules *modules; /* modules with a level of their own, or NULL */
	uint32_t modules_level;		      /* level of the other modules */
	union {
		FILE *file;
		int fd;
		struct sf_log_file *path;
		const char *ident;
		struct {
			char *memory;
			size_t capacity;
			log_flush_callback handler;
			pthread_mutex_t lock; /* one record in memory at a time */
		} buf;
	};
};

/* The least severe level that any backend of the class shows; 0 without backends. For SF_LOG_SDK see sf_log_limit. */
extern uint32_t sf_log_program_limit;

/* Guards the growth of the list and all changes of limits. */
extern pthread_mutex_t sf_log_lock;

/* The first backend of a class. */
struct doca_log_backend *sf_log_backends(enum sf_log_class cls);

/* Adds a backend that is complete except for its limits, which it takes from the class's global ones. */
void sf_log_backend_add(struct doca_log_backend *backend);

/* Makes a stream backend write to another stream. */
SF_API void sf_log_backend_set_file(struct doca_log_backend *backend, FILE *file);

/* The SDK backend that a user asks for by SOFTFIELD_LOG. No call of the program changes its levels. */
struct sf_log_choice {
	uint32_t level;		       /* of modules without one of their own */
	struct sf_log_modules modules; /* kept until the process ends */
	bool json;
	struct sf_log_file *file; /* NULL: standard error */
};

/* The choice is kept. */
void sf_log_backend_add_choice(const struct sf_log_choice *choice);

/* Returns true if both write to the same file, terminal or pipe now. Costs two system calls. */
bool sf_log_backend_same_file(const struct doca_log_backend *a, const struct doca_log_backend *b);

/* Sets the limits of a new backend of the class, and applies changed limits. Under sf_log_lock. */
void sf_log_limits_init(struct doca_log_backend *backend);
void sf_log_limits_changed(void);

#endif
