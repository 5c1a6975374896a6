/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/last_error.h
 * Why a call failed: the content of the libraries' log line as a record, for a program that has no log backend or shows errors
 * itself.
 *
 *     struct softfield_error error;
 *
 *     result = doca_mmap_start(mmap);
 *     if (result != DOCA_SUCCESS && softfield_last_error(&error) == DOCA_SUCCESS)
 *             fprintf(stderr, "%s: %s; %s\n", doca_error_get_name(result), error.cause, error.fix);
 *
 * Each thread has its own record. Every error line of the libraries replaces it, whether a log backend shows the line or not. A
 * call that succeeds, or returns a code without an error line, such as DOCA_ERROR_AGAIN, does not change it: compare number
 * before and after, or clear the record first. A task that fails later is reported by its callback, and one of Softfield's
 * threads may have logged the line: set SOFTFIELD_LOG=error to see it.
 *
 * This is not part of DOCA: a program that also compiles with NVIDIA's headers includes it only if it exists (__has_include).
 */
#ifndef SOFTFIELD_LAST_ERROR_H_
#define SOFTFIELD_LAST_ERROR_H_

#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An explained error. An unknown text is empty; a text that is too long is truncated. */
struct softfield_error {
	uint64_t number;   /**< of this thread's errors, from 1 on */
	char object[64];   /**< what the call was about: "mmap", "consumer 3" */
	char call[64];	   /**< the public function, if the line is of one */
	char argument[64]; /**< the argument that is wrong */
	char rule[160];	   /**< the rule that applies */
	char cause[256];   /**< what is wrong, with the values */
	char fix[256];	   /**< what to do */
	char file[64];	   /**< the source file that logged it */
	int line;	   /**< in that file */
	char function[64]; /**< in that file */
	char message[512]; /**< the line as it was logged */
};

/**
 * The last error line of the calling thread, explained. Logs nothing and does not change the record.
 * @retval DOCA_ERROR_INVALID_VALUE error is NULL
 * @retval DOCA_ERROR_NOT_FOUND there was no error in this thread, or the record was cleared since
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_last_error(struct softfield_error *error);

/** Clears the calling thread's last error. The numbers continue. */
DOCA_EXPERIMENTAL
void softfield_last_error_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* SOFTFIELD_LAST_ERROR_H_ */
