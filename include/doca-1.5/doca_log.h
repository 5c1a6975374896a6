/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_log.h
 * Log records of a program: as in 2.2, whose header describes the macros, with the default backend of 1.5.
 *
 *     DOCA_LOG_REGISTER(MY_APP::MAIN);           // once per source file, at file scope
 *     ...
 *     DOCA_LOG_INFO("listening on %s", name);    // on stderr, or the stream of doca_log_stream_redirect
 *
 * The backend exists from the first DOCA_LOG_REGISTER on, before main. The libraries' own warnings and errors go there too.
 */
#ifndef DOCA_1_5_LOG_H_
#define DOCA_1_5_LOG_H_

/* Nothing is shown in 2.2 until the program creates a backend. */
#define doca_log_source_register doca_log_source_register_of_2_2
#include "../doca-2.2/doca_log.h"
#undef doca_log_source_register
#include "doca_1_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gives a source of records a number, and creates the default backend if there is none. DOCA_LOG_REGISTER does it for a file,
 * before main.
 * @param source_name what lines of the log show; copied
 * @param source set to the number
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_FULL too many are registered
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_source_register(const char *source_name, int *source) DOCA_1_5_SYMBOL(doca_1_5_log_source_register);

/**
 * Moves the default backend to another stream. The stream must live as long as records are logged.
 * @param stream the destination of later records; stderr at first
 * @retval DOCA_ERROR_INVALID_VALUE NULL
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_log_stream_redirect(FILE *stream) DOCA_1_5_SYMBOL(doca_1_5_log_stream_redirect);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_1_5_LOG_H_ */
