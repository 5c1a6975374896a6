/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_log.h
 * Log records: today's, with the level of DOCA_LOG() as a word (DOCA_LOG(INFO, "...")), and the old name of buffer backends.
 */
#ifndef DOCA_2_5_LOG_H_
#define DOCA_2_5_LOG_H_

#include "../doca_log.h"
#include "doca_2_5.h"

#undef DOCA_LOG
#undef DOCA_LOG_CRIT
#undef DOCA_LOG_ERR
#undef DOCA_LOG_WARN
#undef DOCA_LOG_INFO
#undef DOCA_LOG_DBG
#undef DOCA_LOG_TRC

#ifdef __cplusplus
extern "C" {
#endif

/** Logs a record, printf style, at CRIT, ERROR, WARNING, INFO, DEBUG or TRACE. The file needs DOCA_LOG_REGISTER above. */
#define DOCA_LOG(level, format, ...)                                                                                             \
	doca_log(DOCA_LOG_LEVEL_##level, log_source, __FILE__, __LINE__, __func__, format, ##__VA_ARGS__)
/** Logs that the program cannot continue. */
#define DOCA_LOG_CRIT(format, ...) DOCA_LOG(CRIT, format, ##__VA_ARGS__)
/** Logs that something failed. */
#define DOCA_LOG_ERR(format, ...) DOCA_LOG(ERROR, format, ##__VA_ARGS__)
/** Logs that something may go wrong, or failed and was handled. */
#define DOCA_LOG_WARN(format, ...) DOCA_LOG(WARNING, format, ##__VA_ARGS__)
/** Logs what the program does; shown by default. */
#define DOCA_LOG_INFO(format, ...) DOCA_LOG(INFO, format, ##__VA_ARGS__)
/** Logs details for debugging; not shown by default. */
#define DOCA_LOG_DBG(format, ...) DOCA_LOG(DEBUG, format, ##__VA_ARGS__)
/** Logs the finest detail. Compiled only where DOCA_LOGGING_ALLOW_TRACE is defined; nothing is evaluated otherwise. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(format, ...) DOCA_LOG(TRACE, format, ##__VA_ARGS__)
#else
#define DOCA_LOG_TRC(format, ...)                                                                                                \
	do {                                                                                                                     \
	} while (0)
#endif

/** Today doca_log_backend_create_with_buf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buffer(char *buffer, size_t capacity, log_flush_callback handler,
						 struct doca_log_backend **backend)
	DOCA_2_5_SYMBOL(doca_log_backend_create_with_buf);

/** Today doca_log_backend_create_with_buf_sdk(). */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buffer_sdk(char *buffer, size_t capacity, log_flush_callback handler,
						     struct doca_log_backend **backend)
	DOCA_2_5_SYMBOL(doca_log_backend_create_with_buf_sdk);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_LOG_H_ */
