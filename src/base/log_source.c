/* SPDX-License-Identifier: BSD-3-Clause */
/* The names under which files of a program register (DOCA_LOG_REGISTER). Runs in constructors, before main. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"

#define SOURCES_MAX 65536

/* GUARDED_BY(lock). A source's number is its place; a free place holds NULL. */
static char **names;
static size_t names_len;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_LOG, &lock, NULL);

static doca_error_t grow(void)
{
	size_t wanted = names_len ? names_len * 2 : 32;

	if (wanted > SOURCES_MAX)
		return DOCA_ERROR_FULL;

	char **grown = realloc(names, wanted * sizeof(*names));

	if (!grown)
		return DOCA_ERROR_NO_MEMORY;
	memset(grown + names_len, 0, (wanted - names_len) * sizeof(*names));
	names = grown;
	names_len = wanted;
	return DOCA_SUCCESS;
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	if (!source_name || !source) {
		SF_LOG_ERR("the log source's name or the place for its number is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}

	char *name = strdup(source_name);
	doca_error_t result = name ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < names_len && names[i])
		i++;
	if (result == DOCA_SUCCESS && i == names_len)
		result = grow();
	if (result == DOCA_SUCCESS) {
		names[i] = name;
		*source = (int)i;
	}
	pthread_mutex_unlock(&lock);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("log source %s not registered: %s", source_name, doca_error_get_descr(result));
		free(name);
	}
	return result;
}

doca_error_t doca_log_unregister_source(int source)
{
	char *name = NULL;

	pthread_mutex_lock(&lock);
	if (source >= 0 && (size_t)source < names_len) {
		name = names[source];
		names[source] = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (!name) {
		SF_LOG_ERR("no log source has the number %d", source);
		return DOCA_ERROR_INVALID_VALUE;
	}
	free(name);
	return DOCA_SUCCESS;
}
