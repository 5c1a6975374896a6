/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, versions, records and gRPC flags of DOCA 2.2. A LOG_SOURCE's pointer is its number plus 1. */
#include <doca_argp.h>
#include <doca_log.h>
#include <doca_version.h>

#include "legacy.h"

#define SOURCES_MAX 4

static void error_name(void)
{
	(void)CALL_VALUE(doca_get_error_name, (doca_error_t)random_below(40));
	(void)CALL_VALUE(doca_get_error_string, (doca_error_t)random_below(40));
}

static void version(void)
{
	(void)CALL_VALUE(doca_version, );
}

static void grpc_program(void)
{
	CALL_VALUE(doca_argp_set_grpc_program, );
}

static void grpc_addr(void)
{
	const char *address;
	const char **place = or_null(&address);

	CALL(doca_argp_get_grpc_addr, place);
}

static void source_register(void)
{
	int source;

	if (object_count(LOG_SOURCE) >= SOURCES_MAX || is_ending())
		return;
	char *name = or_null("ABUSE::SOURCE");
	int *place = or_null(&source);

	if (CALL(doca_log_source_register, name, place) == DOCA_SUCCESS)
		object_add(LOG_SOURCE, (void *)(intptr_t)(source + 1));
}

static int any_source(void)
{
	struct object *source = object_any(LOG_SOURCE);

	return source == NULL || chance(8) ? 100000 : (int)(intptr_t)source->pointer - 1;
}

static void source_destroy(void)
{
	int source = any_source();

	refuse_if(source == 100000);
	if (CALL(doca_log_source_destroy, source) == DOCA_SUCCESS)
		object_drop(LOG_SOURCE, (void *)(intptr_t)(source + 1));
}

static int last_bucket = -1;

static void bucket_register(void)
{
	int bucket, source = any_source();
	int *place = or_null(&bucket);

	refuse_if(source == 100000);
	if (CALL(doca_log_rate_bucket_register, source, place) == DOCA_SUCCESS)
		last_bucket = bucket;
}

static void log_one(void)
{
	const char *format = or_null("%d");

	CALL(doca_log, DOCA_LOG_LEVEL_DEBUG, any_source(), 1, format, 7);
}

static void log_developer(void)
{
	const char *format = or_null("%d");

	CALL(doca_log_developer, DOCA_LOG_LEVEL_DEBUG, any_source(), 1, format, 7);
}

static void log_limited(void)
{
	int bucket = chance(4) ? -7 : last_bucket;

	refuse_if(bucket < 0);
	CALL(doca_log_rate_limit, DOCA_LOG_LEVEL_DEBUG, any_source(), 1, bucket, "%d", 7);
}

static void limits(void)
{
	CALL_VALUE(doca_log_set_bucket_time, (uint16_t)random_below(3));
	(void)CALL_VALUE(doca_log_get_bucket_time, );
	CALL_VALUE(doca_log_set_quantity, (uint16_t)random_below(3));
	(void)CALL_VALUE(doca_log_get_quantity, );
}

static void level(void)
{
	(void)CALL_VALUE(doca_log_global_level_get, );
}

static const struct call calls[] = {
	{"doca_get_error_name", error_name},
	{"doca_version", version},
	{"doca_argp_set_grpc_program", grpc_program},
	{"doca_argp_get_grpc_addr", grpc_addr},
	{"doca_log_source_register", source_register, 2},
	{"doca_log_source_destroy", source_destroy, 1, true},
	{"doca_log_rate_bucket_register", bucket_register},
	{"doca_log", log_one},
	{"doca_log_developer", log_developer},
	{"doca_log_rate_limit", log_limited},
	{"doca_log_set_bucket_time", limits},
	{"doca_log_global_level_get", level},
};
const struct group log_group = GROUP(calls, NULL);
