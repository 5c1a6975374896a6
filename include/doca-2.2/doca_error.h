/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_error.h
 * Error codes: today's, with the two functions that were renamed since.
 */
#ifndef DOCA_2_2_ERROR_H_
#define DOCA_2_2_ERROR_H_

#include "../doca_error.h"
#include "doca_2_2.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The enumerator's name ("DOCA_ERROR_AGAIN"); never NULL. Today doca_error_get_name(). */
DOCA_EXPERIMENTAL
const char *doca_get_error_name(doca_error_t error) DOCA_2_2_SYMBOL(doca_error_get_name);

/** A short sentence about the error; never NULL. Today doca_error_get_descr(). */
DOCA_EXPERIMENTAL
const char *doca_get_error_string(doca_error_t error) DOCA_2_2_SYMBOL(doca_error_get_descr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_2_ERROR_H_ */
