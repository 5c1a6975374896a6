/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong, and how often. */
#include "fabric/faulty/faulty.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#define RATE_ALWAYS 1000u

static const char *const kind_names[FAULTY_KINDS] = {"again", "delay", "fail", "close", "refuse", "memory", "late"};
static const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t rates[FAULTY_KINDS];
static uint64_t seed; /* advanced by each stream; atomic */
static doca_error_t plan_status;
static pthread_once_t plan_once = PTHREAD_ONCE_INIT;

static bool item_parse(const char *name, size_t len, const char *value)
{
	char *end;
	unsigned long long number = strtoull(value, &end, 0);

	if (end == value || (*end != ',' && *end != '\0'))
		return false;
	if (len == 4 && strncmp(name, "seed", 4) == 0) {
		seed = number;
		return true;
	}
	for (int kind = 0; kind < FAULTY_KINDS; kind++) {
		if (strlen(kind_names[kind]) != len || strncmp(name, kind_names[kind], len) != 0 || number > RATE_ALWAYS)
			continue;
		rates[kind] = (uint32_t)number;
		return true;
	}
	return false;
}

static void plan_read(void)
{
	const char *text = secure_getenv("SOFTFIELD_FAULTY"), *at = text, *equals;

	seed = (uint64_t)time(NULL);
	while (at != NULL && *at != '\0') {
		equals = strchr(at, '=');
		if (equals == NULL || !item_parse(at, (size_t)(equals - at), equals + 1)) {
			SF_LOG_ERR("cannot understand SOFTFIELD_FAULTY from '%s' on: name=number, with a comma between; numbers "
				   "are out of "
				   "1000, names are seed, again, delay, fail, close, refuse, memory, late",
				   at);
			plan_status = DOCA_ERROR_BAD_CONFIG;
			return;
		}
		at = strchr(equals, ',');
		if (at != NULL)
			at++;
	}
	SF_LOG_INFO("faulty fabric with seed %llu", (unsigned long long)seed);
}

doca_error_t faulty_plan_check(void)
{
	pthread_once(&plan_once, plan_read);
	return plan_status;
}

uint64_t faulty_seed_next(void)
{
	return __atomic_add_fetch(&seed, step, __ATOMIC_RELAXED);
}

/* splitmix64 */
uint32_t faulty_random(uint64_t *stream, uint32_t bound)
{
	uint64_t z = *stream += step;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(((z >> 32) * bound) >> 32);
}

bool faulty_happens(uint64_t *stream, enum faulty_kind kind)
{
	return rates[kind] != 0 && faulty_random(stream, RATE_ALWAYS) < rates[kind];
}
