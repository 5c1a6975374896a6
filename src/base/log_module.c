/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log_module.h"

#include <string.h>

/* The test environment-doc compares them with the folders. */
const char *const sf_log_module_names[] = {
	"aes_gcm",  "argp", "base",	  "comch",  "comm",	"comm_channel",	  "compress",
	"control",  "core", "cuda",	  "dma",    "dpa",	"erasure_coding", "fabric",
	"faulty",   "gpu",  "graph",	  "legacy", "legacy15", "legacy25",	  "loop",
	"mem",	    "rdma", "sha",	  "shm",    "soft",	"sync_event",	  "tcp",
	"topology", "urom", "validation", "verbs",  NULL,
};

const char *sf_log_module_find(const char *name, size_t len)
{
	for (size_t i = 0; sf_log_module_names[i] != NULL; i++) {
		if (strlen(sf_log_module_names[i]) == len && strncmp(sf_log_module_names[i], name, len) == 0)
			return sf_log_module_names[i];
	}
	return NULL;
}

/* What follows the last folder src of the path, which may be absolute. NULL if there is none. */
static const char *path_in_src(const char *file)
{
	const char *found = NULL;

	for (const char *at = file; (at = strstr(at, "src/")) != NULL; at++) {
		if (at == file || at[-1] == '/')
			found = at + strlen("src/");
	}
	return found;
}

const char *sf_log_module_of(const char *file, size_t *len)
{
	const char *folder = path_in_src(file), *slash;

	*len = 0;
	if (folder == NULL)
		return "";
	while ((slash = strchr(folder + *len + (*len != 0), '/')) != NULL) {
		folder += *len + (*len != 0);
		*len = (size_t)(slash - folder);
	}
	return folder;
}

bool sf_log_modules_set(struct sf_log_modules *modules, const char *name, uint32_t level)
{
	size_t i = 0;

	while (i < modules->num && modules->levels[i].name != name)
		i++;
	if (i == SF_LOG_MODULES_MAX)
		return false;
	modules->levels[i].name = name;
	modules->levels[i].level = level;
	if (i == modules->num)
		modules->num++;
	return true;
}

static uint32_t level_of_folder(const struct sf_log_modules *modules, const char *folder, size_t len, uint32_t others)
{
	for (size_t i = 0; i < modules->num; i++) {
		if (strlen(modules->levels[i].name) == len && strncmp(modules->levels[i].name, folder, len) == 0)
			return modules->levels[i].level;
	}
	return others;
}

uint32_t sf_log_modules_level(const struct sf_log_modules *modules, const char *file, uint32_t others)
{
	const char *folder = modules->num != 0 ? path_in_src(file) : NULL, *slash;

	for (; folder != NULL && (slash = strchr(folder, '/')) != NULL; folder = slash + 1)
		others = level_of_folder(modules, folder, (size_t)(slash - folder), others);
	return others;
}

uint32_t sf_log_modules_limit(const struct sf_log_modules *modules, uint32_t others)
{
	for (size_t i = 0; i < modules->num; i++) {
		if (modules->levels[i].level > others)
			others = modules->levels[i].level;
	}
	return others;
}
