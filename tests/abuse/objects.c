/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that exist, random numbers, and the check of results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "run.h"

uint8_t memory[MEMORY_SIZE] __attribute__((aligned(4096)));

static struct object objects[KINDS][OBJECTS_MAX];
static uint32_t counts[KINDS];
static uint64_t last_id;
static uint64_t random_state;
static struct verdict pending;

/* ---- random numbers ---- */

void random_seed(uint64_t seed)
{
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

bool chance(uint32_t one_in)
{
	return random_below(one_in) == 0;
}

void *or_null(void *p)
{
	if (chance(24))
		p = NULL;
	pending.null |= p == NULL;
	return p;
}

void random_range(uint8_t **addr, size_t *len)
{
	uint32_t from = random_below(MEMORY_SIZE);

	*addr = memory + from;
	*len = chance(8) ? 0 : chance(4) ? MEMORY_SIZE - from : random_below(MEMORY_SIZE - from) / 16;
}

/* ---- objects ---- */

bool object_room(enum kind kind)
{
	return counts[kind] < OBJECTS_MAX;
}

bool has_room(enum kind kind)
{
	return object_room(kind) && !is_ending();
}

struct object *object_add(enum kind kind, void *pointer)
{
	struct object *object = &objects[kind][counts[kind]++];

	*object = (struct object){.pointer = pointer, .id = ++last_id};
	return object;
}

static void remove_at(enum kind kind, uint32_t i)
{
	objects[kind][i] = objects[kind][--counts[kind]];
}

void object_drop(enum kind kind, void *pointer)
{
	for (uint32_t i = 0; i < counts[kind]; i++) {
		if (objects[kind][i].pointer == pointer) {
			remove_at(kind, i);
			return;
		}
	}
	abuse_fail("an unknown object was dropped");
}

void object_drop_of(enum kind kind, uint64_t of)
{
	for (uint32_t i = counts[kind]; i-- > 0;) {
		if (objects[kind][i].of == of)
			remove_at(kind, i);
	}
}

struct object *object_find(enum kind kind, const void *pointer)
{
	for (uint32_t i = 0; i < counts[kind]; i++) {
		if (objects[kind][i].pointer == pointer)
			return &objects[kind][i];
	}
	return NULL;
}

struct object *object_by_id(enum kind kind, uint64_t id)
{
	for (uint32_t i = 0; i < counts[kind]; i++) {
		if (objects[kind][i].id == id)
			return &objects[kind][i];
	}
	return NULL;
}

struct object *object_any(enum kind kind)
{
	return counts[kind] > 0 ? &objects[kind][random_below(counts[kind])] : NULL;
}

struct object *object_of(enum kind kind, uint64_t of)
{
	for (uint32_t i = 0; i < counts[kind]; i++) {
		if (objects[kind][i].of == of)
			return &objects[kind][i];
	}
	return NULL;
}

struct object *object_at(enum kind kind, uint32_t i)
{
	return &objects[kind][i];
}

uint32_t object_count(enum kind kind)
{
	return counts[kind];
}

uint32_t object_count_of(enum kind kind, uint64_t of)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < counts[kind]; i++)
		num += objects[kind][i].of == of;
	return num;
}

void *pick(enum kind kind)
{
	struct object *object = object_any(kind);

	return or_null(object != NULL ? object->pointer : NULL);
}

void *pick_or_none(enum kind kind)
{
	struct object *object = chance(24) ? NULL : object_any(kind);

	return object != NULL ? object->pointer : NULL;
}

/* ---- the check of results ---- */

struct verdict verdict_take(void)
{
	struct verdict verdict = pending;

	pending = (struct verdict){0};
	return verdict;
}

void refuse_if(bool condition)
{
	pending.refuse |= condition;
}

void expect_if(bool condition)
{
	pending.expect |= condition;
}

static const struct documented *find(const char *function)
{
	size_t low = 0, high = num_documented; /* sorted by name */

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(function, documented[middle].function);

		if (order == 0)
			return &documented[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static bool is_documented(const struct documented *entry, doca_error_t code)
{
	for (size_t i = 0; entry->codes[i] != DOCA_SUCCESS; i++) {
		if (entry->codes[i] == code)
			return true;
	}
	return code == DOCA_SUCCESS;
}

static struct tally *tally_of(const char *function)
{
	const struct documented *entry = find(function);

	if (entry == NULL)
		abuse_fail("%s is in no header", function);
	return &tallies[entry - documented];
}

void count_call(const char *function)
{
	tally_of(function)->calls++;
	tally_of(function)->successes++;
}

doca_error_t judge(const char *function, struct verdict verdict, doca_error_t result)
{
	const struct documented *entry = find(function);
	struct tally *tally = tally_of(function);

	tally->calls++;
	tally->successes += result == DOCA_SUCCESS;
	if (!is_documented(entry, result))
		abuse_complain(tally, "%s returned %s, which %s does not document", function, doca_error_get_name(result),
			       entry->header);
	if (verdict.null && result != DOCA_ERROR_INVALID_VALUE)
		abuse_complain(tally, "%s returned %s for a NULL argument", function, doca_error_get_name(result));
	if (verdict.refuse && (result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS))
		abuse_complain(tally, "%s returned %s in a state that forbids it", function, doca_error_get_name(result));
	if (verdict.expect && !verdict.null && !verdict.refuse && result != DOCA_SUCCESS)
		abuse_complain(tally, "%s returned %s though nothing was wrong", function, doca_error_get_name(result));
	return result;
}
