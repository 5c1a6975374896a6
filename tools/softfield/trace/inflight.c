/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/inflight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Returns the index of the first task after the address. */
static size_t place_behind(const struct inflight *list, uint64_t address)
{
	size_t low = 0, high = list->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct inflight_task *inflight_find(const struct inflight *list, uint64_t address)
{
	size_t behind = place_behind(list, address);
	struct inflight_task *task = behind > 0 ? &list->all[behind - 1] : NULL;

	return task != NULL && address - task->address < task->size ? task : NULL;
}

struct inflight_task *inflight_at(const struct inflight *list, uint64_t address)
{
	size_t behind = place_behind(list, address);

	return behind > 0 && list->all[behind - 1].address == address ? &list->all[behind - 1] : NULL;
}

struct inflight_task *inflight_add(struct inflight *list, uint64_t address, uint64_t size)
{
	struct inflight_task *task = inflight_at(list, address);
	size_t at;

	if (task == NULL && list->num == list->room) {
		size_t room = list->room > 0 ? 2 * list->room : 64;
		struct inflight_task *more = realloc(list->all, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		list->all = more;
		list->room = room;
	}
	if (task == NULL) {
		at = place_behind(list, address);
		memmove(&list->all[at + 1], &list->all[at], (list->num - at) * sizeof(*list->all));
		list->num++;
		task = &list->all[at];
	}
	*task = (struct inflight_task){.address = address, .size = size};
	return task;
}

void inflight_remove(struct inflight *list, struct inflight_task *task)
{
	size_t at = (size_t)(task - list->all);

	assert(list->num > 0);
	list->num--;
	memmove(task, task + 1, (list->num - at) * sizeof(*task));
}

void inflight_fini(struct inflight *list)
{
	free(list->all);
	*list = (struct inflight){.all = NULL};
}
