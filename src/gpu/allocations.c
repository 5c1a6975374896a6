/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "gpu/allocations.h"

void allocations_init(struct allocations *list)
{
	pthread_mutex_init(&list->lock, NULL);
	list->first = NULL;
}

void allocations_fini(struct allocations *list)
{
	struct allocation *a;

	while ((a = allocations_take_first(list)) != NULL)
		free(a);
	pthread_mutex_destroy(&list->lock);
}

bool allocations_add(struct allocations *list, void *gpu_addr, void *base, size_t size, enum doca_gpu_mem_type type)
{
	struct allocation *a = malloc(sizeof(*a));

	if (a == NULL)
		return false;
	*a = (struct allocation){.gpu_addr = gpu_addr, .base = base, .size = size, .type = type};
	pthread_mutex_lock(&list->lock);
	a->next = list->first;
	list->first = a;
	pthread_mutex_unlock(&list->lock);
	return true;
}

struct allocation *allocations_take(struct allocations *list, const void *gpu_addr)
{
	struct allocation **at, *a;

	pthread_mutex_lock(&list->lock);
	for (at = &list->first; *at != NULL && (*at)->gpu_addr != gpu_addr; at = &(*at)->next)
		;
	a = *at;
	if (a != NULL)
		*at = a->next;
	pthread_mutex_unlock(&list->lock);
	return a;
}

struct allocation *allocations_take_first(struct allocations *list)
{
	struct allocation *a;

	pthread_mutex_lock(&list->lock);
	a = list->first;
	if (a != NULL)
		list->first = a->next;
	pthread_mutex_unlock(&list->lock);
	return a;
}

bool allocations_find(struct allocations *list, const void *addr, size_t len, struct allocation *found)
{
	const uint8_t *at = addr;
	bool hit = false;

	pthread_mutex_lock(&list->lock);
	for (const struct allocation *a = list->first; a != NULL && !hit; a = a->next) {
		hit = at >= a->gpu_addr && (size_t)(at - a->gpu_addr) < a->size && len <= a->size - (size_t)(at - a->gpu_addr);
		if (hit)
			*found = *a;
	}
	pthread_mutex_unlock(&list->lock);
	return hit;
}
