/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The validation layer (SOFTFIELD_VALIDATE, docs/validation.md): rules for programs, their objects, and reports of broken rules.
 *
 *	SF_BROKEN(MMAP_003, mmap, "doca_mmap_export_pci", "it is not started");
 *
 * A library reports where it rejects a call anyway, which costs nothing while the layer is off. Checks for mistakes that no call
 * rejects run only while the layer is on, behind sf_validation_is_on. Data paths have no such branch: they use other functions
 * (core/task_checks.h).
 */
#ifndef SF_VALIDATION_VALIDATION_H
#define SF_VALIDATION_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"

enum sf_rule {
#define SF_RULE(noun, number, object, rule, why, fix) SF_RULE_##noun##_##number,
#include "validation/validation_rules.def"
#undef SF_RULE
	SF_RULES
};

/* Set when the library is loaded, before any call, and never changed. No rule is checked while it is false. */
SF_API extern bool sf_validation_is_on;

/* Reports a broken rule, if it is chosen. object: its address, or NULL. type: of an object that is not registered; NULL: as
 * registered, or the rule's word. call: the public function; NULL: the one that the program is in. Any thread. The caller must
 * hold no lock that a log backend may need. */
SF_API void sf_rule_broken(enum sf_rule rule, const void *object, const char *type, const char *call, const char *format, ...)
	__attribute__((cold, format(printf, 5, 6)));

/* The same with another fix than the rule's. */
SF_API void sf_rule_broken_so(enum sf_rule rule, const void *object, const char *type, const char *call, const char *fix,
			      const char *format, ...) __attribute__((cold, format(printf, 6, 7)));

#define SF_BROKEN_TYPE(rule, object, type, call, ...)                                                                            \
	do {                                                                                                                     \
		if (__builtin_expect(sf_validation_is_on, 0))                                                                    \
			sf_rule_broken(SF_RULE_##rule, object, type, call, __VA_ARGS__);                                         \
	} while (0)

#define SF_BROKEN(rule, object, call, ...) SF_BROKEN_TYPE(rule, object, NULL, call, __VA_ARGS__)

/* ---- objects ---- */

/* Describes an object's state in a leak report: "RUNNING, 2 tasks in flight". Called at the end of the process, without locks. */
typedef void sf_object_describe(const void *object, char *text, size_t size);

SF_API void sf_object_register(const void *object, const char *type, sf_object_describe *describe);
SF_API void sf_object_forget(const void *object);

/* Registers an object that the program created. type is a string constant. describe may be NULL. */
static inline void sf_object_add(const void *object, const char *type, sf_object_describe *describe)
{
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_object_register(object, type, describe);
}

/* Unregisters the object. Ignores an unknown one. */
static inline void sf_object_remove(const void *object)
{
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_object_forget(object);
}

/* The program tried to destroy the object and failed: it does not count as a leak. */
SF_API void sf_object_abandon(const void *object);

/* Forgets names of unregistered objects in memory that is reused. */
SF_API void sf_objects_forget(uintptr_t memory, size_t size);

/* Formats the object for reports: mmap "pool" (0x7f..). type as for sf_rule_broken. Returns text. */
SF_API const char *sf_object_text(const void *object, const char *type, char *text, size_t size);

#define SF_OBJECT_TEXT_MAX 128

#endif
