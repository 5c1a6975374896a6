/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault injection, from SOFTFIELD_FAULTS (docs/faults.md). An object asks at each fault point whether it must fail now:
 *
 *     ctx->faults = sf_faults_attach(SF_FAULT_CTX, "dma host0/0000:d8:00.0", NULL);       NULL: no rule matches it
 *     if (__builtin_expect(ctx->faults != NULL, 0) && sf_fault(ctx->faults, SF_FAULT_SUBMIT_AGAIN) != NULL)
 *             return DOCA_ERROR_AGAIN;
 *
 * The answer depends on the seed, the rule, the object's index among its kind, and how often the object reached the point. It
 * does not depend on time, or on other objects. Without the variable nothing is attached.
 */
#ifndef SF_BASE_FAULTS_H
#define SF_BASE_FAULTS_H

#include <doca_error.h>

#include "base/faults_parse.h"

/* The counts of one object. Any thread may ask; threads that use one object share its counts. */
struct sf_faults;

/* Reads the variable once. BAD_CONFIG, logged once: it cannot be parsed, or its file cannot be read. */
SF_API doca_error_t sf_faults_check(void);

/* Returns true if a rule matches objects of this kind. */
SF_API bool sf_faults_concern(enum sf_fault_kind kind);

/* NULL: no rule matches the object, or out of memory. name and peer are copied; peer may be NULL. */
SF_API struct sf_faults *sf_faults_attach(enum sf_fault_kind kind, const char *name, const char *peer);

/* faults may be NULL. */
SF_API void sf_faults_detach(struct sf_faults *faults);

/* The object reached this point. Returns the rule that makes it fail, logged, or NULL. faults may be NULL. */
SF_API const struct sf_fault_rule *sf_fault(struct sf_faults *faults, enum sf_fault_point point);

/* Takes back the last count of this point, because the operation did not happen. Only if no rule fired. */
SF_API void sf_fault_forget(struct sf_faults *faults, enum sf_fault_point point);

/* A number from 1 to max for a parameter that the rule does not set, from the same seed. */
SF_API uint32_t sf_fault_number(struct sf_faults *faults, const struct sf_fault_rule *rule, uint32_t max);

#endif
