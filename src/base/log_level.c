/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which levels the backends show: limits of one backend, global limits, and strict limits, which the global ones do not change.
 */
#include "base/fork.h"
#include "base/log.h"
#include "base/log_backend.h"

uint32_t sf_log_program_limit;
uint32_t sf_log_limit;
uint32_t sf_log_recorded = DOCA_LOG_LEVEL_ERROR;
pthread_mutex_t sf_log_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_LOG, &sf_log_lock, NULL);

static uint32_t global_lower[SF_LOG_CLASSES] = {DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_INFO};
static uint32_t global_upper[SF_LOG_CLASSES] = {DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_CRIT};

static bool is_limit(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE;
}

void sf_log_limits_init(struct doca_log_backend *backend)
{
	backend->lower = global_lower[backend->cls];
	backend->upper = global_upper[backend->cls];
}

static uint32_t least_severe_shown(enum sf_log_class cls)
{
	uint32_t limit = 0;

	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		uint32_t lower = b->lower < b->band_lower ? b->lower : b->band_lower;

		if (lower > limit)
			limit = lower;
	}
	return limit;
}

void sf_log_limits_changed(void)
{
	__atomic_store_n(&sf_log_program_limit, least_severe_shown(SF_LOG_PROGRAM), __ATOMIC_RELAXED);
	__atomic_store_n(&sf_log_limit, least_severe_shown(SF_LOG_SDK), __ATOMIC_RELAXED);
}

static doca_error_t set_global(enum sf_log_class cls, bool lower, uint32_t level)
{
	if (!is_limit(level)) {
		SF_LOG_ERR("log level %u is outside %d (nothing) to %d (trace)", level, DOCA_LOG_LEVEL_DISABLE,
			   DOCA_LOG_LEVEL_TRACE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&sf_log_lock);
	__atomic_store_n(lower ? &global_lower[cls] : &global_upper[cls], level, __ATOMIC_RELAXED);
	for (struct doca_log_backend *b = sf_log_backends(cls); b; b = b->next) {
		if (!(lower ? b->lower_strict : b->upper_strict))
			__atomic_store_n(lower ? &b->lower : &b->upper, level, __ATOMIC_RELAXED);
	}
	sf_log_limits_changed();
	pthread_mutex_unlock(&sf_log_lock);
	return DOCA_SUCCESS;
}

static doca_error_t set_one(struct doca_log_backend *backend, enum sf_log_class cls, bool lower, uint32_t level)
{
	if (!backend || !is_limit(level)) {
		SF_LOG_ERR("%s", backend ? "log level is outside 10 (nothing) to 70 (trace)" : "log backend is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (backend->cls != cls) {
		SF_LOG_ERR("this limit applies to %s backends only, and the backend is of the other kind",
			   cls == SF_LOG_SDK ? "SDK" : "program");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	pthread_mutex_lock(&sf_log_lock);
	__atomic_store_n(lower ? &backend->lower : &backend->upper, level, __ATOMIC_RELAXED);
	sf_log_limits_changed();
	pthread_mutex_unlock(&sf_log_lock);
	return DOCA_SUCCESS;
}

static doca_error_t make_strict(struct doca_log_backend *backend, bool lower)
{
	if (!backend) {
		SF_LOG_ERR("log backend is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&sf_log_lock);
	if (lower)
		backend->lower_strict = true;
	else
		backend->upper_strict = true;
	pthread_mutex_unlock(&sf_log_lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level)
{
	return set_one(backend, SF_LOG_PROGRAM, true, level);
}

doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit)
{
	return set_one(backend, SF_LOG_PROGRAM, false, upper_limit);
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	return set_one(backend, SF_LOG_SDK, true, level);
}

doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
	return make_strict(backend, true);
}

doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
	return make_strict(backend, false);
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	return set_global(SF_LOG_PROGRAM, true, level);
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit)
{
	return set_global(SF_LOG_PROGRAM, false, upper_limit);
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	return set_global(SF_LOG_SDK, true, level);
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
	return __atomic_load_n(&global_lower[SF_LOG_PROGRAM], __ATOMIC_RELAXED);
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
	return __atomic_load_n(&global_upper[SF_LOG_PROGRAM], __ATOMIC_RELAXED);
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return __atomic_load_n(&global_lower[SF_LOG_SDK], __ATOMIC_RELAXED);
}
