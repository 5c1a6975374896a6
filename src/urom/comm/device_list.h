/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of network devices in one string, separated by commas, as in UCX's variables and in service files. */
#ifndef UROM_COMM_DEVICE_LIST_H
#define UROM_COMM_DEVICE_LIST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the name at *rest and advances to the next; NULL after the last. */
static inline const char *device_list_next(const char **rest, size_t *len)
{
	const char *name = *rest;

	if (*name == '\0')
		return NULL;
	*len = strcspn(name, ",");
	*rest = name + *len + (name[*len] == ',');
	return name;
}

static inline bool device_list_has(const char *list, const char *name, size_t len)
{
	size_t its_len;

	for (const char *its; (its = device_list_next(&list, &its_len)) != NULL;) {
		if (its_len == len && memcmp(its, name, len) == 0)
			return true;
	}
	return false;
}

/* Adds a name unless the list has it. Returns false if there is no room for it. */
static inline bool device_list_add(char *list, size_t room, const char *name, size_t len)
{
	size_t used = strlen(list);

	if (device_list_has(list, name, len))
		return true;
	if (used + 1 + len >= room)
		return false;
	snprintf(list + used, room - used, "%s%.*s", used == 0 ? "" : ",", (int)len, name);
	return true;
}

#endif
