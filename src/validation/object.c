/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the program's objects by address, kept only while the layer is on. */
#include "validation/object.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softfield/validation.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "validation/rules.h"
#include "validation/site.h"

#define BUCKETS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sf_object *buckets[BUCKETS] GUARDED_BY(lock);
static uint64_t num_created GUARDED_BY(lock);

/* The child does not own the parent's objects, so it forgets them. */
static SF_IN_CHILD void after_fork_child(void)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct sf_object *object = buckets[i]; object != NULL; object = object->next)
			object->is_given_up = true;
	}
}

SF_FORK_LOCK(SF_FORK_TABLE, &lock, after_fork_child);

static REQUIRES(lock) struct sf_object **place_of(const void *address)
{
	struct sf_object **at = &buckets[((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54];

	while (*at != NULL && (*at)->address != address)
		at = &(*at)->next;
	return at;
}

/* The object's entry, a new one if needed; NULL without memory. */
static REQUIRES(lock) struct sf_object *object_get(const void *address)
{
	struct sf_object **at = place_of(address);

	if (*at == NULL) {
		*at = calloc(1, sizeof(**at));
		if (*at != NULL)
			(*at)->address = address;
	}
	return *at;
}

void sf_object_register(const void *address, const char *type, sf_object_describe *describe)
{
	struct sf_site site = sf_site_find();

	pthread_mutex_lock(&lock);
	struct sf_object *object = object_get(address);
	if (object != NULL) {
		object->type = type;
		object->describe = describe;
		object->created_at = site.caller;
		object->thread = gettid();
		assert(object->address == address);
		object->number = ++num_created;
		object->is_given_up = false;
		object->name[0] = '\0'; /* clears the name of an earlier object at this address */
	}
	pthread_mutex_unlock(&lock);
}

void sf_object_forget(const void *address)
{
	pthread_mutex_lock(&lock);
	struct sf_object **at = place_of(address), *object = *at;
	if (object != NULL)
		*at = object->next;
	pthread_mutex_unlock(&lock);
	free(object);
}

static REQUIRES(lock) void chain_forget(struct sf_object **at, uintptr_t begin, size_t size)
{
	while (*at != NULL) {
		struct sf_object *object = *at;

		if ((uintptr_t)object->address - begin >= size) {
			at = &object->next;
			continue;
		}
		*at = object->next;
		free(object);
	}
}

void sf_objects_forget(uintptr_t memory, size_t size)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS; i++)
		chain_forget(&buckets[i], memory, size);
	pthread_mutex_unlock(&lock);
}

void sf_object_abandon(const void *address)
{
	pthread_mutex_lock(&lock);
	struct sf_object *object = *place_of(address);
	if (object != NULL)
		object->is_given_up = true;
	pthread_mutex_unlock(&lock);
}

/* ---- names ---- */

doca_error_t softfield_validation_set_name(const void *object, const char *name)
{
	if (object == NULL || name == NULL) {
		SF_LOG_ERR("%s is NULL: a name needs an object and a text", object == NULL ? "object" : "name");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_validation_is_on)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&lock);
	struct sf_object *named = object_get(object);
	if (named != NULL)
		snprintf(named->name, sizeof(named->name), "%s", name);
	pthread_mutex_unlock(&lock);
	return named != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static void text_make(const struct sf_object *known, const void *address, const char *type, char *text, size_t size)
{
	if (type == NULL && known != NULL)
		type = known->type;
	if (type == NULL)
		type = "object";
	if (address == NULL)
		snprintf(text, size, "%s", type);
	else if (known != NULL && known->name[0] != '\0')
		snprintf(text, size, "%s \"%s\" (%p)", type, known->name, address);
	else
		snprintf(text, size, "%s (%p)", type, address);
}

const char *sf_object_text(const void *address, const char *type, char *text, size_t size)
{
	pthread_mutex_lock(&lock);
	text_make(address != NULL ? *place_of(address) : NULL, address, type, text, size);
	pthread_mutex_unlock(&lock);
	return text;
}

bool sf_object_get(const void *address, struct sf_object *copy)
{
	pthread_mutex_lock(&lock);
	const struct sf_object *object = *place_of(address);
	if (object != NULL)
		*copy = *object;
	pthread_mutex_unlock(&lock);
	return object != NULL;
}

/* ---- leaks ---- */

static int compare_age(const void *a, const void *b)
{
	const struct sf_object *const *left = a, *const *right = b;

	return ((*left)->number > (*right)->number) - ((*left)->number < (*right)->number);
}

size_t sf_object_leaks(struct sf_object *leaks[], size_t max)
{
	size_t num = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct sf_object *object = buckets[i]; object != NULL; object = object->next) {
			if (object->type == NULL || object->is_given_up)
				continue;
			if (num < max)
				leaks[num] = object;
			num++;
		}
	}
	pthread_mutex_unlock(&lock);
	qsort(leaks, num < max ? num : max, sizeof(leaks[0]), compare_age);
	return num;
}
