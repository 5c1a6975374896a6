/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The validation layer (SOFTFIELD_VALIDATE, docs/validation.md): rules that programs have to keep to, the objects that they have,
 * and reports of what they break.
 *
 *	SF_BROKEN(MMAP_003, mmap, "doca_mmap_export_pci", "it is not started");
 *
 * A library says so where it refuses a call anyway, and there it costs nothing while the layer is off. What no call refuses is
 * looked for only while the layer is on, behind sf_validation_is_on. Data paths have no such branch: they get other functions
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

/* Set when the library is loaded, before any call, and never changed: no rule is looked at while it is false. */
SF_API extern bool sf_validation_is_on;

/* One report, if the rule is chosen. object: its address, or NULL. type: what it is, for what is not registered; NULL: as it was
 * registered, or the rule's word. call: the public function; NULL: the one that the program is in. Any thread; no lock of the
 * caller's may be needed by a log backend. */
SF_API void sf_rule_broken(enum sf_rule rule, const void *object, const char *type, const char *call, const char *format, ...)
	__attribute__((cold, format(printf, 5, 6)));

/* The same with a fix of its own, in place of the rule's. */
SF_API void sf_rule_broken_so(enum sf_rule rule, const void *object, const char *type, const char *call, const char *fix,
			      const char *format, ...) __attribute__((cold, format(printf, 6, 7)));

#define SF_BROKEN_TYPE(rule, object, type, call, ...)                                                                            \
	do {                                                                                                                     \
		if (__builtin_expect(sf_validation_is_on, 0))                                                                    \
			sf_rule_broken(SF_RULE_##rule, object, type, call, __VA_ARGS__);                                         \
	} while (0)

#define SF_BROKEN(rule, object, call, ...) SF_BROKEN_TYPE(rule, object, NULL, call, __VA_ARGS__)

/* ---- objects ---- */

/* What an object is about, for its leak: "RUNNING, 2 tasks in flight". At the end of the process, without any lock. */
typedef void sf_object_describe(const void *object, char *text, size_t size);

SF_API void sf_object_register(const void *object, const char *type, sf_object_describe *describe);
SF_API void sf_object_forget(const void *object);

/* The object was created by the program, of this type; type is a constant. describe may be NULL. */
static inline void sf_object_add(const void *object, const char *type, sf_object_describe *describe)
{
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_object_register(object, type, describe);
}

/* It goes. An unknown one is none. */
static inline void sf_object_remove(const void *object)
{
	if (__builtin_expect(sf_validation_is_on, 0))
		sf_object_forget(object);
}

/* The program means it to go, and is only refused: it is no leak. */
SF_API void sf_object_abandon(const void *object);

/* The memory of objects that are not registered, but may have been named, begins anew. */
SF_API void sf_objects_forget(uintptr_t memory, size_t size);

/* mmap "pool" (0x7f..): as reports name it. type as for sf_rule_broken. Returns text. */
SF_API const char *sf_object_text(const void *object, const char *type, char *text, size_t size);

#define SF_OBJECT_TEXT_MAX 128

#endif
