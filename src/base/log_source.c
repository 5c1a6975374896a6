/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources under which files of a program register (DOCA_LOG_REGISTER), and their levels. Registers in constructors, before
 * main. */
#include "base/log_source.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"

#define SEPARATOR "::" /* between the parts of a name */

/* A source's number is its index. An unregistered logger keeps its slot, so that a program's stale pointer does no harm. */
struct doca_logger {
	char *name;    /* NULL: the slot is free. Guarded by lock */
	uint8_t level; /* read without a lock; 0: never registered */
};

static struct doca_logger loggers[SF_LOG_SOURCES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t num_loggers GUARDED_BY(lock); /* slots ever used */
SF_FORK_LOCK(SF_FORK_LOG, &lock, NULL);

bool sf_log_source_shows(int source, uint32_t level)
{
	if (source < 0 || source >= SF_LOG_SOURCES_MAX)
		return true;

	uint8_t limit = __atomic_load_n(&loggers[source].level, __ATOMIC_RELAXED);

	return limit == 0 || level <= limit;
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	if (!source_name || !source) {
		SF_LOG_ERR("source_name or source is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}

	char *name = strdup(source_name);
	uint32_t i = 0;

	if (!name) {
		SF_LOG_ERR("log source %s not registered: no memory", source_name);
		return DOCA_ERROR_NO_MEMORY;
	}
	pthread_mutex_lock(&lock);
	while (i < num_loggers && loggers[i].name)
		i++;
	if (i < SF_LOG_SOURCES_MAX) {
		assert(loggers[i].name == NULL);
		loggers[i].name = name;
		__atomic_store_n(&loggers[i].level, DOCA_LOG_LEVEL_TRACE, __ATOMIC_RELAXED);
		num_loggers += i == num_loggers;
	}
	pthread_mutex_unlock(&lock);
	if (i == SF_LOG_SOURCES_MAX) {
		SF_LOG_ERR("log source %s not registered: there are %u sources, which is the maximum", source_name, i);
		free(name);
		return DOCA_ERROR_FULL;
	}
	*source = (int)i;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_unregister_source(int source)
{
	char *name = NULL;

	pthread_mutex_lock(&lock);
	if (source >= 0 && (uint32_t)source < num_loggers) {
		name = loggers[source].name;
		loggers[source].name = NULL;
		__atomic_store_n(&loggers[source].level, 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	if (!name) {
		SF_LOG_ERR("log source %d is unknown: nothing to unregister", source);
		return DOCA_ERROR_INVALID_VALUE;
	}
	free(name);
	return DOCA_SUCCESS;
}

/* ---- the tree ---- */

/* Number of parts of the name below top; 0 if it is not below. Without a top, each name is below. */
static uint32_t parts_below(const char *name, const struct doca_logger *top)
{
	size_t len = top ? strlen(top->name) : 0;
	uint32_t parts = 1;

	if (top && (strncmp(name, top->name, len) != 0 || strncmp(name + len, SEPARATOR, strlen(SEPARATOR)) != 0))
		return 0;
	for (const char *at = name + len + (top ? strlen(SEPARATOR) : 0); (at = strstr(at, SEPARATOR)) != NULL;
	     at += strlen(SEPARATOR))
		parts++;
	return parts;
}

static bool is_below(const struct doca_logger *logger, const struct doca_logger *top, uint8_t depth)
{
	uint32_t parts = logger->name ? parts_below(logger->name, top) : 0;

	return parts != 0 && (depth == 0 || parts <= depth);
}

/* The list ends with NULL. */
static REQUIRES(lock) doca_error_t
	list_make(const struct doca_logger *top, uint8_t depth, struct doca_logger ***list, uint32_t *num)
{
	uint32_t count = 0, at = 0;

	for (uint32_t i = 0; i < num_loggers; i++)
		count += is_below(&loggers[i], top, depth);
	if (count == 0)
		return DOCA_ERROR_NOT_FOUND;

	struct doca_logger **made = malloc((count + 1) * sizeof(struct doca_logger *));

	if (!made)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < num_loggers; i++) {
		if (is_below(&loggers[i], top, depth))
			made[at++] = &loggers[i];
	}
	assert(at == count);
	made[at] = NULL;
	*list = made;
	*num = count;
	return DOCA_SUCCESS;
}

doca_error_t doca_logger_create_list(const struct doca_logger *logger, uint8_t depth, struct doca_logger ***logger_list,
				     uint32_t *nb_loggers)
{
	doca_error_t result = DOCA_ERROR_INVALID_VALUE;
	const char *why = NULL;

	if (!logger_list || !nb_loggers) {
		SF_LOG_ERR("logger_list or nb_loggers is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	if (logger && !logger->name)
		why = "the logger is no longer registered";
	else
		result = list_make(logger, depth, logger_list, nb_loggers);
	pthread_mutex_unlock(&lock);
	if (result == DOCA_ERROR_NOT_FOUND)
		why = "no logger is below this one: DOCA_LOG_REGISTER registers one";
	else if (result == DOCA_ERROR_NO_MEMORY)
		why = "no memory";
	if (why)
		SF_LOG_ERR("no list of loggers: %s", why);
	return result;
}

doca_error_t doca_logger_destroy_list(struct doca_logger **logger_list)
{
	if (!logger_list) {
		SF_LOG_ERR("logger_list is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	free(logger_list);
	return DOCA_SUCCESS;
}

doca_error_t doca_logger_set_level(struct doca_logger *logger, int level, uint8_t propagate)
{
	bool is_registered;

	if (level < DOCA_LOG_LEVEL_DISABLE || level > DOCA_LOG_LEVEL_TRACE || level % 10 != 0 || (!logger && !propagate)) {
		SF_LOG_ERR("level %d of %s is invalid: use enum doca_log_level, and propagate for the top of the tree", level,
			   logger ? "a logger" : "the top");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	is_registered = !logger || logger->name;
	for (uint32_t i = 0; i < num_loggers && is_registered; i++) {
		if (&loggers[i] == logger || (propagate && is_below(&loggers[i], logger, 0)))
			__atomic_store_n(&loggers[i].level, (uint8_t)level, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	if (is_registered)
		return DOCA_SUCCESS;
	SF_LOG_ERR("no level set: the logger is no longer registered");
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t doca_logger_get_level(const struct doca_logger *logger, int *level)
{
	uint8_t found;

	if (!logger || !level) {
		SF_LOG_ERR("logger or level is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	found = __atomic_load_n(&logger->level, __ATOMIC_RELAXED);
	if (found == 0) {
		SF_LOG_ERR("no level: the logger is no longer registered");
		return DOCA_ERROR_NOT_FOUND;
	}
	*level = found;
	return DOCA_SUCCESS;
}

doca_error_t doca_logger_get_name(const struct doca_logger *logger, char name[DOCA_LOGGER_NAME_SIZE])
{
	bool is_registered = false;

	if (logger && name) {
		pthread_mutex_lock(&lock);
		is_registered = logger->name != NULL;
		if (is_registered)
			snprintf(name, DOCA_LOGGER_NAME_SIZE, "%s", logger->name);
		pthread_mutex_unlock(&lock);
	}
	if (is_registered)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s", logger && name ? "no name: the logger is no longer registered" : "logger or name is NULL");
	return DOCA_ERROR_INVALID_VALUE;
}

struct doca_logger *doca_logger_find_by_name(struct doca_logger **logger_list, const char *name)
{
	struct doca_logger *found = NULL;

	if (!logger_list || !name) {
		SF_LOG_ERR("logger_list or name is NULL");
		return NULL;
	}
	pthread_mutex_lock(&lock);
	for (; *logger_list && !found; logger_list++) {
		if ((*logger_list)->name && !strcmp((*logger_list)->name, name))
			found = *logger_list;
	}
	pthread_mutex_unlock(&lock);
	return found;
}
