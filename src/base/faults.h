/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults on purpose, from SOFTFIELD_FAULTS (docs/faults.md). An object asks at each point whether its turn has come:
 *
 *     ctx->faults = sf_faults_attach(SF_FAULT_CTX, "dma host0/0000:d8:00.0", NULL);       NULL: no rule is about it
 *     if (__builtin_expect(ctx->faults != NULL, 0) && sf_fault(ctx->faults, SF_FAULT_SUBMIT_AGAIN) != NULL)
 *             return DOCA_ERROR_AGAIN;
 *
 * The answer depends on the seed, the rule, the object's number among those of its kind, and how often the object came to the
 * point: not on time, nor on what other objects do. Without the variable nothing is attached.
 */
#ifndef SF_BASE_FAULTS_H
#define SF_BASE_FAULTS_H

#include <doca_error.h>

#include "base/faults_parse.h"

/* What one object has come to. Any thread may ask; two threads that share an object share its counts. */
struct sf_faults;

/* Reads the variable, once. BAD_CONFIG, logged once: it makes no sense, or its file cannot be read. */
SF_API doca_error_t sf_faults_check(void);

/* Whether a rule is about objects of this kind. */
SF_API bool sf_faults_concern(enum sf_fault_kind kind);

/* NULL: no rule is about the object, or no memory. name and peer are copied; peer may be NULL. */
SF_API struct sf_faults *sf_faults_attach(enum sf_fault_kind kind, const char *name, const char *peer);

/* NULL is fine. */
SF_API void sf_faults_detach(struct sf_faults *faults);

/* The object is at this point: the rule by which it fails now, or NULL. faults may be NULL. Logged when it does. */
SF_API const struct sf_fault_rule *sf_fault(struct sf_faults *faults, enum sf_fault_point point);

/* It was not at that point after all: what it came for did not happen. Only where no rule has fired. */
SF_API void sf_fault_forget(struct sf_faults *faults, enum sf_fault_point point);

/* A number from 1 to max for what the rule leaves open, from the same seed. */
SF_API uint32_t sf_fault_number(struct sf_faults *faults, const struct sf_fault_rule *rule, uint32_t max);

#endif
