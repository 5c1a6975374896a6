/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A module is a folder of src, such as rdma, or tcp in fabric. SOFTFIELD_LOG may give a module its own level. The innermost
 * folder of a file counts.
 */
#ifndef SF_BASE_LOG_MODULE_H
#define SF_BASE_LOG_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_LOG_MODULES_MAX 16

struct sf_log_modules {
	struct {
		const char *name;
		uint32_t level;
	} levels[SF_LOG_MODULES_MAX];
	size_t num;
};

/* The names of all modules, ending with NULL. */
extern const char *const sf_log_module_names[];

/* The name as it is in sf_log_module_names, or NULL. */
const char *sf_log_module_find(const char *name, size_t len);

/* The innermost folder of a source file; len is 0 for a file that is not in src. */
const char *sf_log_module_of(const char *file, size_t *len);

/* Replaces the module's level if it has one. Returns false if there are SF_LOG_MODULES_MAX already. */
bool sf_log_modules_set(struct sf_log_modules *modules, const char *name, uint32_t level);

/* The level of a source file, which is others unless one of its folders has a level. */
uint32_t sf_log_modules_level(const struct sf_log_modules *modules, const char *file, uint32_t others);

/* The least severe of all levels. */
uint32_t sf_log_modules_limit(const struct sf_log_modules *modules, uint32_t others);

#endif
