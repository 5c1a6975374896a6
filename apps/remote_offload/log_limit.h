/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rate limit for log lines that a peer can trigger: a client, or the other program.
 *
 *	LIMITED_LOG_WARN("client %s closed: %s", name, why);
 *
 * Each call site logs at most LOG_LIMIT_LINES lines in LOG_LIMIT_SECONDS and counts the rest. The count follows as a line of the
 * same site and level, "N more of this kind suppressed in the last S s": before the site's next line, or by log_limits_report.
 * The arguments of a suppressed line are not evaluated. The file needs DOCA_LOG_REGISTER above.
 */
#ifndef REMOTE_OFFLOAD_LOG_LIMIT_H
#define REMOTE_OFFLOAD_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_log.h>

#define LOG_LIMIT_LINES 10
#define LOG_LIMIT_SECONDS 10

/* The state of one call site. It is never freed. */
struct log_limit {
	const char *file, *func;
	int line;
	uint32_t level;
	int source;
	bool listed;
	uint64_t began_ms; /* the window of LOG_LIMIT_SECONDS, */
	uint32_t lines;	   /* the lines logged in it, */
	uint32_t suppressed;
	struct log_limit *next;
};

/* Returns whether the site may log a line now. May log how many it suppressed. Any thread may call it. */
bool log_limit_line(struct log_limit *limit, int source);

/* Logs the counts of the sites whose LOG_LIMIT_SECONDS are over, or of all. */
void log_limits_report(bool all);

#define LIMITED_LOG(its_level, ...)                                                                                              \
	do {                                                                                                                     \
		static struct log_limit log_limit = {                                                                            \
			.file = __FILE__, .func = __func__, .line = __LINE__, .level = (its_level)};                             \
		if (log_limit_line(&log_limit, log_source))                                                                      \
			DOCA_LOG(its_level, __VA_ARGS__);                                                                        \
	} while (0)

#define LIMITED_LOG_ERR(...) LIMITED_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define LIMITED_LOG_WARN(...) LIMITED_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define LIMITED_LOG_INFO(...) LIMITED_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)

#endif
